"""The tasks of a maintain run, decided from watermarks and fingerprints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from weir.definitions.definition import Definition
from weir.expectations.answers import LIMITS
from weir.lake.delta.commit import SaveMode
from weir.lake.delta.metadata import Metadata
from weir.lake.tables import QUADS, TRIPLES, Table
from weir.lake.upkeep.consolidated import consolidated_until
from weir.progress.backlog import PREDICATES
from weir.progress.completion import Completion
from weir.progress.verdicts import OF_PROJECT, Verdict
from weir.progress.watermarks import Watermark
from weir.remotes.readiness import is_edited

JOB: Literal["maintain"] = "maintain"
READING = "reading"
"""The `job` of the rows of the ledger about what a run of maintain read of the graph."""
NOT_OF_STATE = LIMITS | OF_PROJECT | {"the_answer_is_not_too_large"}
"""The checks of what an answer says; a failure does not mean that the stored state is wrong.

One has another name in old ledgers.
"""
Mode = Literal["initial", "incremental", "full", "edited", "rebased", "untouched"]


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done for one definition.

    Attributes:
        definition: what is maintained.
        mode: how.
        reason: why so.
        base: of one that is computed from nothing, the epoch whose state is its first delta; 0 if
            every epoch is a delta. None of one that goes on from its stored state.
        stored: how far its embedding table is complete; None if it has none.
        merged: which epochs that were not published come as one difference, and why; mostly empty.
    """

    definition: Definition
    mode: Mode
    reason: str
    base: int | None
    stored: Watermark | None
    merged: str = ""

    @property
    def name(self) -> str:
        """The name of the definition."""
        return self.definition.name

    @property
    def table(self) -> Table:
        """The embedding table."""
        return self.definition.axis.embeddings(self.name, self.definition.width)

    @property
    def after(self) -> int:
        """The epoch up to which the embedding table is complete; 0 if it is new."""
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

    def rebased(self, reason: str, start: Start) -> Task:
        """The definition computed again, though its text is that of before."""
        why = f"{reason}; {start.merged}" if start.merged else reason
        again = Task.from_nothing_at(self.definition, "rebased", why, start.epoch, self.stored)
        return replace(again, merged=start.merged)

    @classmethod
    def from_nothing_at(
        cls, definition: Definition, mode: Mode, reason: str, epoch: int, stored: Watermark | None
    ) -> Self:
        """The task of a definition that is computed from nothing.

        Args:
            definition: the definition.
            mode: how.
            reason: why so.
            epoch: whose state is its first delta, if its axis has states; else its log has every
                instant.
            stored: how far its embeddings are complete.
        """
        if definition.axis.has_states:
            return cls(definition, mode, reason, epoch, stored)
        return cls(definition, mode, reason, base=0, stored=None)


@dataclass(frozen=True, slots=True)
class Start:
    """Where a query starts that is computed again: what is published before it stays as it is.

    Attributes:
        epoch: whose state is its first delta; each later epoch has its own.
        merged: which epochs come as one difference nevertheless, and why; mostly empty.
    """

    epoch: int
    merged: str = ""


FROM_THE_FIRST = Start(0)
"""Where a definition starts whose log has every instant."""


def start_again(
    completion: Completion, query: Definition, stored: Watermark | None = None
) -> Start | None:
    """Where a recomputed definition starts; None if no table has its fingerprint.

    It starts at the last published epoch, or at the base of its embeddings if nothing is published.
    Rows computed after that epoch are in no answer yet and are computed again. If the graph no
    longer has the changes of some of these epochs, it starts later, and the reason says so.

    Args:
        completion: of the lake.
        query: the definition; one without states starts at no epoch.
        stored: how far its embeddings are complete, if there are any.

    Raises:
        DamagedTable: its answer cannot be read.
    """
    if not query.axis.has_states:
        return None
    published = completion.published(query.name)
    embeddings = completion.last_embeddings(query.name) if stored is None else stored.metadata
    if published is not None and published.metadata.fingerprint == query.fingerprint:
        epoch = published.epoch
    elif embeddings is not None and embeddings.fingerprint == query.fingerprint:
        # Nothing of the text is published: its answers begin where they were to begin.
        epoch = embeddings.base
    else:
        return None
    until = states_until(completion)
    if until <= epoch:
        return Start(epoch)
    which = f"epochs {epoch + 1} to {until}"
    return Start(until, f"{which} come as one difference: their changes were compacted away")


def states_until(completion: Completion) -> int:
    """The epoch before which the graph is known as a state only."""
    return max(consolidated_until(completion.lake, log.name) for log in (QUADS, TRIPLES))


