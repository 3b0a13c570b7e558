"""One batch: change sets in, epochs out, with one commit per table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import count
from typing import Self

import pyarrow as pa
from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import (
    case,
    column,
    number,
    rows_of,
    select,
    small_number,
    union_all,
)
from weir.ingest import clock, netting, ownership
from weir.ingest.changesets import AcceptedChangeSets, ChangeSet, SourcePosition, Waiting
from weir.ingest.journal import Journal, Transaction
from weir.ingest.quad_assertions import (
    DatedState,
    changes_as_assertions,
    pairs,
    state_assertions,
)
from weir.ingest.reading import BatchReading, read_batch
from weir.ingest.rejections import located
from weir.ingest.source_files import read_files
from weir.ingest.sources.errors import GuardExceeded, SourceError
from weir.ingest.stopped_sources import StoppedSource
from weir.ingest.stored_quads import quads_about, quads_of
from weir.ingest.stream_journal import StreamEpoch
from weir.lake.tables import GRAPHS
from weir.project import Project
from weir.settings import Limits


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The result of a batch: its transactions, and the sources that cannot continue.

    operations: rows that were read. waiting: sources that a later run continues. caught_up: sources
    whose newest content was ingested in place of older change sets. streams: what the epochs
    brought, if they are those of a stream.
    """

    transactions: tuple[Transaction, ...]
    operations: int
    stopped: Mapping[str, SourceError]
    waiting: Mapping[str, Waiting]
    caught_up: Set[str]
    streams: tuple[StreamEpoch, ...] = ()

    @classmethod
    def of(
        cls,
        accepted: AcceptedChangeSets,
        transactions: Sequence[Transaction] = (),
        operations: int = 0,
        streams: Sequence[StreamEpoch] = (),
    ) -> Self:
        """The result of a batch whose change sets were `accepted`."""
        return cls(
            tuple(transactions),
            operations,
            accepted.stopped,
            accepted.waiting,
            accepted.caught_up,
            tuple(streams),
        )

    @property
    def ended(self) -> Set[str]:
        """The sources of which nothing more is taken by this run."""
        return {*self.stopped, *self.waiting, *self.caught_up}


@dataclass(frozen=True, slots=True)
class _Epochs:
    """What the accepted change sets of a batch become.

    Attributes:
        numbers: the epochs by ordinal.
        graphs: relation of who writes which graph.
        log: relation of the changes of quads.
        present: relation of the quads that were there before.
        counts: by epoch, how many quads appear and vanish.
    """

    numbers: Mapping[int, int]
    graphs: str
    log: str
    present: str
    counts: Mapping[int, tuple[int, int]]

    def counts_of(self, ordinal: int) -> tuple[int, int]:
        """How many quads appear and vanish by a change set."""
        return self.counts.get(self.numbers[ordinal], (0, 0))


def ingest_batch(
    engine: Engine,
    project: Project,
    journal: Journal,
    change_sets: Sequence[ChangeSet],
    positions: Mapping[str, SourcePosition],
    permits: Mapping[str, StoppedSource],
) -> BatchResult:
    """Make epochs of the change sets, in their order.

    Args:
        engine: makes the relations.
        project: whose sources are read.
        journal: where the result is committed.
        change_sets: those of one source together and in order.
        positions: by name, how far each source is ingested.
        permits: what may be beyond the guards of its source, by name of the source.
    """
    accepted = AcceptedChangeSets(dict(enumerate(change_sets)))
    batch = read_batch(project, engine, accepted, positions)
    if not accepted.change_sets and not accepted.refused:
        return BatchResult.of(accepted)
    engine.load("changes", batch.rows.changes)
    head = journal.head()
    while True:
        # Stopping a source may free a graph for which another one would be stopped.
        within = accepted.copy()
        with engine.scope() as own:
            found = _epochs(own, project.settings.limits, within, batch, head)
            if not _stop_beyond_guards(accepted, within, batch, found, positions, permits):
                return _committed(own, project.settings.limits, journal, within, batch, found, head)


