"""A stage under spark-submit ends with a sentence and an exit code, not with a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.errors import EXIT_FAILED, EXIT_USAGE
from weir.jobs.compact_lake import main
from weir.program import arg_parser, run_stage
from weir.project import Project
from weir.stage import Progress


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no such configuration file"),
        ("lake = ", "not TOML"),
        ("lakes = 'lake'", "lakes: no such setting"),
        ("[limits]\nbulk_share = -1", "limits.bulk_share: "),
    ],
)
def test_a_wrong_configuration_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, message: str
) -> None:
    file = tmp_path / "weir.toml"
    if text is not None:
        file.write_text(text)
    assert main(["--config", str(file)]) == EXIT_USAGE
    printed = capsys.readouterr().err
    assert printed.startswith("error: ")
    assert str(file) in printed
    assert message in printed


def test_a_damaged_table_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.lake.delta.session.start", lambda *_, **__: None)
    monkeypatch.chdir(tmp_path)
    commit = tmp_path / "lake_data" / "quads" / "_delta_log" / f"{0:020}.json"
    commit.parent.mkdir(parents=True)
    commit.touch()

    def stage(project: Project, run_id: str, progress: Progress) -> object:
        del run_id, progress
        return project.open_lake().open("quads")

    assert run_stage(arg_parser("compact", ""), stage, []) == EXIT_FAILED
    assert "the commit file is empty" in capsys.readouterr().err
