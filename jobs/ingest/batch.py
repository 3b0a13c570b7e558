"""One batch: change sets in, epochs out, with one commit per table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa
from pyspark.sql import DataFrame
from sqlglot import exp
from sqlglot.expressions import select

from jobs.engine import netting
from jobs.engine.relations import Keep, column, union_all
from jobs.ingest import ownership
from jobs.ingest.bench import Bench, Taken
from jobs.ingest.changesets import ChangeSet, Consumed, SourceError
from jobs.ingest.journal import Journal, Transaction
from jobs.ingest.operations import changes_as_operations, pairs, snapshot_operations, stored_of
from jobs.ingest.reading import ReadBatch, change_id, read_batch, refuse_broken_chains
from lake.session import read
from lake.tables import GRAPHS, QUADS

FEW_PREDICATES = 64
"""So many predicates are looked up by literals, which let Delta skip files."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a batch: its transactions, and the sources that cannot go on."""

    transactions: tuple[Transaction, ...]
    operations: int
    stopped: Mapping[str, SourceError]


def take_in(
    bench: Bench,
    journal: Journal,
    change_sets: Sequence[ChangeSet],
    consumed: Mapping[str, Consumed],
) -> Outcome:
    """Make epochs of the change sets, in their order.

    Args:
        bench: what to work with.
        journal: where the result is committed.
        change_sets: those of one source together and in order.
        consumed: what of each source is already in.
    """
    taken = Taken(dict(enumerate(change_sets)))
    batch = read_batch(bench, taken, consumed)
    refuse_broken_chains(taken, batch.results, consumed)
    few = sum(result.changes for result in batch.rows.results) <= bench.settings.limits.local_rows
    bench.engine.register(bench.name("changes"), batch.rows.changes)
    claims = _claims(bench, taken)
    if not taken.change_sets:
        return Outcome((), 0, taken.stopped)
    head = journal.head()
    epochs = {ordinal: head + i for i, ordinal in enumerate(sorted(taken.change_sets), start=1)}
    until = max(epochs.values())
    dated = pairs(bench.engine, bench.name("epochs"), ("ordinal", "epoch"), [*epochs.items()])

    graphs = bench.engine.frame(ownership.new_graphs(claims, dated)).persist()
    if not graphs.isEmpty():
        journal.claim_graphs(graphs, until)
    graphs.unpersist()
    rejected = {
        ordinal: sum(result.rejections for result in batch.results.get(ordinal, ()))
        for ordinal in epochs
    }
    if any(rejected.values()):
        journal.reject(_rejections(bench, taken, batch), head, until)

    log, present = _net(bench, taken, batch, epochs, keep="small" if few else "cache")
    counts = _counts(bench, log)
    now = datetime.now(UTC)
    transactions = [
        Transaction(
            epoch=epochs[ordinal],
            source=change_set.source.name,
            position=change_set.position,
            change_id=change_id(change_set, batch.results[ordinal]),
            event_time=batch.results[ordinal][0].header.event_time or change_set.event_time,
            ingested_at=now,
            inserted=counts.get(epochs[ordinal], (0, 0))[0],
            deleted=counts.get(epochs[ordinal], (0, 0))[1],
            rejected=rejected[ordinal],
            run_id=journal.run_id,
        )
        for ordinal, change_set in sorted(taken.change_sets.items())
    ]
    rows = sum(inserted + deleted for inserted, deleted in counts.values())
    journal.commit(log, present, rows, transactions)
    operations = sum(r.changes for ordinal in epochs for r in batch.results[ordinal])
    return Outcome(tuple(transactions), operations, taken.stopped)


def _claims(bench: Bench, taken: Taken) -> str:
    """The relation of who writes what; a source that writes another's graph is stopped there."""
    engine, name = bench.engine, bench.name("claims")
    engine.register(bench.name("owners"), read(engine.spark, bench.settings.lake, GRAPHS.name))
    while True:
        sources = pa.table(
            {
                "ordinal": pa.array([*taken.change_sets], pa.int32()),
                "source": pa.array(
                    [each.source.name for each in taken.change_sets.values()], pa.string()
                ),
            }
        )
        engine.register(bench.name("sources"), engine.spark.createDataFrame(sources))
        claims = ownership.claims(
            bench.name("changes"), bench.name("sources"), bench.name("owners")
        )
        engine.register(name, engine.frame(claims), "small")
        refused = [
            ownership.Refusal(str(source), int(str(ordinal)), str(graph), str(owner))
            for source, ordinal, graph, owner in engine.rows(ownership.refusals(name))
        ]
        if not refused:
            return name
        # Stopping the first may take away the reason to stop the others.
        first = min(refused, key=lambda refusal: refusal.ordinal)
        taken.stop(first.ordinal, _refusal(first, taken.change_sets[first.ordinal]))