def _committed(
    engine: Engine,
    limits: Limits,
    journal: Journal,
    accepted: AcceptedChangeSets,
    batch: BatchReading,
    found: _Epochs,
    head: int,
) -> BatchResult:
    """Commit what the accepted change sets became."""
    epochs = found.numbers
    until = max(epochs.values(), default=head)
    dated = pairs(engine, "epochs", ("ordinal", "epoch"), [*epochs.items()])

    graphs = ownership.new_graphs(found.graphs, dated)
    if engine.rows(graphs.limit(1)):
        journal.record_owners(engine, graphs, until)
    recorded = accepted.change_sets | accepted.refused
    rejected = {ordinal: batch.change_sets[ordinal].rejections for ordinal in recorded}
    if any(rejected.values()):
        engine.load("rejections", batch.rows.rejections)
        places = [each.position for each in recorded.values()]
        rows = located(engine, recorded, "rejections")
        journal.reject(engine, rows, places, until)
    if not epochs:
        return BatchResult.of(accepted)
    files = read_files(accepted.change_sets.values(), limits.driver_parse_bytes)
    journal.record_read(files, until)

    now = clock.now()
    transactions = [
        Transaction(
            epoch=epochs[ordinal],
            source=change_set.source.name,
            position=change_set.position,
            change_id=batch.change_sets[ordinal].change_id,
            event_time=batch.change_sets[ordinal].event_time,
            ingested_at=now,
            inserted=found.counts_of(ordinal)[0],
            deleted=found.counts_of(ordinal)[1],
            rejected=rejected[ordinal],
            run_id=journal.run_id,
        )
        for ordinal, change_set in sorted(accepted.change_sets.items())
    ]
    changed = sum(inserted + deleted for inserted, deleted in found.counts.values())
    journal.commit(engine, found.log, found.present, changed, transactions)
    operations = sum(batch.change_sets[ordinal].changes for ordinal in epochs)
    return BatchResult.of(accepted, transactions, operations)


def _epochs(
    engine: Engine,
    limits: Limits,
    accepted: AcceptedChangeSets,
    batch: BatchReading,
    head: int,
) -> _Epochs:
    """Number the accepted change sets after `head`, and compute what each of them changes."""
    graphs = _written_graphs(engine, accepted)
    numbers = {ordinal: head + i for i, ordinal in enumerate(sorted(accepted.change_sets), start=1)}
    if not numbers:
        return _Epochs({}, graphs, "", "", {})
    log, present = _net(engine, limits, accepted, batch, numbers)
    return _Epochs(numbers, graphs, log, present, _counts(engine, log))


def _stop_beyond_guards(
    accepted: AcceptedChangeSets,
    within: AcceptedChangeSets,
    batch: BatchReading,
    found: _Epochs,
    positions: Mapping[str, SourcePosition],
    permits: Mapping[str, StoppedSource],
) -> bool:
    """Stop each source at its first change set beyond its guards; whether there was one.

    Args:
        accepted: in which sources are stopped.
        within: those of its change sets that write graphs of their own.
        batch: what they hold.
        found: what those of `within` change. What the change sets of a source do does not depend on
            what comes after them.
        positions: how far each source was ingested before the batch.
        permits: what a person accepts.
    """
    is_any = False
    for name, source in within.sources().items():
        held = positions[name].quads
        for ordinal, change_set in within.of(name).items():
            inserted, deleted = found.counts_of(ordinal)
            reading = batch.change_sets[ordinal]
            excess = source.guards.exceeded_by(reading, held, inserted, deleted)
            if refuse_excess(accepted, ordinal, change_set, excess, permits):
                is_any = True
                break
            held += inserted - deleted
    return is_any


def refuse_excess(
    accepted: AcceptedChangeSets,
    ordinal: int,
    change_set: ChangeSet,
    excess: Sequence[str],
    permits: Mapping[str, StoppedSource],
) -> bool:
    """Stop a source at a change set beyond its guards that nobody has accepted."""
    name, text = change_set.source.name, ", ".join(excess)
    if not excess or (name in permits and permits[name].accepts(change_set.position, text)):
        return False
    where = change_set.documents[0].request.file if len(change_set.documents) == 1 else ""
    error = GuardExceeded(name, change_set.position, where or change_set.source.location, text)
    accepted.refuse(ordinal, error)
    return True


