"""Checks an answer at an epoch by computing it from the whole graph of that epoch.

The stored rows are the sum of deltas. The check uses neither them nor a neighbourhood: it computes
the plan once over all triples that held.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from weir.audit.checked import CheckOf
from weir.audit.unexpected import unexpected
from weir.compute.engine import Engine
from weir.compute.relations import LakeQuery, StoredTable
from weir.compute.sql import (
    alias,
    all_of,
    bigint,
    column,
    columns,
    number,
    rows_of,
    select,
    subquery,
    sum_of,
    text,
    union_all,
)
from weir.definitions.definition import Definition
from weir.engine.fixpoint import make
from weir.engine.read_graph import open_graph, read_whole
from weir.engine.relations import EpochRange
from weir.expectations.suite import QualityResult
from weir.lake.lake import Lake
from weir.lake.tables import EMBEDDINGS, QUADS, TRIPLES
from weir.lake.upkeep.consolidated import consolidated_until
from weir.plan.plan import ANSWER
from weir.progress.backlog import Backlog
from weir.timeline.evaluation import EpochInputs

RECOMPUTED = CheckOf(
    "is_the_answer_of_the_graph", "At sampled epochs the stored answer is that of the whole graph."
)


@dataclass(frozen=True, slots=True)
class Sample:
    """A query and an epoch at which it is computed again."""

    item: Backlog
    query: Definition
    epoch: int


def sampled(
    lake: Lake,
    work: Sequence[tuple[Backlog, Definition]],
    queries: int,
    epochs: int,
    seed: str,
) -> list[Sample]:
    """A random sample of queries, each at its newest epoch and at random earlier ones.

    Epochs before the last consolidation are left out: the logs no longer have their changes.
    """
    chance = random.Random(seed)
    since = max(consolidated_until(lake, name) for name in (QUADS.name, TRIPLES.name))
    chosen = chance.sample([*work], min(queries, len(work)))
    samples = []
    for item, query in sorted(chosen, key=lambda pair: pair[0].query):
        first, last = max(since, item.maintained.metadata.base, 1), item.maintained.epoch
        others = range(first, last)
        picked = {last, *chance.sample(others, min(epochs - 1, len(others)))}
        samples += [Sample(item, query, epoch) for epoch in sorted(picked)]
    return samples


def recomputed_results(engine: Engine, sample: Sample) -> Iterator[QualityResult]:
    """Check that the stored answer of a query at an epoch is that of the graph."""
    query, epoch, name = sample.query, sample.epoch, sample.item.query
    epochs = EpochRange(epoch - 1, epoch, from_nothing=True)
    prefix = f"again_{name}_{epoch}"
    graphs = {}
    scopes = dict.fromkeys(component.scope for component in query.body.components)
    open_graph(engine, scopes)
    for number_, scope in enumerate(scopes):
        read = read_whole(engine, scope, epochs, f"{prefix}_{number_}", reason="audit")
        graphs[scope] = read.relation
    delta = query.body.delta(EpochInputs(engine, epochs, graphs, "", prefix, "cache"))
    for statement in (*delta.statements, delta.result):
        make(engine, statement)
    values = [f"v{i}" for i in range(query.width)]
    is_answer = column("node").eq(text(ANSWER))
    known = all_of([is_answer, column("epoch") <= number(epoch)])
    stored = StoredTable(f"{prefix}_stored", EMBEDDINGS.name(name), sample.item.snapshot, known)
    again = select(
        *columns((*values, "weight")), from_=rows_of(delta.result.name), where=[is_answer]
    )
    taken = alias(exp.Neg(this=column("weight")), "weight")
    before = select(*columns(values), taken, from_=rows_of(stored.name))
    wrong = select(
        alias(bigint(sum_of(column("weight"))), "missing"),
        *columns(values),
        from_=subquery(union_all([again, before]), "both"),
        group_by=columns(values),
        having=sum_of(column("weight")).neq(number(0)),
    )
    total, examples = unexpected(engine, f"{prefix}_wrong", LakeQuery(wrong, (stored,)))
    shown = [f"epoch {epoch}: {example}" for example in examples]
    yield RECOMPUTED.result(EMBEDDINGS.name(name), shown, total)
