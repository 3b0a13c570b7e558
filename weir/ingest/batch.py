"""One batch: change sets in, epochs of the graph or of a stream out, with one commit per table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, Self, TypeAlias

from weir.compute.engine import Engine
from weir.ingest import clock
from weir.ingest.changesets import AcceptedChangeSets, ChangeSet, SourcePosition, Waiting
from weir.ingest.epochs import Transaction
from weir.ingest.graph_target import GraphEpochs, GraphTarget
from weir.ingest.journal import Journal
from weir.ingest.reading import read_batch
from weir.ingest.source_files import read_files
from weir.ingest.sources.errors import GuardExceeded, SourceError
from weir.ingest.stopped_sources import StoppedSource
from weir.ingest.stream_target import EventEpochs, StreamTarget
from weir.project import Project

Target: TypeAlias = GraphTarget | StreamTarget
"""What the change sets of a batch are of, once they are read."""
Epochs: TypeAlias = GraphEpochs | EventEpochs
"""What those become that are accepted: computed, not committed."""


class Examiner(Protocol):
    """Examines what change sets would do to the graph, before they are committed."""

    def refusals(
        self, engine: Engine, epochs: GraphEpochs, head: int, sources: Mapping[int, str]
    ) -> Mapping[int, str]:
        """Why change sets must not be taken, by epoch.

        Args:
            engine: knows the relations of the epochs.
            epochs: what the change sets become.
            head: the newest epoch of the lake.
            sources: by epoch, the source of its change set.
        """

    def taken(self) -> None:
        """The change sets that were examined last are committed."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The result of a batch: its transactions, and the sources that cannot continue.

    operations: rows that were read. waiting: sources that a later run continues. caught_up: sources
    whose newest content was ingested in place of older change sets. what: the epochs brought, in
    words.
    """

    transactions: tuple[Transaction, ...]
    operations: int
    stopped: Mapping[str, SourceError]
    waiting: Mapping[str, Waiting]
    caught_up: Set[str]
    what: str = ""

    @classmethod
    def of(
        cls,
        accepted: AcceptedChangeSets,
        transactions: Sequence[Transaction] = (),
        operations: int = 0,
        what: str = "",
    ) -> Self:
        """The result of a batch whose change sets were `accepted`."""
        stopped, waiting, caught_up = accepted.stopped, accepted.waiting, accepted.caught_up
        return cls(tuple(transactions), operations, stopped, waiting, caught_up, what)

    @property
    def ended(self) -> Set[str]:
        """The sources of which nothing more is taken by this run."""
        return {*self.stopped, *self.waiting, *self.caught_up}


def ingest_batch(
    engine: Engine,
    project: Project,
    journal: Journal,
    change_sets: Sequence[ChangeSet],
    positions: Mapping[str, SourcePosition],
    permits: Mapping[str, StoppedSource],
    examiner: Examiner | None = None,
) -> BatchResult:
    """Make epochs of the change sets, in their order.

    Args:
        engine: makes the relations.
        project: whose sources are read.
        journal: where the result is committed.
        change_sets: those of one source together and in order; all of the graph, or of one stream.
        positions: by name, how far each source is ingested.
        permits: what may be beyond the guards of its source, by name of the source.
        examiner: of change sets of the graph; None if all may be taken.
    """
    accepted = AcceptedChangeSets(dict(enumerate(change_sets)))
    batch = read_batch(project, engine, accepted, positions)
    if not accepted.change_sets and not accepted.refused:
        return BatchResult.of(accepted)
    settings = project.settings
    now, head, source = clock.now(), journal.head(), change_sets[0].source
    target: Target
    if source.stream is None:
        target = GraphTarget.of(engine, settings, batch)
    else:
        target = StreamTarget.of(engine, settings, journal.lake, source, accepted, batch, now)
    while True:
        # Stopping a source may free a graph for which another one would be stopped.
        within = accepted.copy()
        with engine.scope() as own:
            epochs = target.epochs(own, within, head)
            if _stop_beyond_guards(accepted, within, target, epochs, positions, permits):
                continue
            if examiner is not None and isinstance(epochs, GraphEpochs) and epochs.numbers:
                sources = {e: within.change_sets[o].source.name for o, e in epochs.numbers.items()}
                reasons = examiner.refusals(own, epochs, head, sources)
                if _stop_at_door(accepted, within, epochs, reasons, permits):
                    continue
            until = max(epochs.numbers.values(), default=head)
            epochs.prepare(own, journal, until)
            recorded = within.change_sets | within.refused
            if any(target.readings[ordinal].rejections for ordinal in recorded):
                journal.reject(own, recorded, target.rejections, until)
            if not epochs.numbers:
                return BatchResult.of(within)
            files = read_files(within.change_sets.values(), settings.limits.driver_parse_bytes)
            journal.record_read(files, until)
            transactions = _transactions(within, target, epochs, journal.run_id, now)
            what = epochs.commit(own, journal, transactions)
            if examiner is not None and isinstance(epochs, GraphEpochs):
                examiner.taken()
            operations = sum(batch.change_sets[ordinal].changes for ordinal in epochs.numbers)
            return BatchResult.of(within, transactions, operations, what)


def _transactions(
    accepted: AcceptedChangeSets, target: Target, epochs: Epochs, run_id: str, now: datetime
) -> list[Transaction]:
    transactions = []
    for ordinal, epoch in epochs.numbers.items():
        change_set, reading = accepted.change_sets[ordinal], target.readings[ordinal]
        inserted, deleted = epochs.changed_by(ordinal)
        transactions.append(
            Transaction(
                epoch=epoch,
                source=change_set.source.name,
                position=change_set.position,
                change_id=reading.change_id,
                event_time=reading.event_time,
                ingested_at=now,
                inserted=inserted,
                deleted=deleted,
                rejected=reading.rejections,
                run_id=run_id,
            )
        )
    return transactions


def _stop_beyond_guards(
    accepted: AcceptedChangeSets,
    within: AcceptedChangeSets,
    target: Target,
    epochs: Epochs,
    positions: Mapping[str, SourcePosition],
    permits: Mapping[str, StoppedSource],
) -> bool:
    """Stop each source at its first change set beyond its guards; whether there was one.

    Args:
        accepted: in which sources are stopped.
        within: those of its change sets that write graphs of their own.
        target: what they hold.
        epochs: what those of `within` change. What the change sets of a source do does not depend
            on what comes after them.
        positions: how far each source was ingested before the batch.
        permits: what a person accepts.
    """
    is_any = False
    for name, source in within.sources().items():
        held = positions[name].quads
        for ordinal, change_set in within.of(name).items():
            inserted, deleted = epochs.changed_by(ordinal)
            reading = target.readings[ordinal]
            excess = ", ".join(source.guards.exceeded_by(reading, held, inserted, deleted))
            is_permitted = name in permits and permits[name].accepts(change_set.position, excess)
            if excess and not is_permitted:
                accepted.refuse(ordinal, _beyond_guards(change_set, excess))
                is_any = True
                break
            held += inserted - deleted
    return is_any


def _stop_at_door(
    accepted: AcceptedChangeSets,
    within: AcceptedChangeSets,
    epochs: GraphEpochs,
    reasons: Mapping[int, str],
    permits: Mapping[str, StoppedSource],
) -> bool:
    """Stop the source of the first change set that must not be taken; whether there was one.

    What those after it would do to the graph depends on whether it is taken.
    """
    for ordinal, epoch in sorted(epochs.numbers.items(), key=lambda numbered: numbered[1]):
        change_set, reason = within.change_sets[ordinal], reasons.get(epoch)
        permit = permits.get(change_set.source.name)
        if reason and not (permit and permit.accepts(change_set.position, reason)):
            accepted.refuse(ordinal, _beyond_guards(change_set, reason))
            return True
    return False


def _beyond_guards(change_set: ChangeSet, excess: str) -> GuardExceeded:
    source, documents = change_set.source, change_set.documents
    where = documents[0].request.file if len(documents) == 1 else ""
    return GuardExceeded(source.name, change_set.position, where or source.location, excess)
