"""Progress where nobody watches a terminal."""

from __future__ import annotations

import time

import pytest

from tests.support.projects.command_line import Weir
from weir.cli.progress import progress, still_at_work
from weir.program import progress_log


def test_a_stage_has_a_line_before_its_work_begins(capfd: pytest.CaptureFixture[str]) -> None:
    with progress("ingest"):
        assert capfd.readouterr().err == "ingest ...\n"


def test_a_stage_of_a_resident_process_has_no_first_line(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with progress("ingest", announce=False) as report:
        report("reading a")
    assert capfd.readouterr().err == ""


def test_a_stage_under_airflow_has_a_line_before_its_work_begins(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with progress_log("ingest"):
        assert capfd.readouterr().out == "ingest ...\n"


def test_a_command_that_is_over_soon_has_no_line(capfd: pytest.CaptureFixture[str]) -> None:
    with still_at_work("doctor"):
        pass
    assert capfd.readouterr().err == ""


def test_a_step_that_takes_long_is_named_by_itself(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.text.step_lines.SILENCE_SECONDS", 0.0)
    monkeypatch.setattr("weir.text.step_lines._LOOK_SECONDS", 0.001)
    with progress("ingest", announce=False) as report:
        report("reading a")
        printed = ""
        while 'after "reading a"' not in printed:
            time.sleep(0.001)
            printed += capfd.readouterr().err


@pytest.mark.usefixtures("museum")
def test_progress_does_not_mix_with_json(weir: Weir) -> None:
    ran = weir("run", "--output", "json")
    assert [stage["stage"] for stage in ran.json["stages"]] == [
        line.removesuffix(" ...") for line in ran.progress if line.endswith(" ...")
    ]
