"""The tasks of a maintain run, decided from watermarks and fingerprints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from weir.catalog.maintained import Maintained
from weir.catalog.queries import RegisteredQuery
from weir.expectations.answers import LIMITS
from weir.lake.delta.metadata import Metadata
from weir.lake.tables import QUADS, TRIPLES
from weir.lake.upkeep.consolidated import consolidated_until
from weir.plan.plan import Plan
from weir.progress.backlog import PREDICATES
from weir.progress.completion import Completion
from weir.progress.verdicts import Verdict
from weir.progress.watermarks import Watermark

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
        base: of one that is computed from nothing, the epoch whose state is its first delta; 0 if
            every epoch is a delta. None of one that goes on from its stored state.
        stored: how far its embedding table is complete; None if it has none.
        merged: which epochs that were not published come as one difference, and why; mostly empty.
    """

    query: Maintained
    mode: Mode
    reason: str
    base: int | None
    stored: Watermark | None
    merged: str = ""

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
    def range_after(self) -> int:
        """The epoch after which its range begins."""
        return self.after if self.base is None else max(self.base - 1, 0)

    @property
    def from_nothing(self) -> bool:
        """Whether no stored state is used."""
        return self.base is not None

    @property
    def is_new(self) -> bool:
        """Whether its text is maintained for the first time."""
        return self.mode in ("initial", "edited")

    def from_the_first_instant(self, reason: str) -> Task:
        """A query over streams computed again: its log has every instant."""
        return replace(self, mode="rebased", reason=reason, base=0, stored=None)

    def rebased(self, reason: str, start: Start) -> Task:
        """The query computed again, though its text is that of before."""
        why = f"{reason}; {start.merged}" if start.merged else reason
        return replace(self, mode="rebased", reason=why, base=start.epoch, merged=start.merged)


@dataclass(frozen=True, slots=True)
class Start:
    """Where a query starts that is computed again: what is published before it stays as it is.

    Attributes:
        epoch: whose state is its first delta; each later epoch has its own.
        merged: which epochs come as one difference nevertheless, and why; mostly empty.
    """

    epoch: int
    merged: str = ""


def start_again(
    completion: Completion, query: Maintained, stored: Watermark | None = None
) -> Start | None:
    """Where a query starts that is computed again; None if nothing of this text is known.

    That is the last epoch that was published of it. What was computed after it and not published
    is in no answer yet, and the graph knows its epochs, but for those that were compacted away.

    Args:
        completion: of the lake.
        query: reads the graph alone.
        stored: how far its embeddings are complete, if there are any.

    Raises:
        DamagedTable: its answer cannot be read.
    """
    published = completion.published(query.name)
    embeddings = completion.last_embeddings(query.name) if stored is None else stored.metadata
    if published is not None and published.metadata.fingerprint == query.fingerprint:
        epoch = published.epoch
    elif embeddings is not None and embeddings.fingerprint == query.fingerprint:
        # Nothing of the text is published: its answers begin where they were to begin.
        epoch = embeddings.base
    else:
        return None
    until = _states_until(completion)
    if until <= epoch:
        return Start(epoch)
    which = f"epochs {epoch + 1} to {until}"
    return Start(until, f"{which} come as one difference: their changes were compacted away")


def _states_until(completion: Completion) -> int:
    """The epoch before which the graph is known as a state only."""
    return max(consolidated_until(completion.lake, log.name) for log in (QUADS, TRIPLES))


def tasks_behind(completion: Completion, queries: Iterable[Maintained]) -> list[Task]:
    """What is to be done for the queries that are behind the newest epoch."""
    last = completion.head
    tasks = []
    for query in queries:
        task = _task(completion, query)
        if task.after < last or (task.mode in {"edited", "rebased"} and last > 0):
            tasks.append(task)
    return tasks


def _task(completion: Completion, query: Maintained) -> Task:
    stored, verdict = completion.maintained(query.name), completion.verdicts.get(query.name)
    states_until = _states_until(completion)
    if query.windowing is not None:
        return _stream_task(query, stored, verdict, states_until)
    new = Task(query, "initial", "new", base=completion.head, stored=stored)
    if stored is None:
        start = start_again(completion, query)
        if start is not None:
            return new.rebased("its embeddings are gone", start)
        if query.history == "full":
            reason = "new, with its full history"
            if states_until:
                reason += f" from epoch {states_until} on: changes before it were compacted away"
            return replace(new, reason=reason, base=0)
        return new
    if stored.metadata.fingerprint != query.fingerprint:
        return replace(new, mode="edited", reason=f"it was edited since epoch {stored.epoch}")
    why = ""
    if verdict is not None and _is_broken(stored, verdict):
        why = f"the stored state failed its check: {verdict.reason}"
    elif stored.epoch < states_until:
        why = f"changes before epoch {states_until} have been compacted away"
    start = start_again(completion, query, stored) if why else None
    if start is not None:
        return new.rebased(why, start)
    return Task(query, "incremental", _whole_reads(query), base=None, stored=stored)


def _stream_task(
    query: Maintained, stored: Watermark | None, verdict: Verdict | None, states_until: int
) -> Task:
    """The task of a query over streams: its log has every instant, from the first one on."""
    if stored is None:
        return Task(query, "initial", "new", base=0, stored=None)
    why: str | None = None
    mode: Mode = "rebased"
    if stored.metadata.fingerprint != query.fingerprint:
        mode, why = "edited", f"it was edited since epoch {stored.epoch}"
    elif verdict is not None and _is_broken(stored, verdict):
        why = f"the stored state failed its check: {verdict.reason}"
    elif stored.epoch < states_until:
        why = f"changes before epoch {states_until} have been compacted away"
    if why is not None:
        return Task(query, mode, why, base=0, stored=None)
    return Task(query, "incremental", "", base=None, stored=stored)


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
        groups.setdefault((task.range_after, task.from_nothing), []).append(task)
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
    base = task.base
    if base is None:
        assert task.stored is not None, "it goes on from its stored state"
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
