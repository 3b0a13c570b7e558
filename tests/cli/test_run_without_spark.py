"""A run over few changes starts no JVM."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.compute import session
from jobs.settings import Settings
from tests.cli.conftest import Weir

FIRST, SECOND = Path("data/versions/001.ttl"), Path("data/versions/002.ttl")


@pytest.fixture(autouse=True)
def project(weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project as `weir init` writes it, where whoever asks for Spark fails."""

    def fail(settings: Settings, name: str) -> None:
        del settings, name
        raise AssertionError("Spark was asked for")

    monkeypatch.setattr(session, "_start", fail)
    monkeypatch.chdir(tmp_path)
    weir("init")


def test_new_versions_are_answered_checked_and_published_without_spark(weir: Weir) -> None:
    first = weir("run", "--output", "json")
    assert (first.code, first.json["errors"]) == (0, [])
    SECOND.write_text(FIRST.read_text().replace('vase"@en ; :room "1"', 'vase"@en ; :room "2"'))
    second = weir("run", "--output", "json")
    assert (second.code, second.json["errors"]) == (0, [])
    assert [(q["mode"], q["rows"]) for q in second.json["queries"]] == [("incremental", 2)]
    checked = weir("sql", "SELECT DISTINCT success FROM quality", "--output", "json").json
    assert checked == [{"success": True}]


def test_a_run_that_finds_nothing_new_needs_no_spark(weir: Weir) -> None:
    weir("run")
    again = weir("run", "--output", "json")
    assert again.code == 0
    assert [stage["stage"] for stage in again.json["stages"]] == ["ingest"]
