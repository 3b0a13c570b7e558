"""A place that cannot be written is named as such, and nothing is computed for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from weir.files.destination import require_writable_file, require_writable_folder

OF_FILES = [
    ("export", "data", "exhibits", "--format", "csv", "--to"),
    ("export", "rdf", "exhibits", "--format", "turtle", "--to"),
    ("export", "duckdb"),
]
OF_FOLDERS = [
    ("artifacts", "--to"),
    ("site", "--to"),
    ("export", "patch", "exhibits", "--to"),
    ("export", "ldes", "exhibits", "--to"),
]


@pytest.mark.usefixtures("has_run")
@pytest.mark.parametrize("command", [*OF_FILES, *OF_FOLDERS], ids=" ".join)
@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("weir.toml/x", "weir.toml is no folder"),
        ("weir.toml/new/x", "weir.toml is no folder"),
        ("/proc/weir", " in /proc"),
    ],
)
def test_what_is_in_the_way_is_named(
    weir: Weir, command: tuple[str, ...], place: str, reason: str
) -> None:
    refused = weir(*command, place)
    assert refused.code == 2
    assert "it cannot be written: " in refused.err
    assert reason in refused.err
    assert f"where: {place}" in refused.err


@pytest.mark.usefixtures("has_run")
@pytest.mark.parametrize("command", OF_FILES, ids=" ".join)
def test_a_folder_in_the_place_of_a_file_is_named(weir: Weir, command: tuple[str, ...]) -> None:
    refused = weir(*command, "queries")
    assert (refused.code, "it cannot be written: it is a folder" in refused.err) == (2, True)


@pytest.mark.usefixtures("has_run")
@pytest.mark.parametrize("command", OF_FOLDERS, ids=" ".join)
def test_a_file_in_the_place_of_a_folder_is_named(weir: Weir, command: tuple[str, ...]) -> None:
    refused = weir(*command, "weir.toml")
    assert (refused.code, "weir.toml is no folder" in refused.err) == (2, True)


def test_a_place_is_looked_at_without_a_trace(tmp_path: Path) -> None:
    require_writable_file(tmp_path / "new/folder/x.csv")
    require_writable_folder(tmp_path / "new")
    assert [*tmp_path.iterdir()] == []