def _refusal(refusal: ownership.Refusal, change_set: ChangeSet) -> SourceError:
    graph = refusal.graph or "the unnamed graph"
    return SourceError(
        f"source {refusal.source}: {change_set.position} writes {graph}, which belongs to the"
        f" source {refusal.owner}",
        change_set.source.location,
        "A graph is written by one source: give one of them another graph (`graph:` in sources.yml"
        " for quads without one), or make them one source.",
    )


def _rejections(bench: Bench, taken: Taken, batch: ReadBatch) -> DataFrame:
    """The rejected rows of the change sets that are taken in: columns of `rejected`."""
    places = pa.table(
        {
            "ordinal": pa.array([*taken.change_sets], pa.int32()),
            "source": [each.source.name for each in taken.change_sets.values()],
            "position": [each.position for each in taken.change_sets.values()],
        }
    )
    return batch.rows.rejections.join(bench.engine.spark.createDataFrame(places), "ordinal")


def _net(
    bench: Bench, taken: Taken, batch: ReadBatch, epochs: Mapping[int, int], keep: Keep
) -> tuple[str, str]:
    """The relations of the log of the batch, and of the quads that were there before it."""
    engine, head = bench.engine, min(epochs.values()) - 1
    quads, operations = bench.name("quads"), bench.name("operations")
    # Delta reads the newest version whenever a frame is computed; the epoch tells what was before.
    before = read(engine.spark, bench.settings.lake, QUADS.name).filter(f"epoch <= {head}")
    engine.register(quads, before)
    engine.register(operations, engine.frame(_operations(bench, taken, batch, epochs, quads)), keep)
    stored = netting.rows_about(quads, operations, predicates=_few_predicates(bench, operations))
    present = bench.name("present")
    engine.register(present, engine.frame(netting.present_in(stored)), keep)
    log = bench.name("log")
    engine.register(log, engine.frame(netting.net_quads(operations, present)), keep)
    return log, present


def _operations(
    bench: Bench, taken: Taken, batch: ReadBatch, epochs: Mapping[int, int], quads: str
) -> exp.Query:
    plain = {
        ordinal: epoch
        for ordinal, epoch in epochs.items()
        if taken.change_sets[ordinal].kind in ("patch", "commit")
    }
    dated = pairs(bench.engine, bench.name("plain"), ("ordinal", "epoch"), [*plain.items()])
    parts: list[exp.Query] = [changes_as_operations(bench.name("changes"), dated)]
    for source, ordinals in batch.versions.items():
        versions = {ordinal: epochs[ordinal] for ordinal in ordinals if ordinal in epochs}
        if versions:
            stored = bench.name(f"stored_{source}")
            owned = stored_of(quads, bench.name("owners"), source)
            bench.engine.register(stored, bench.engine.frame(owned))
            carried = batch.carried.get(source, ())
            parts.append(snapshot_operations(bench.engine, bench.prefix, stored, versions, carried))
    return union_all(parts)


def _few_predicates(bench: Bench, operations: str) -> list[str] | None:
    """The predicates of the operations, unless they are many."""
    distinct = select(column("predicate")).distinct().from_(operations).limit(FEW_PREDICATES + 1)
    found = [str(predicate) for (predicate,) in bench.engine.rows(distinct)]
    return found if len(found) <= FEW_PREDICATES else None


def _counts(bench: Bench, log: str) -> dict[int, tuple[int, int]]:
    """How many quads appeared and vanished, by epoch."""

    def times(weight: int) -> exp.Expr:
        case = exp.Case().when(column("weight").eq(weight), exp.Literal.number(1))
        return exp.func("COUNT", case)

    per_epoch = select(column("epoch"), times(1), times(-1)).from_(log).group_by(column("epoch"))
    return {
        int(str(epoch)): (int(str(inserted)), int(str(deleted)))
        for epoch, inserted, deleted in bench.engine.rows(per_epoch)
    }
