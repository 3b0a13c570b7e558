"""The graph as what a batch writes: who owns which graph, and which quads appear and vanish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Self

import pyarrow as pa
from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Statement, StoredTable
from weir.compute.sql import (
    case,
    column,
    columns,
    equal,
    inner_join,
    number,
    rows_of,
    select,
    small_number,
    subquery,
    union_all,
)
from weir.engine.graph import is_unreserved
from weir.engine.relations import CHANGE
from weir.ingest import netting, ownership
from weir.ingest.changesets import AcceptedChangeSets, ChangeSet
from weir.ingest.epochs import Transaction
from weir.ingest.journal import Journal
from weir.ingest.quad_assertions import (
    DatedState,
    changes_as_assertions,
    pairs,
    state_assertions,
)
from weir.ingest.reading import BatchReading, ChangeSetReading
from weir.ingest.sources.errors import SourceError
from weir.ingest.stored_quads import quads_about, quads_of
from weir.lake.tables import GRAPHS
from weir.settings import Limits, Settings


@dataclass(frozen=True, slots=True)
class GraphEpochs:
    """What change sets become of the graph.

    Attributes:
        numbers: the epochs by ordinal.
        graphs: relation of who writes which graph.
        log: relation of the changes of quads.
        triples: relation of the changes of triples.
        counts: by epoch, how many quads appear and vanish.
    """

    numbers: Mapping[int, int]
    graphs: str
    log: str
    triples: str
    counts: Mapping[int, tuple[int, int]]

    def changed_by(self, ordinal: int) -> tuple[int, int]:
        """How many quads appear and vanish by a change set."""
        return self.counts.get(self.numbers[ordinal], (0, 0))

    def prepare(self, engine: Engine, journal: Journal, until: int) -> None:
        """Commit the owners of new graphs."""
        dated = pairs(engine, "epochs", ("ordinal", "epoch"), [*self.numbers.items()])
        graphs = ownership.new_graphs(self.graphs, dated)
        if engine.rows(graphs.limit(1)):
            journal.record_owners(engine, graphs, until)

    def commit(self, engine: Engine, journal: Journal, transactions: Sequence[Transaction]) -> str:
        """Commit the epochs; returns how many quads they change, in words."""
        inserted, deleted = map(sum, zip((0, 0), *self.counts.values(), strict=True))
        rows = inserted + deleted
        journal.commit_quads(engine, self.log, self.triples, rows, transactions)
        return f"+{inserted:,} -{deleted:,} quads"


@dataclass(frozen=True, slots=True)
class GraphTarget:
    """Change sets of the graph; `rejections` is the relation of their rejected rows."""

    limits: Limits
    batch: BatchReading
    rejections: str = "rejections"

    @classmethod
    def of(cls, engine: Engine, settings: Settings, batch: BatchReading) -> Self:
        """The change sets of a batch that is read."""
        # Rows of a Delta table are counted with their change set, those of a document of an earlier
        # change set with their file, and all others with both.
        of_change_sets = sum(reading.changes for reading in batch.change_sets.values())
        most = of_change_sets + sum(result.changes for result in batch.rows.results)
        engine.load("changes", batch.rows.changes, most=most)
        if batch.rows.rejections:
            engine.load("rejections", batch.rows.rejections)
        return cls(settings.limits, batch)

    @property
    def readings(self) -> Mapping[int, ChangeSetReading]:
        """What is known of each change set, by ordinal."""
        return self.batch.change_sets

    def epochs(self, engine: Engine, accepted: AcceptedChangeSets, head: int) -> GraphEpochs:
        """Number the accepted change sets after `head`, and compute what each of them changes."""
        graphs = _written_graphs(engine, accepted, self.batch)
        numbers = accepted.numbered(head)
        if not numbers:
            return GraphEpochs({}, graphs, "", "", {})
        log, triples = _net(engine, self.limits, accepted, self.batch, numbers, graphs)
        return GraphEpochs(numbers, graphs, log, triples, _counts(engine, log))


def _written_graphs(engine: Engine, accepted: AcceptedChangeSets, batch: BatchReading) -> str:
    """The relation of who writes what; a source that writes another's graph is stopped there."""
    engine.open("owners", GRAPHS.name)
    changes = _with_carried(engine, batch)
    for attempt in count():
        name, declared = f"written_graphs_{attempt}", f"sources_{attempt}"
        sources = pa.table(
            {
                "ordinal": pa.array([*accepted.change_sets], pa.int32()),
                "source": pa.array(
                    [change_set.source.name for change_set in accepted.change_sets.values()],
                    pa.string(),
                ),
                "reserved": pa.array(
                    [
                        change_set.source.reserved or ""
                        for change_set in accepted.change_sets.values()
                    ],
                    pa.string(),
                ),
            }
        )
        engine.load(declared, sources)
        written = ownership.written_graphs(changes, declared, "owners")
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


