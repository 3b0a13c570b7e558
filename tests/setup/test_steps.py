"""A step is taken once, and again only when there is a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from setup import steps
from setup.steps import SetupError, Step, call, take


class Counted:
    """A step that counts how often it was taken; its result is a file."""

    def __init__(self, folder: Path) -> None:
        self.result = folder / "result"
        self.inputs = "1"
        self.taken = 0

    def step(self) -> Step:
        return Step("counted", "counting", lambda: self.inputs, self.result.exists, self._run)

    def _run(self) -> None:
        self.taken += 1
        self.result.touch()


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counted:
    monkeypatch.setattr(steps, "STAMPS", tmp_path / "stamps")
    return Counted(tmp_path)


def test_a_step_is_taken_once(counted: Counted) -> None:
    take([counted.step()])
    take([counted.step()])
    assert counted.taken == 1


def test_a_step_is_taken_again_when_its_inputs_change(counted: Counted) -> None:
    take([counted.step()])
    counted.inputs = "2"
    take([counted.step()])
    assert counted.taken == 2


def test_a_step_is_taken_again_when_its_result_is_gone(counted: Counted) -> None:
    take([counted.step()])
    counted.result.unlink()
    take([counted.step()])
    assert counted.taken == 2


def test_a_step_that_failed_is_not_done(counted: Counted) -> None:
    take([counted.step()])
    counted.inputs = "2"
    failing = Step("counted", "failing", lambda: counted.inputs, counted.result.exists, _fail)
    with pytest.raises(SetupError):
        take([failing])
    assert not counted.step().is_done()


def test_a_step_without_result_is_an_error(counted: Counted) -> None:
    idle = Step("idle", "idling", lambda: "", counted.result.exists, lambda: None)
    with pytest.raises(SetupError, match="its result is not there"):
        take([idle])


def test_what_a_failed_command_said_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SetupError, match="Look again"):
        call(["sh", "-c", "echo the reason; exit 3"], "Look again.")
    assert "the reason" in capfd.readouterr().err


def _fail() -> None:
    raise SetupError("no network")
