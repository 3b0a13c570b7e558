"""Checks that the logs of the graph are well formed, and have what is made of `quads`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    text,
    union_all,
)
from weir.engine.graph import POSITIONS, is_unreserved
from weir.engine.relations import BEFORE_ALL, EpochRange
from weir.engine.sweep import set_log
from weir.expectations.suite import QualityResult
from weir.lake.lake import Lake
from weir.lake.tables import DOCUMENTS, QUADS, TRANSACTIONS, TRIPLES
from weir.lake.upkeep.consolidated import consolidated_until
from weir.rdf.reserved_graphs import parts_of_web, web_graph
from weir.validate.validation import validate_graph

EPOCHS = CheckOf("epochs_have_no_holes", "The epochs are 1, 2, 3, ..., each once.")
SET = CheckOf("log_is_of_a_set", "A triple appears and vanishes in turn, once in an epoch.")
UNION = CheckOf("is_the_union", "The triples of every epoch are those of all graphs.")
MERGE = CheckOf(
    "is_merged", "The graph of a traversal has the triples of its documents at every epoch."
)
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


def derived_results(engine: Engine, lake: Lake, head: int) -> Iterator[QualityResult]:
    """Check what is made of the graphs, at all epochs that the logs have.

    `triples` is their union, and the graph of a traversal the merge of its documents.
    """
    start = max(consolidated_until(lake, name) for name in (QUADS.name, TRIPLES.name))
    stored = select(*columns((*POSITIONS, "epoch", "weight")), from_=rows_of(_TRIPLES.name))
    wrong = LakeQuery(_difference(union_log(head), stored, start, head), (_TRIPLES, _QUADS))
    total, examples = unexpected(engine, "wrong_union", wrong)
    yield UNION.result(TRIPLES.name, examples, total)
    if traversals := lake.owners(DOCUMENTS):
        merges = union_all([_wrong_merge(name, start, head) for name in traversals])
        total, examples = unexpected(engine, "wrong_merges", LakeQuery(merges, (_QUADS,)))
        yield MERGE.result(QUADS.name, examples, total)


def _wrong_merge(traversal: str, start: int, head: int) -> exp.Select:
    """The differences between the graph of a traversal and the merge of its documents."""
    graph = text(web_graph(traversal))
    merge = _bag(head, [column("graph").eq(graph)])
    difference = _difference(_merge_log(traversal, head), merge, start, head)
    return select(alias(graph, "graph"), "*", from_=subquery(difference, "difference"))


def _difference(expected: exp.Query, stored: exp.Query, start: int, head: int) -> exp.Select:
    """The triples that one of two logs has and the other has not: s, p, o, epoch, missing.

    Args:
        expected: a log.
        stored: the other one.
        start: what changed up to this epoch is compared as one state.
        head: later epochs are left out.
    """
    at = alias(greatest(column("epoch"), number(start)), "epoch")
    known = [column("epoch") <= number(head)]
    right = select(*columns(POSITIONS), at, column("weight"), from_=subquery(expected, "expected"))
    weight = alias(exp.Neg(this=column("weight")), "weight")
    own = select(*columns(POSITIONS), at, weight, from_=subquery(stored, "stored"), where=known)
    key = (*POSITIONS, "epoch")
    return select(
        *columns(key),
        alias(bigint(sum_of(column("weight"))), "missing"),
        from_=subquery(union_all([right, own]), "both"),
        group_by=columns(key),
        having=sum_of(column("weight")).neq(number(0)),
    )


def _merge_log(traversal: str, head: int) -> exp.Query:
    """The log of the merge of the documents of a traversal, from the relation `QUADS_ROWS`."""
    first, after = parts_of_web(traversal)
    parts = [column("graph") >= text(first), column("graph") < text(after)]
    return set_log(_bag(head, parts), POSITIONS, EpochRange(BEFORE_ALL, head))


def _bag(head: int, where: Sequence[exp.Expr]) -> exp.Select:
    """The changes of the triples of some graphs."""
    return select(
        *columns((*POSITIONS, "epoch", "weight")),
        from_=rows_of(QUADS_ROWS),
        where=[column("epoch") <= number(head), *where],
    )


def union_log(head: int) -> exp.Query:
    """The log of the union of all graphs except replicas, from the relation `QUADS_ROWS`."""
    return set_log(_bag(head, [is_unreserved()]), POSITIONS, EpochRange(BEFORE_ALL, head))


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
