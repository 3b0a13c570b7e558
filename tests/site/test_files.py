"""The files of a site: what is new is written, the rest is left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weir.site.files import SiteFiles, called, value_of


def written(folder: Path, version: str = "1", **files: str) -> int:
    site = SiteFiles(folder, version)
    for name, content in files.items():
        site.put(f"{name}.html", content)
        site.keep(name, {"said": content})
    site.finish()
    return site.written


def test_only_files_with_a_new_content_are_written(tmp_path: Path) -> None:
    assert written(tmp_path, a="1", b="1") == 2
    assert written(tmp_path, a="1", b="2") == 1
    assert written(tmp_path, a="1", b="2") == 0


def test_a_file_that_was_deleted_is_written_again(tmp_path: Path) -> None:
    written(tmp_path, a="1")
    (tmp_path / "a.html").unlink()
    assert written(tmp_path, a="1") == 1


def test_a_file_of_nothing_is_removed_and_files_of_others_stay(tmp_path: Path) -> None:
    written(tmp_path, a="1", b="1")
    (tmp_path / "mine.html").touch()
    written(tmp_path, a="1")
    assert sorted(file.name for file in tmp_path.glob("*.html")) == ["a.html", "mine.html"]


def test_files_that_are_left_stay(tmp_path: Path) -> None:
    written(tmp_path, a="1", b="1")
    site = SiteFiles(tmp_path, "1")
    assert site.leave("a.html", "b.html")
    assert not site.leave("a.html", "c.html")
    site.finish()
    assert (tmp_path / "b.html").exists()


def test_what_was_kept_is_known_to_the_next_writing_of_the_same_version(tmp_path: Path) -> None:
    written(tmp_path, a="1")
    assert SiteFiles(tmp_path, "1").kept("a") == {"said": "1"}
    assert SiteFiles(tmp_path, "2").kept("a") == {}
    assert SiteFiles(tmp_path, "1").kept("b") == {}


@pytest.mark.parametrize("state", ["", "[1]", '{"files": {'])
def test_without_its_state_a_site_is_written_whole(tmp_path: Path, state: str) -> None:
    written(tmp_path, a="1")
    (tmp_path / "site.json").write_text(state)
    assert written(tmp_path, a="1") == 1


def test_a_value_is_read_back_from_the_script_that_gives_it() -> None:
    value = {"a": ["(x)", "</script>", ");", None, 1.5]}
    script = called("page", value)
    assert script.startswith("weir.page(")
    assert value_of(script) == value
    assert json.loads(script[len("weir.page(") : -3]) == value
