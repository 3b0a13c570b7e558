"""Which of two commits of a job goes back behind the other."""

from __future__ import annotations

import pytest

from weir.lake.damage.step_back import steps_back
from weir.lake.delta.metadata import BEGUN_TO, DISCARDS, LOG_ID, WHOLE_STATE, Metadata


def maintained(watermark: int, mode: str = "incremental", **extra: object) -> Metadata:
    return Metadata("run", "maintain", watermark, mode=mode, extra=extra)


def of_log(log: str, begun_to: int, watermark: int) -> Metadata:
    """A commit of a log that has begun again when the newest epoch was `begun_to`."""
    extra = {LOG_ID: log, BEGUN_TO: begun_to}
    return Metadata("run", "maintain", watermark, mode="incremental", extra=extra)


def test_a_copy_of_an_earlier_commit_goes_back() -> None:
    assert steps_back(maintained(3), maintained(4))
    assert not steps_back(maintained(4), maintained(4))


@pytest.mark.parametrize("mode", [*WHOLE_STATE, DISCARDS])
def test_a_commit_that_begins_the_log_again_or_discards_rows_may_go_back(mode: str) -> None:
    assert not steps_back(maintained(3, mode), maintained(4))


def test_a_later_commit_of_a_log_that_has_begun_again_may_be_behind_the_log_before() -> None:
    """It is made in several commits: a run that died, and the next one, make one each."""
    before = of_log("old", 90, 100)
    assert not steps_back(of_log("new", 100, 30), before)


def test_a_copy_of_a_commit_of_the_log_before_goes_back() -> None:
    new = of_log("new", 100, 110)
    assert steps_back(of_log("old", 90, 95), new)


def test_a_copy_of_an_earlier_commit_of_the_same_log_goes_back() -> None:
    assert steps_back(of_log("one", 100, 30), of_log("one", 100, 60))


def test_jobs_and_remotes_are_apart() -> None:
    assert not steps_back(maintained(3), Metadata("run", "publish", 4))
    assert not steps_back(maintained(3, remote="a"), maintained(4, remote="b"))
