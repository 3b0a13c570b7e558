"""The rounds of a resident process: each is a run, or a check that finds nothing to do."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from weir.errors import BusyError, WeirError
from weir.expected_errors import as_user_error
from weir.lake.ledger.claims import has_open_claim
from weir.pending import Pending
from weir.pipeline import Reporting, RunOptions, StageRun, no_reporting, run_pipeline
from weir.project import Project
from weir.remotes.schedule import schedule
from weir.resident.stamps import Stamps, declared_sources, stamp
from weir.resident.stopping import StopRequest
from weir.settings import Settings
from weir.stage import new_run_id
from weir.traversals.schedule import next_evaluations

if TYPE_CHECKING:
    from weir.refresh.stage import Surroundings

_LOOK_AFTER = 60.0
"""Seconds after which the tables are read although no stamp changed."""
_RETRY_AFTER = 600.0
"""The longest wait in seconds before a failure is tried again although no stamp changed."""
_BEFORE_STAGES = "round"
"""The name, among stages, of failures outside of them, such as a wrong configuration."""


@dataclass(frozen=True, slots=True)
class Round:
    """A round that has something to report.

    Attributes:
        run_id: of the run, as in the ledger.
        seconds: how long it took.
        done: the stages that ran.
        began: failures that the previous round did not have.
        ended: failures that only the previous round had.
    """

    run_id: str
    seconds: float
    done: Sequence[StageRun] = ()
    began: Sequence[WeirError] = ()
    ended: Sequence[WeirError] = ()


@dataclass(slots=True)
class _Failures:
    """The present failures, by stage."""

    by_stage: dict[str, tuple[WeirError, ...]] = field(default_factory=dict)

    def replace(
        self, now: dict[str, tuple[WeirError, ...]], *, complete: bool
    ) -> tuple[list[WeirError], list[WeirError]]:
        """Set the failures; gives those that began and those that ended.

        After an incomplete round, stages that are not in `now` keep their failures.
        """
        kept = {} if complete else {s: e for s, e in self.by_stage.items() if s not in now}
        before, self.by_stage = self.by_stage, {s: e for s, e in (kept | now).items() if e}
        return _others(self.by_stage, before), _others(before, self.by_stage)


def _others(
    failures: dict[str, tuple[WeirError, ...]], known: dict[str, tuple[WeirError, ...]]
) -> list[WeirError]:
    texts = {str(error) for errors in known.values() for error in errors}
    return [error for errors in failures.values() for error in errors if str(error) not in texts]


class Rounds:
    """The rounds of one project, which share what is open.

    Files may change at any time: the next round reads queries, sources and the configuration again.
    Only the configuration of Spark holds as long as the process.

    Args:
        load: reads the configuration.
        config: the file that `load` reads.
        every: seconds from the start of a round to that of the next one.
        clock: monotonic seconds.
        refresh: credentials and clock for asking remotes that are due; None: none is asked.
        reporting: gives, for a stage, the function that receives its steps.
    """

    def __init__(
        self,
        load: Callable[[], Settings],
        config: Path,
        every: float,
        clock: Callable[[], float] = time.monotonic,
        refresh: Surroundings | None = None,
        reporting: Reporting = no_reporting,
    ) -> None:
        self._options = RunOptions(refresh=refresh, is_patient=True)
        self._reporting = reporting
        self._load, self._file, self._every, self._clock = load, config, every, clock
        self._failures = _Failures()
        self._config: object = None
        self._project: Project | None = None
        self._at_rest: Stamps | None = None
        self._until = 0.0
        self._delay = every
        self._renew()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def project(self) -> Project:
        """The project that the next round runs on; it is open until `close` or changed settings."""
        assert self._project is not None, "read at the start"
        return self._project

    def next(self, stop: StopRequest | None = None) -> Round | None:
        """Execute a round; None if there is nothing to report.

        Args:
            stop: ends the round after the stage that is executing.

        Raises:
            Exception: an unexpected error; expected ones are in the result.
        """
        started, run_id = self._clock(), new_run_id("run")
        done: list[StageRun] = []
        before: Stamps | None = None
        failed: dict[str, tuple[WeirError, ...]] = {_BEFORE_STAGES: ()}
        try:
            self._renew()
            before = self._stamps()
            if before == self._at_rest and before.is_known and started < self._until:
                return None
            complete = True
            if self._is_anything_to_do():
                for stage in run_pipeline(self.project, run_id, self._options, self._reporting):
                    done.append(stage)
                    if stop is not None and stop.is_made:
                        break
                is_busy = any(stage.is_busy for stage in done)
                complete = not is_busy and (stop is None or not stop.is_made)
            self._rest(before, done)
        except Exception as error:
            expected = as_user_error(error)
            if expected is None:
                raise
            complete, failed = False, {_BEFORE_STAGES: (expected,)}
            self._rest_for_longer(before)
        failed |= {stage.stage: stage.errors for stage in done}
        began, ended = self._failures.replace(failed, complete=complete)
        if not (began or ended or any(stage.is_worth_reporting for stage in done)):
            return None
        return Round(run_id, self._clock() - started, done, began, ended)

    def close(self) -> None:
        """Close the project."""
        if self._project is not None:
            self._project.close()

    def _renew(self) -> None:
        """Read the configuration if its file changed; open the project again if its values did."""
        config = stamp(self._file)
        before = self._project
        if before is not None and config == self._config:
            return
        settings = self._load()
        self._config = config
        if before is not None and settings == before.settings:
            return
        self.close()
        session = None if before is None else before.session
        self._project, self._at_rest = Project(settings, session), None

    def _stamps(self) -> Stamps:
        settings = self.project.settings
        return Stamps.of(settings, declared_sources(settings), self.project.lake)

    def _is_anything_to_do(self) -> bool:
        pending, refresh = Pending(self.project), self._options.refresh
        if pending.ingest or pending.answers or self._seconds_to_notification() <= 0:
            return True
        return refresh is not None and bool(pending.due_remotes(refresh.clock.now()))

    def _seconds_to_notification(self) -> float:
        """The seconds until a channel is to be notified; infinite if none is."""
        if not self.project.settings.notify:
            return math.inf
        # Imports what only channels need.
        from weir.notify.stage import seconds_until_due

        return seconds_until_due(self.project)

    def _rest(self, before: Stamps, done: Sequence[StageRun]) -> None:
        """Decide until when the next rounds have nothing to do if no stamp changes."""
        errors = [error for stage in done for error in stage.errors]
        now = self._clock()
        if not done and not has_open_claim(self.project.open_lake()):
            self._at_rest, self._delay = before, self._every
            soon = self._seconds_to_refresh(), self._seconds_to_notification()
            self._until = now + min(_LOOK_AFTER, *soon)
        elif errors and not any(isinstance(error, BusyError) for error in errors):
            self._rest_for_longer(before)
        elif not errors and any(stage.only_waits for stage in done):
            # Only an answer of a remote helps; it is committed, which changes a stamp.
            self._rest_for_longer(before)
        else:
            # The next round looks again: the run may have left work, or new input may have come.
            self._at_rest, self._delay = None, self._every

    def _rest_for_longer(self, before: Stamps | None) -> None:
        # The run itself has changed what is stored.
        self._at_rest = before and replace(before, stored=self._stamps().stored)
        # A remote that failed is tried again after the delay, the others when they are due.
        self._until = self._clock() + min(self._delay, self._seconds_to_refresh())
        self._delay = min(2 * self._delay, _RETRY_AFTER)

    def _seconds_to_refresh(self) -> float:
        """The seconds until the next remote or traversal becomes due; infinite if there is none."""
        refresh = self._options.refresh
        if refresh is None:
            return math.inf
        now = refresh.clock.now()
        try:
            lake = self.project.open_lake()
            listed = schedule(self.project.settings, lake, now)
            traversals = next_evaluations(self.project.settings, lake, now)
        except Exception as error:
            if as_user_error(error) is None:
                raise
            # The round reports this error.
            return math.inf
        times = [remote.next_at for remote in listed if remote.askers]
        waits = [at - now for at in (*times, *traversals.values()) if at > now]
        return min((wait.total_seconds() for wait in waits), default=math.inf)
