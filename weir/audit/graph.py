"""Checks that the logs of the graph are well formed, and `triples` is the union of `quads`."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from weir.audit.checked import CheckOf
from weir.audit.unexpected import unexpected
from weir.compute.engine import Engine
from weir.compute.relations import LakeQuery, StoredTable
from weir.compute.sql import (
    alias,
    all_of,
    ascending,
    bigint,
    column,
    columns,
    greatest,
    negated,
    number,
    over,
    rows_of,
    select,
    subquery,
    sum_of,
    union_all,
)
from weir.engine.graph import POSITIONS, is_unreserved
from weir.engine.relations import BEFORE_ALL, EpochRange
from weir.engine.sweep import set_log
from weir.expectations.suite import QualityResult
from weir.lake.lake import Lake
from weir.lake.tables import QUADS, TRANSACTIONS, TRIPLES
from weir.lake.upkeep.consolidated import consolidated_until
from weir.validate.validation import validate_graph

EPOCHS = CheckOf("epochs_have_no_holes", "The epochs are 1, 2, 3, ..., each once.")
SET = CheckOf("log_is_of_a_set", "A triple appears and vanishes in turn, once in an epoch.")
UNION = CheckOf("is_the_union", "The triples of every epoch are those of all graphs.")
_TRIPLES = StoredTable("audited_triples", TRIPLES.name)
QUADS_ROWS = "audited_quads"
"""The relation of `quads` that `union_log` reads."""
_QUADS = StoredTable(QUADS_ROWS, QUADS.name)


def log_results(engine: Engine, lake: Lake, head: int) -> Iterator[QualityResult]:
    """Run the suites of the graph over its whole log, and check the log of `triples`."""
    yield _epochs(engine, head)
    start = consolidated_until(lake, QUADS.name)
    if head > start:
        yield from validate_graph(engine, start, head).results
    known = column("epoch") <= number(head)
    running = sum_of(column("weight"))
    rows = select(
        *columns((*POSITIONS, "epoch", "weight")),
        over(running, columns(POSITIONS), [ascending(column("epoch"))]).as_("held"),
        over(exp.Count(this=exp.Star()), columns((*POSITIONS, "epoch"))).as_("at_epoch"),
        from_=rows_of(_TRIPLES.name),
        where=[known],
    )
    right = all_of(
        [
            column("held") >= number(0),
            column("held") <= number(1),
            column("weight").neq(number(0)),
            column("at_epoch").eq(number(1)),
        ]
    )
    wrong = select("*", from_=subquery(rows, "held"), where=[negated(right)])
    total, examples = unexpected(engine, "wrong_triples", LakeQuery(wrong, (_TRIPLES,)))
    yield SET.result(TRIPLES.name, examples, total)


def union_results(engine: Engine, lake: Lake, head: int) -> Iterator[QualityResult]:
    """Check that `triples` is the union of the graphs, at all epochs that both logs have."""
    start = max(consolidated_until(lake, name) for name in (QUADS.name, TRIPLES.name))
    at = alias(greatest(column("epoch"), number(start)), "epoch")
    union = select(*columns(POSITIONS), at, column("weight"), from_=subquery(union_log(head), "u"))
    stored = select(
        *columns(POSITIONS),
        at,
        alias(exp.Neg(this=column("weight")), "weight"),
        from_=rows_of(_TRIPLES.name),
        where=[column("epoch") <= number(head)],
    )
    key = (*POSITIONS, "epoch")
    wrong = select(
        *columns(key),
        alias(bigint(sum_of(column("weight"))), "missing"),
        from_=subquery(union_all([union, stored]), "both"),
        group_by=columns(key),
        having=sum_of(column("weight")).neq(number(0)),
    )
    query = LakeQuery(wrong, (_TRIPLES, _QUADS))
    total, examples = unexpected(engine, "wrong_union", query)
    yield UNION.result(TRIPLES.name, examples, total)


def union_log(head: int) -> exp.Query:
    """The log of the union of all graphs except replicas, from the relation `QUADS_ROWS`."""
    bag = select(
        *columns((*POSITIONS, "epoch", "weight")),
        from_=rows_of(QUADS_ROWS),
        where=[column("epoch") <= number(head), is_unreserved()],
    )
    return set_log(bag, POSITIONS, EpochRange(BEFORE_ALL, head))


def union_query(head: int) -> LakeQuery:
    """`union_log` with the table that it reads."""
    return LakeQuery(union_log(head), (_QUADS,))


def _epochs(engine: Engine, head: int) -> QualityResult:
    table = StoredTable("audited_epochs", TRANSACTIONS.name)
    engine.open(table.name, table.table)
    epoch = column("epoch")
    counts = select(
        exp.Count(this=exp.Star()),
        exp.Count(this=exp.Distinct(expressions=[epoch])),
        exp.Min(this=epoch),
        exp.Max(this=epoch),
        from_=rows_of(table.name),
    )
    ((rows, distinct, first, last),) = engine.rows(counts)
    right = (rows, distinct, first, last) == (head, head, 1, head)
    numbers = f"{rows} rows of {distinct} epochs from {first} to {last}"
    return EPOCHS.result(TRANSACTIONS.name, [] if right else [numbers])
