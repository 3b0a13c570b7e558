"""The tasks of a maintain run, decided from watermarks and fingerprints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from expectations.answers import LIMITS
from jobs.catalog.maintained import Maintained
from jobs.catalog.queries import RegisteredQuery
from jobs.plan.plan import Plan
from jobs.progress.backlog import PREDICATES
from jobs.progress.completion import Completion
from jobs.progress.verdicts import Verdict
from jobs.progress.watermarks import Watermark
from lake.consolidated import consolidated_until
from lake.metadata import Metadata
from lake.tables import QUADS, TRIPLES

JOB: Literal["maintain"] = "maintain"
OF_LIMITS = LIMITS | {"the_answer_is_not_too_large"}
"""The checks of limits, not of the stored state; one has another name in old ledgers."""
Mode = Literal["initial", "incremental", "full", "edited", "rebased", "untouched"]


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done for one query.

    Attributes:
        query: what is maintained.
        mode: how.
        reason: why so.
        collapsed: whether the state at the newest epoch is taken as one delta.
        stored: how far its embedding table is complete; None if it has none.
    """

    query: Maintained
    mode: Mode
    reason: str
    collapsed: bool
    stored: Watermark | None

    @property
    def planned(self) -> RegisteredQuery:
        """The query, whose plan computes the new rows."""
        assert isinstance(self.query, RegisteredQuery), "programs read streams"
        return self.query

    @property
    def plan(self) -> Plan:
        """The operators that compute the new rows of a query."""
        return self.planned.plan

    @property
    def after(self) -> int:
        """The epoch up to which it is complete, 0 if it is new."""
        return 0 if self.stored is None else self.stored.epoch

    @property
    def from_nothing(self) -> bool:
        """Whether no stored state is used."""
        return self.collapsed or self.after == 0


def tasks_behind(completion: Completion, queries: Iterable[Maintained]) -> list[Task]:
    """What is to be done for the queries that are behind the newest epoch."""
    last, lake = completion.head, completion.lake
    states_until = max(consolidated_until(lake, log.name) for log in (QUADS, TRIPLES))
    tasks = []
    for query in queries:
        stored, verdict = completion.maintained(query.name), completion.verdicts.get(query.name)
        task = _task(query, stored, verdict, states_until)
        if task.after < last or (task.mode in {"edited", "rebased"} and last > 0):
            tasks.append(task)
    return tasks


def _task(
    query: Maintained, stored: Watermark | None, verdict: Verdict | None, states_until: int
) -> Task:
    if query.windowing is not None:
        return _stream_task(query, stored, verdict, states_until)
    if stored is None:
        if query.history == "full":
            reason = "new, with its full history"
            if states_until:
                reason += f" from epoch {states_until} on: changes before it were compacted away"
            return Task(query, "initial", reason, collapsed=False, stored=None)
        return Task(query, "initial", "new", collapsed=True, stored=None)
    if stored.metadata.fingerprint != query.fingerprint:
        reason = f"it was edited since epoch {stored.epoch}"
        return Task(query, "edited", reason, collapsed=True, stored=stored)
    if verdict is not None and _is_broken(stored, verdict):
        reason = f"the stored state failed its check: {verdict.reason}"
        return Task(query, "rebased", reason, collapsed=True, stored=stored)
    if stored.epoch < states_until:
        reason = f"changes before epoch {states_until} have been compacted away"
        return Task(query, "rebased", reason, collapsed=True, stored=stored)
    return Task(query, "incremental", _whole_reads(query), collapsed=False, stored=stored)


def _stream_task(
    query: Maintained, stored: Watermark | None, verdict: Verdict | None, states_until: int
) -> Task:
    """The task of a query over streams: its log has every instant, from the first one on."""
    if stored is None:
        return Task(query, "initial", "new", collapsed=False, stored=None)
    why: str | None = None
    mode: Mode = "rebased"
    if stored.metadata.fingerprint != query.fingerprint:
        mode, why = "edited", f"it was edited since epoch {stored.epoch}"
    elif verdict is not None and _is_broken(stored, verdict):
        why = f"the stored state failed its check: {verdict.reason}"
    elif stored.epoch < states_until:
        why = f"changes before epoch {states_until} have been compacted away"
    if why is not None:
        return Task(query, mode, why, collapsed=False, stored=None)
    return Task(query, "incremental", "", collapsed=False, stored=stored)


def _whole_reads(query: Maintained) -> str:
    """What a run has to record of a plan whose cost does not follow the changes alone."""
    nodes = ", ".join(query.whole_reads) if isinstance(query, RegisteredQuery) else ""
    return f"looks at all stored rows below {nodes} (`weir explain`)" if nodes else ""


def _is_broken(stored: Watermark, verdict: Verdict) -> bool:
    """Whether a check of the newest commit says that the stored state is wrong.

    An answer that is only larger than its limit is right; and a state that was recomputed and fails
    again would fail forever.
    """
    is_about_this = verdict.version == stored.version and not verdict.success
    is_of_limits = verdict.failed_checks <= OF_LIMITS
    return is_about_this and stored.metadata.mode != "rebased" and not is_of_limits


def groups(tasks: Iterable[Task]) -> list[list[Task]]:
    """The tasks by the range that they read: those of one range share a neighbourhood."""
    groups: dict[tuple[int, bool], list[Task]] = {}
    for task in tasks:
        groups.setdefault((0 if task.collapsed else task.after, task.collapsed), []).append(task)
    return list(groups.values())


def commit_metadata(task: Task, run_id: str, last: int, **extra: Any) -> Metadata:
    """The metadata of a commit of a query's embedding table.

    Args:
        task: what was done.
        run_id: of the run.
        last: the epoch up to which the table is complete with it.
        extra: what is recorded beside what every query records.
    """
    predicates = {name: [*names] for name, names in task.query.predicates.items()}
    base = last if task.collapsed else 0
    if task.stored is not None and not task.collapsed:
        base = task.stored.metadata.base
    return Metadata(
        run_id=run_id,
        job=JOB,
        watermark=last,
        base=base,
        fingerprint=task.query.fingerprint,
        mode=task.mode,
        extra={
            # A list: the order is the query's, and JSON objects are stored sorted.
            "columns": [[shown, int(column[1:])] for shown, column in task.query.columns],
            "is_set": task.query.is_set,
            "reason": task.reason,
            **({PREDICATES: predicates} if predicates else {}),
            **extra,
        },
    )
