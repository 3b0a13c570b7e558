"""A stage under spark-submit ends with a sentence and an exit code, not with a traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from weir.errors import EXIT_FAILED, EXIT_USAGE, BusyError, QualityError, WeirError
from weir.jobs.compact_lake import main
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.lake import Lake
from weir.lake.ledger import claims
from weir.program import arg_parser, run_stage
from weir.project import Project
from weir.stage import Progress, StageResult, claimed


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


@pytest.mark.parametrize(
    ("errors", "end"),
    [((), "done"), ((QualityError("2 rows, max_rows is 1", "", ""),), "failed with exit code 3")],
)
def test_a_log_ends_with_what_was_done_and_where_to_see_it(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    errors: tuple[WeirError, ...],
    end: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--run-id", "manual", "--page", "https://airflow.example/weir/index.html"]

    class Result(StageResult):
        summary = "2 published; 7 rows appended"

        @property
        def errors(self) -> tuple[WeirError, ...]:
            return errors

    run_stage(arg_parser("notify", ""), lambda *_: Result(), options, on_spark=False)
    lines = capsys.readouterr().out.splitlines()[-3:]
    assert re.fullmatch(rf"notify: {end} after \d+\.\d s, run manual", lines[0])
    assert lines[1:] == [f"  {Result.summary}", f"  {options[-1]}"]


def test_an_error_of_a_run_whose_claim_was_taken_over_is_that_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A paused run reads some tables as they were before the other run, and some as after it.
    monkeypatch.setattr(claims, "_is_active", lambda *_: False)
    error = DamagedTable("it is older than the others", str(tmp_path), "Restore all tables.")

    def paused() -> None:
        with claimed(Lake(str(tmp_path)), "ingest", "paused", 60):
            claims.claim(Lake(str(tmp_path)), "ingest", "other", lease_seconds=60)
            raise error

    with pytest.raises(BusyError, match="took over from this one, number 1"):
        paused()
