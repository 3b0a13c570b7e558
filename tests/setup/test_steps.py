"""A step runs once, and again only if its inputs changed or its result is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from setup import steps
from setup.__main__ import main
from setup.steps import Step, call, run_pending
from weir.spark_setup.commands import SetupError


class Counted:
    """A step that counts its runs; its result is a file."""

    def __init__(self, folder: Path) -> None:
        self.result = folder / "result"
        self.inputs = "1"
        self.runs = 0

    def step(self) -> Step:
        return Step("counted", "counting", lambda: self.inputs, self.result.exists, self._run)

    def _run(self) -> None:
        self.runs += 1
        self.result.touch()


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counted:
    monkeypatch.setattr(steps, "STAMPS", tmp_path / "stamps")
    return Counted(tmp_path)


def test_a_step_runs_once(counted: Counted) -> None:
    run_pending([counted.step()])
    run_pending([counted.step()])
    assert counted.runs == 1


def test_a_step_runs_again_when_its_inputs_change(counted: Counted) -> None:
    run_pending([counted.step()])
    counted.inputs = "2"
    run_pending([counted.step()])
    assert counted.runs == 2


def test_a_step_runs_again_when_its_result_is_missing(counted: Counted) -> None:
    run_pending([counted.step()])
    counted.result.unlink()
    run_pending([counted.step()])
    assert counted.runs == 2


def test_a_failed_step_is_not_done(counted: Counted) -> None:
    run_pending([counted.step()])
    counted.inputs = "2"
    failing = Step("counted", "failing", lambda: counted.inputs, counted.result.exists, _fail)
    with pytest.raises(SetupError):
        run_pending([failing])
    assert not counted.step().is_done()


def test_a_step_without_result_is_an_error(counted: Counted) -> None:
    idle = Step("idle", "idling", lambda: "", counted.result.exists, lambda: None)
    with pytest.raises(SetupError, match="its result is missing"):
        run_pending([idle])


def test_the_output_of_a_failed_command_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SetupError, match="Look again"):
        call(["sh", "-c", "echo the reason; exit 3"], "Look again.")
    assert "the reason" in capfd.readouterr().err


def test_an_unknown_step_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jvm"]) == 2
    assert (
        "the steps are venv, packages, project, java, jars, javascript, fuseki, ldes-client"
        in capsys.readouterr().err
    )


def _fail() -> None:
    raise SetupError("no network")