def _written_graphs(engine: Engine, accepted: AcceptedChangeSets) -> str:
    """The relation of who writes what; a source that writes another's graph is stopped there."""
    engine.open("owners", GRAPHS.name)
    for attempt in count():
        name, declared = f"written_graphs_{attempt}", f"sources_{attempt}"
        sources = pa.table(
            {
                "ordinal": pa.array([*accepted.change_sets], pa.int32()),
                "source": pa.array(
                    [each.source.name for each in accepted.change_sets.values()], pa.string()
                ),
                "replica": pa.array(
                    [each.source.replica or "" for each in accepted.change_sets.values()],
                    pa.string(),
                ),
            }
        )
        engine.load(declared, sources)
        written = ownership.written_graphs("changes", declared, "owners")
        engine.make(Statement(name, written, "cache"))
        refused = [
            ownership.Refusal(str(source), int(str(ordinal)), str(graph), str(owner))
            for source, ordinal, graph, owner in engine.rows(ownership.refusals(name))
        ]
        if not refused:
            return name
        # Stopping the first may take away the reason to stop the others.
        first = min(refused, key=lambda refusal: refusal.ordinal)
        accepted.stop(first.ordinal, _refusal(first, accepted.change_sets[first.ordinal]))
    raise AssertionError("count() does not end")


def _refusal(refusal: ownership.Refusal, change_set: ChangeSet) -> SourceError:
    graph = refusal.graph or "the unnamed graph"
    if not refusal.owner:
        return SourceError(
            f"source {refusal.source}: {change_set.position} writes {graph}, which is reserved for"
            " the answers of a remote",
            change_set.source.location,
            "Give the quads another graph: names that begin with urn:weir:replica: are not free.",
        )
    return SourceError(
        f"source {refusal.source}: {change_set.position} writes {graph}, which belongs to the"
        f" source {refusal.owner}",
        change_set.source.location,
        "A graph is written by one source: give one of them another graph (`graph:` in sources.yml"
        f" for quads without one), or make them one source. If {refusal.owner} was renamed:"
        f" `weir rename --source {refusal.owner} {refusal.source}`.",
    )


def _net(
    engine: Engine,
    limits: Limits,
    accepted: AcceptedChangeSets,
    batch: BatchReading,
    epochs: Mapping[int, int],
) -> tuple[str, str]:
    """The relations of the log of the batch, and of the quads that were there before it.

    Both are read more than once, as are the quad assertions: they are computed once.
    """
    head = min(epochs.values()) - 1
    assertions, stored = "assertions", "stored"
    found = _assertions(engine, accepted, batch, epochs, head)
    engine.make(Statement(assertions, found, "cache"))
    quads_about(engine, stored, assertions, head, limits.literal_predicates)
    present, log = "present", "log"
    # At most the quads of the batch, however large the graph is.
    engine.make(Statement(present, netting.present(stored), "small"))
    engine.make(Statement(log, netting.net_quads(assertions, present), "cache"))
    return log, present


def _assertions(
    engine: Engine,
    accepted: AcceptedChangeSets,
    batch: BatchReading,
    epochs: Mapping[int, int],
    head: int,
) -> exp.Query:
    plain = {
        ordinal: epoch
        for ordinal, epoch in epochs.items()
        if accepted.change_sets[ordinal].state is None
    }
    dated = pairs(engine, "plain", ("ordinal", "epoch"), [*plain.items()])
    parts: list[exp.Query] = [changes_as_assertions("changes", dated)]
    for source in accepted.sources():
        states = [
            DatedState(ordinal, epochs[ordinal], each.state.graphs)
            for ordinal, each in accepted.of(source).items()
            if each.state is not None and batch.change_sets[ordinal].is_usable
        ]
        if states:
            log, stored = f"log_of_{source}", f"stored_of_{source}"
            quads_of(engine, log, source, "owners", head)
            engine.make(Statement(stored, netting.present(log)))
            carried = batch.carried.get(source, ())
            parts += state_assertions(engine, "changes", stored, states, carried)
    return union_all(parts)


def _counts(engine: Engine, log: str) -> dict[int, tuple[int, int]]:
    """How many quads appeared and vanished, by epoch."""

    def times(weight: int) -> exp.Expr:
        return exp.Count(this=case((column("weight").eq(number(weight)), small_number(1))))

    per_epoch = select(
        column("epoch"), times(1), times(-1), from_=rows_of(log), group_by=[column("epoch")]
    )
    return {
        int(str(epoch)): (int(str(inserted)), int(str(deleted)))
        for epoch, inserted, deleted in engine.rows(per_epoch)
    }
