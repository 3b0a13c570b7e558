"""When a stage says what it is doing; the time is an argument."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from weir.text.step_lines import SILENCE_SECONDS, StepLines


@dataclass
class Log:
    """The lines of a stage, and the time."""

    now: float = 0.0
    lines: list[str] = field(default_factory=list)

    def of(self, *, every_step: bool = False) -> StepLines:
        return StepLines("ingest", self.lines.append, every_step=every_step, clock=lambda: self.now)


@pytest.fixture
def log() -> Log:
    return Log()


def test_the_first_line_is_written_before_the_work_begins(log: Log) -> None:
    log.of().announce()
    assert log.lines == ["ingest ..."]


def test_a_step_that_takes_long_is_named(log: Log) -> None:
    steps = log.of()
    steps.begin("reading a")
    log.now = SILENCE_SECONDS
    steps.remind()
    assert log.lines == ['ingest: still at work, 10 s after "reading a"']


def test_a_step_that_goes_on_is_named_again_after_the_same_time(log: Log) -> None:
    steps = log.of()
    steps.begin("reading a")
    for second in range(31):
        log.now = float(second)
        steps.remind()
    assert log.lines == [
        f'ingest: still at work, {seconds} s after "reading a"' for seconds in (10, 20, 30)
    ]


def test_a_step_that_is_over_soon_has_no_line(log: Log) -> None:
    steps = log.of()
    steps.begin("reading a")
    log.now = SILENCE_SECONDS - 1
    steps.remind()
    steps.begin("reading b")
    log.now = SILENCE_SECONDS
    steps.remind()
    assert log.lines == ['ingest: still at work, 1 s after "reading b"']


def test_a_log_of_every_step_has_a_line_when_it_begins(log: Log) -> None:
    log.of(every_step=True).begin("reading a")
    assert log.lines == ["ingest: reading a"]


def test_a_line_puts_off_the_reminder(log: Log) -> None:
    steps = log.of(every_step=True)
    log.now = SILENCE_SECONDS - 1
    steps.begin("reading a")
    log.now = SILENCE_SECONDS + 1
    steps.remind()
    assert log.lines == ["ingest: reading a"]


def test_a_stage_that_named_no_step_is_named_itself(log: Log) -> None:
    steps = log.of()
    log.now = 12.0
    steps.remind()
    assert log.lines == ["ingest: still at work, 12 s after its start"]