def tasks_behind(completion: Completion, definitions: Iterable[Definition]) -> list[Task]:
    """What is to be done for the definitions that are behind."""
    return [
        _task(completion, definition)
        for definition in definitions
        if is_behind(completion, definition)
    ]


def is_behind(completion: Completion, definition: Definition) -> bool:
    """Whether the embeddings of a definition are not those of its text at the newest epoch.

    Nothing is before the first epoch.
    """
    last, stored = completion.head, completion.maintained(definition.name)
    if last == 0:
        return False
    if stored is None or stored.epoch < last or is_edited(definition, completion):
        return True
    return _failed_check(completion, stored, definition.name) is not None


def task_at_rest(completion: Completion, definition: Definition) -> Task:
    """The task of a definition that is at the newest epoch."""
    stored = completion.maintained(definition.name)
    return Task(definition, "incremental", "", base=None, stored=stored)


def _task(completion: Completion, definition: Definition) -> Task:
    stored = completion.maintained(definition.name)
    until = states_until(completion)
    new = Task.from_nothing_at(definition, "initial", "new", completion.head, stored)
    if stored is None:
        start = start_again(completion, definition)
        if start is not None:
            return new.rebased("its embeddings are gone", start)
        if definition.has_full_history:
            reason = "new, with its full history"
            if until:
                reason += f" from epoch {until} on: changes before it were compacted away"
            return replace(new, reason=reason, base=until)
        return new
    if is_edited(definition, completion):
        published = start_again(completion, definition, stored)
        if published is not None:
            return new.rebased("its text is the published one again", published)
        return replace(new, mode="edited", reason=f"it was edited since epoch {stored.epoch}")
    why = ""
    failed = _failed_check(completion, stored, definition.name)
    if failed is not None:
        why = f"the stored state failed its check: {failed.reason}"
    elif stored.epoch < until:
        why = f"changes before epoch {until} have been compacted away"
    if why:
        return new.rebased(why, start_again(completion, definition, stored) or FROM_THE_FIRST)
    whole = ", ".join(definition.body.whole_reads)
    # What a run has to record of a body whose cost does not follow the changes alone.
    reason = f"looks at all stored rows below {whole} (`weir explain`)" if whole else ""
    return Task(definition, "incremental", reason, base=None, stored=stored)


def _failed_check(completion: Completion, stored: Watermark, name: str) -> Verdict | None:
    """The check of the newest commit that says that the stored state is wrong; None if none does.

    An answer that is only larger than its limit, or than the project allows in its checks, is
    right; and a state that was recomputed and fails again would fail forever.
    """
    verdict = completion.verdicts.get(name)
    if verdict is None or verdict.success or verdict.version != stored.version:
        return None
    is_right = verdict.failed_checks <= NOT_OF_STATE
    return None if stored.metadata.mode == "rebased" or is_right else verdict


def groups(tasks: Iterable[Task]) -> list[list[Task]]:
    """The tasks by the legs that they read: those of one range of epochs share a neighbourhood."""
    groups: dict[tuple[int | str, bool], list[Task]] = {}
    for task in tasks:
        shared = task.range_after if task.definition.axis.shares_legs else task.name
        groups.setdefault((shared, task.from_nothing), []).append(task)
    return list(groups.values())


@dataclass(frozen=True, slots=True)
class CommitForm:
    """How the new rows of a leg are committed.

    Attributes:
        metadata: of the commit.
        mode: `overwrite` if they are the first of a log.
        even_empty: whether to commit without rows, too.
    """

    metadata: Metadata
    mode: SaveMode
    even_empty: bool


def commit_metadata(task: Task, run_id: str, last: int, **extra: Any) -> Metadata:
    """The metadata of a commit of a query's embedding table.

    Args:
        task: what was done.
        run_id: of the run.
        last: the epoch up to which the table is complete with it.
        extra: what is recorded beside what every query records.
    """
    predicates = {
        name: [*predicate.arguments] for name, predicate in task.definition.predicates.items()
    }
    base = task.base
    if base is None:
        assert task.stored is not None, "it goes on from its stored state"
        base = task.stored.metadata.base
    return Metadata(
        run_id=run_id,
        job=JOB,
        watermark=last,
        base=base,
        fingerprint=task.definition.fingerprint,
        mode=task.mode,
        extra={
            # A list: the order is the query's, and JSON objects are stored sorted.
            "columns": [[shown, int(column[1:])] for shown, column in task.definition.columns],
            "is_set": task.definition.is_set,
            "reason": task.reason,
            **({PREDICATES: predicates} if predicates else {}),
            **extra,
        },
    )
