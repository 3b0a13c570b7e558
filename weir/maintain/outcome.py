"""What maintain did per query: for its caller, and as rows of the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from weir.compute.budget import QueryLimitError
from weir.compute.writing import Commit
from weir.engine.read_graph import GraphRead
from weir.engine.relations import EpochRange
from weir.expected_errors import as_user_error
from weir.lake.counted import counted
from weir.lake.ledger.runs import FAILED, SKIPPED, UNTOUCHED
from weir.maintain.tasks import READING, Mode, Task
from weir.plan.scope import Scope
from weir.progress.failed_attempts import Attempt, FailedAttempts
from weir.stage import Claim, Progress, StageResult

_MESSAGE_LENGTH = 500
"""Characters of an unexpected error that are recorded."""


@dataclass(slots=True)
class MaintainResult(StageResult):
    """What was done: per query its mode; failures of queries that could not be maintained.

    warnings: what is to be known of queries that could. causes: the errors themselves.
    """

    to_epoch: int
    modes: dict[str, Mode] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    causes: list[Exception] = field(default_factory=list, repr=False, compare=False)

    @property
    def summary(self) -> str:
        """How many queries had rows that changed, and how many could not be maintained."""
        touched = sum(mode != UNTOUCHED for mode in self.modes.values())
        parts = []
        if self.modes:
            parts.append(f"{touched:,} of {counted(len(self.modes), 'query')} touched")
        if self.failures:
            parts.append(f"{len(self.failures):,} failed")
        return ", ".join(parts) or "nothing to do"

    @property
    def did_something(self) -> bool:
        """Whether a query was looked at."""
        return bool(self.modes)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Records the outcome of the tasks of a run, which may end in any order.

    Attributes:
        run: whose rows are recorded.
        result: for the caller.
        limits: of each query, by name.
        failed_attempts: the queries that took more when they were last tried.
        now: when the run began.
        reported: the queries that have a row.
        failures: those that were not maintained.
        waiting: those that cannot be evaluated yet.
    """

    run: Claim
    result: MaintainResult
    limits: Mapping[str, Any]
    failed_attempts: Mapping[str, FailedAttempts]
    now: datetime
    reported: set[str] = field(default_factory=set)
    failures: set[str] = field(default_factory=set)
    waiting: set[str] = field(default_factory=set)

    def committed(
        self,
        task: Task,
        commit: Commit,
        rows_in: int | None,
        seconds: float,
    ) -> None:
        """The new rows of a query are in its table."""
        self.reported.add(task.name)
        self.result.modes[task.name] = task.mode
        self.run.report(
            task.name,
            mode=task.mode,
            reason=task.reason or None,
            from_epoch=task.after,
            to_epoch=self.result.to_epoch,
            rows_in=rows_in,
            rows_out=commit.rows,
            seconds=seconds,
            table_version=commit.version,
            commit_metadata=commit.metadata.to_json(),
        )

    def read(
        self, scope: Scope, epochs: EpochRange, read: GraphRead, changes: int | None, seconds: float
    ) -> None:
        """Record what was read of the graph for the queries at one epoch.

        Args:
            scope: which triples they see.
            epochs: the range.
            read: what was read.
            changes: how many there are in the scope; None if none were read.
            seconds: that reading the changes and the graph took.
        """
        self.run.note(
            READING,
            scope.name,
            mode="incremental" if read.reason_whole is None else "full",
            reason=read.reason_whole,
            from_epoch=epochs.after,
            to_epoch=epochs.last,
            rows_in=changes,
            rows_out=read.looked_up,
            seconds=seconds,
        )

    def warn(self, query: str, what: str, progress: Progress) -> None:
        """Something is to be known of a query; it is said at once, too."""
        line = f"{query}: {what}"
        progress(f"WARNING: {line}")
        if line not in self.result.warnings:
            self.result.warnings.append(line)

    def untouched(self, task: Task) -> None:
        """No row of the query changed: its watermark moves without a commit."""
        self.reported.add(task.name)
        self.result.modes[task.name] = UNTOUCHED
        self.run.untouched(task.name, task.after, self.result.to_epoch)

    def waits(self, task: Task, why: str) -> None:
        """The query is not evaluated yet; its published answer stays as it is."""
        self.reported.add(task.name)
        self.waiting.add(task.name)
        self.run.report(
            task.name,
            mode=SKIPPED,
            reason=why,
            from_epoch=task.after,
            to_epoch=task.after,
        )

    def failed(self, task: Task, error: Exception) -> None:
        """The query stays where it was; the others continue, and the stage fails at its end."""
        self.result.causes.append(error)
        attempts = None
        text = _message(error)
        if isinstance(error, QueryLimitError):
            before = self.failed_attempts.get(task.name)
            attempts = FailedAttempts.after(self._attempt(task), text, before)
            text = attempts.explained(task.name)
        self._not_maintained(task, task.mode, text, attempts)

    def puts_off(self, task: Task) -> bool:
        """Leave a query that takes more than a limit until it is to be tried again.

        It is reported as not maintained, like one that fails. Gives whether it is left.
        """
        before = self.failed_attempts.get(task.name)
        if before is None or before.is_tried(self._attempt(task)):
            return False
        text = before.explained(task.name)
        self._not_maintained(task, SKIPPED, text, before)
        return True

    def _attempt(self, task: Task) -> Attempt:
        """What computing a query in this run is."""
        return Attempt(task.definition.fingerprint, {**self.limits}, self.result.to_epoch, self.now)

    def _not_maintained(
        self, task: Task, mode: str, why: str, attempts: FailedAttempts | None
    ) -> None:
        self.reported.add(task.name)
        self.failures.add(task.name)
        text = f"{task.name}: {why}"
        self.result.failures.append(text)
        self.run.report(
            task.name,
            status=FAILED,
            mode=mode,
            reason=text,
            from_epoch=task.after,
            to_epoch=task.after,
            failed_attempts=None if attempts is None else attempts.to_json(),
        )


def _message(error: Exception) -> str:
    """The message of an error in one line; of an unexpected one with its class."""
    expected = as_user_error(error)
    lines = str(expected or error).strip().splitlines()
    if expected is not None and lines:
        return lines[0]
    return ": ".join([type(error).__name__, *lines])[:_MESSAGE_LENGTH]