def _with_carried(engine: Engine, batch: BatchReading) -> str:
    """The relation of the rows of change sets, and of what is carried into them: ordinal, graph."""
    carried = [*chain.from_iterable(batch.carried.values())]
    if not carried:
        return "changes"
    ordinals = [(content.document, content.ordinal) for content in carried]
    numbered = pairs(engine, "all_carried", ("document", "ordinal"), ordinals)
    own = select(*columns(("ordinal", "graph")), from_=rows_of("changes"))
    earlier = select(
        column("ordinal", "carried"),
        column("graph", "changes"),
        from_=rows_of("changes", "changes"),
        joins=[
            inner_join(rows_of(numbered, "carried"), *equal(["document"], "changes", "carried"))
        ],
    )
    engine.make(Statement("changes_with_carried", union_all([own, earlier])))
    return "changes_with_carried"


def _refusal(refusal: ownership.Refusal, change_set: ChangeSet) -> SourceError:
    graph = refusal.graph or "the unnamed graph"
    if not refusal.owner:
        return SourceError(
            f"source {refusal.source}: {change_set.position} writes {graph}, which is reserved for"
            " what remotes answer",
            change_set.source.location,
            "Give the quads another graph: names that begin with urn:weir:replica: or"
            " urn:weir:web: are not free.",
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
    graphs: str,
) -> tuple[str, str]:
    """The relations of the changes of quads and of triples.

    The quads that were there before are looked up where a change set may state what holds already,
    or a triple be in several graphs.

    Args:
        engine: makes the relations.
        limits: of the project.
        accepted: the change sets.
        batch: what they hold.
        epochs: their epochs, by ordinal.
        graphs: relation of who writes which graph.
    """
    head = min(epochs.values()) - 1
    only = netting.only_epoch(epochs.values())
    log, present, triples = "log", "present", "changed_triples"

    def look_up_present(changes: str) -> None:
        quads_about(engine, "stored", changes, head, limits.literal_predicates)
        # At most the quads of the batch, however large the graph is.
        engine.make(Statement(present, netting.present("stored"), "small"))

    states = _of_states(engine, accepted, batch, epochs, head)
    plain = {
        ordinal: epoch
        for ordinal, epoch in epochs.items()
        if accepted.change_sets[ordinal].state is None
    }
    is_one_graph = _is_one_graph(engine, graphs)
    # The log is read more than once, as are the quad assertions: they are computed once.
    if states and not plain:
        engine.make(Statement(log, netting.log_of(union_all(states)), "cache"))
        if not is_one_graph:
            look_up_present(log)
    else:
        assertions = "assertions"
        dated = pairs(engine, "plain", ("ordinal", "epoch"), [*plain.items()])
        asserted = union_all([changes_as_assertions("changes", dated), *states])
        engine.make(Statement(assertions, asserted, "cache"))
        look_up_present(assertions)
        net = netting.net_quads(assertions, present, is_one_epoch=only is not None)
        engine.make(Statement(log, net, "cache"))
        log = _with_merges(engine, accepted, log, present, only)
    net = (
        netting.triples_of_one_graph(log)
        if is_one_graph
        else netting.net_triples(log, present, only)
    )
    engine.make(Statement(triples, net))
    return log, triples


def _of_states(
    engine: Engine,
    accepted: AcceptedChangeSets,
    batch: BatchReading,
    epochs: Mapping[int, int],
    head: int,
) -> list[exp.Query]:
    """The quad assertions of the change sets that are states, in parts."""
    parts: list[exp.Query] = []
    for source in accepted.sources():
        states = [
            DatedState(ordinal, epochs[ordinal], change_set.state.graphs)
            for ordinal, change_set in accepted.of(source).items()
            if change_set.state is not None and batch.change_sets[ordinal].is_usable
        ]
        if states:
            stored, carried = f"stored_of_{source}", batch.carried.get(source, ())
            quads_of(engine, stored, source, "owners", head)
            parts += state_assertions(engine, "changes", stored, states, carried)
    return parts


def _is_one_graph(engine: Engine, graphs: str) -> bool:
    """Whether all unreserved quads, those of the batch too, are of one graph at most.

    That graphs are many shows by the log of their table, without a job of Spark.
    """
    if (engine.extent(StoredTable("owners", GRAPHS.name)).rows or 0) > 1:
        return False
    names = union_all(
        [
            select(column("graph"), from_=rows_of(relation), where=[is_unreserved()])
            for relation in ("owners", graphs)
        ]
    )
    one_or_more = select(column("graph"), from_=subquery(names, "names"), distinct=True).limit(2)
    return len(engine.rows(one_or_more)) < 2


def _with_merges(
    engine: Engine, accepted: AcceptedChangeSets, log: str, present: str, only: int | None
) -> str:
    """The relation of the log with the changes of the merges of traversals."""
    traversals = {change_set.source.traversal for change_set in accepted.change_sets.values()}
    merges = [
        netting.net_merge(log, present, name, only) for name in sorted(filter(None, traversals))
    ]
    if not merges:
        return log
    merged = "log_with_merges"
    whole = [select(*columns((*netting.QUAD, *CHANGE)), from_=rows_of(log)), *merges]
    engine.make(Statement(merged, union_all(whole), "cache"))
    return merged


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
