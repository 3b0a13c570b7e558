"""Set semantics of incoming changes: which of them change the graph, at every epoch of a batch.

Every statement reads relations by name and is rendered for Spark and for DuckDB alike.

A *quad assertion* states that a quad holds (`insert`) or does not hold (not `insert`) from an epoch
on. A quad changes at an epoch where its last assertion differs from what held before:

    before(e) = the assertion of the latest epoch < e that has one, else presence before the batch
    log       = +1 where insert and not before,  -1 where before and not insert

Relations and their columns, QUAD = graph, subject, predicate, object:

    assertions   epoch, line, insert, QUAD
    present      QUAD, once each, that held before the batch; at least those with the triples of
                 the assertions, in any graph
    log          epoch, weight, QUAD
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from weir.compute.sql import (
    alias,
    all_of,
    any_of,
    ascending,
    bigint,
    case,
    cast,
    coalesce,
    column,
    columns,
    equal,
    inner_join,
    is_not_null,
    is_null,
    left_join,
    number,
    over,
    rows_of,
    select,
    semi_join,
    small_number,
    subquery,
    sum_of,
    text,
    union_all,
)
from weir.engine.graph import is_unreserved
from weir.engine.relations import CHANGE, FOREVER, EpochRange
from weir.engine.sweep import set_log, set_log_at
from weir.rdf.reserved_graphs import parts_of_web, web_graph

QUAD = ("graph", "subject", "predicate", "object")
TRIPLE = ("subject", "predicate", "object")


def only_epoch(epochs: Iterable[int]) -> int | None:
    """The epoch of all changes of a batch, if it is one."""
    different = {*epochs}
    return different.pop() if len(different) == 1 else None


def present(log: str) -> exp.Select:
    """The quads of the relation `log` whose weights add up to more than nothing."""
    return present_in(select(*columns((*QUAD, "weight")), from_=rows_of(log)))


def present_in(log: exp.Query) -> exp.Select:
    """The quads of `log` whose weights add up to more than nothing."""
    return select(
        *columns(QUAD),
        from_=subquery(log, "log"),
        group_by=columns(QUAD),
        having=sum_of(column("weight")) > number(0),
    )


def rows_about(rows: str, changes: str, key: tuple[str, ...] = TRIPLE) -> exp.Select:
    """The `rows` that agree with one of the `changes` in `key`.

    Args:
        rows: relation with the columns of `key`.
        changes: relation with the columns of `key`.
        key: what has to agree.
    """
    wanted = subquery(select(*columns(key), from_=rows_of(changes), distinct=True), "wanted")
    return select(
        "*",
        from_=rows_of(rows, "stored"),
        joins=[semi_join(wanted, *equal(key, "stored", "wanted"))],
    )


def last_assertions(assertions: str) -> exp.Select:
    """One assertion per quad and epoch, that of the highest line: epoch, insert, QUAD."""
    last = exp.ArgMax(this=column("insert"), expression=column("line"))
    return select(
        column("epoch"),
        alias(last, "insert"),
        *columns(QUAD),
        from_=rows_of(assertions),
        group_by=columns(("epoch", *QUAD)),
    )


def net_quads(assertions: str, present: str, *, is_one_epoch: bool = False) -> exp.Select:
    """The log of the quads: assertions that change something.

    If all assertions are of one epoch, as in most batches, nothing has to be sorted.
    """
    held = select(*columns(QUAD), alias(exp.true(), "held"), from_=rows_of(present))
    with_presence = select(
        *columns(("epoch", "insert", *QUAD), "incoming"),
        alias(is_not_null(column("held", "before")), "held"),
        from_=subquery(last_assertions(assertions), "incoming"),
        joins=[left_join(subquery(held, "before"), *equal(QUAD, "incoming", "before"))],
    )
    previous = exp.Lag(this=column("insert"), offset=small_number(1), default=column("held"))
    in_order = over(previous, columns(QUAD), [ascending(column("epoch"))])
    before = column("held") if is_one_epoch else in_order
    sequenced = select(
        *columns(("epoch", "insert", *QUAD)),
        alias(before, "before"),
        from_=subquery(with_presence, "with_presence"),
    )
    changes = select(
        *columns(("epoch", "insert", *QUAD)),
        from_=subquery(sequenced, "sequenced"),
        where=[column("insert").neq(column("before"))],
    )
    return log_of(changes)


def log_of(changes: exp.Query) -> exp.Select:
    """The log of quad assertions each of which changes something, as differences of states do."""
    sign = case((column("insert"), small_number(1)), otherwise=small_number(-1))
    return select(
        *columns((*QUAD, "epoch")),
        alias(cast(sign, exp.DType.INT), "weight"),
        from_=subquery(changes, "changes"),
    )


def net_triples(log: str, present: str, epoch: int | None = None) -> exp.Select:
    """The log of the union of all graphs but reserved ones, from the log of the quads.

    A triple holds while the number of graphs that have it is positive.

    Args:
        log: of the quads.
        present: the quads that held before it.
        epoch: that of all rows of the log; None if there are several.
    """
    before = select(
        *columns(TRIPLE),
        # Epochs start at 1, so that what held before the batch comes first.
        alias(number(0), "epoch"),
        alias(small_number(1), "weight"),
        from_=rows_of(present),
        where=[is_unreserved()],
    )
    return _set_log(union_all([triples_of_one_graph(log), before]), epoch)


def triples_of_one_graph(log: str) -> exp.Select:
    """`net_triples` if all unreserved quads, now and before, are of one graph: each is a triple."""
    return select(*columns((*TRIPLE, *CHANGE)), from_=rows_of(log), where=[is_unreserved()])


def net_merge(log: str, present: str, traversal: str, epoch: int | None = None) -> exp.Select:
    """The log of the merge of all graphs of a traversal, from the log of the quads.

    A triple holds while the number of graphs that have it is positive: a page that repeats what
    another one says changes nothing, and neither does its end.
    """
    first, after = parts_of_web(traversal)
    graph = column("graph")
    is_part = all_of([graph >= text(first), graph < text(after)])
    before = select(
        *columns(TRIPLE),
        alias(number(0), "epoch"),
        alias(small_number(1), "weight"),
        from_=rows_of(present),
        where=[is_part],
    )
    changes = select(*columns((*TRIPLE, *CHANGE)), from_=rows_of(log), where=[is_part])
    net = _set_log(union_all([changes, before]), epoch)
    return select(
        alias(text(web_graph(traversal)), "graph"),
        *columns((*TRIPLE, *CHANGE)),
        from_=subquery(net, "merge"),
    )


def _set_log(bag: exp.Query, epoch: int | None) -> exp.Select:
    """The log of the set of triples of a bag, after epoch 0."""
    if epoch is None:
        return set_log(bag, TRIPLE, EpochRange(0, FOREVER - 1))
    return set_log_at(bag, TRIPLE, epoch)


def state_assertions(states: str, versions: str, key: tuple[str, ...] = ()) -> exp.Select:
    """The differences between successive versions of a state, as quad assertions.

    Gaps and islands: a quad appears where the version before does not hold it, and vanishes after
    the last version of each run of versions that hold it, unless that is the last version.

    Args:
        states: version, weight, QUAD: a version holds the quads whose weights add up to more than
            nothing; version 0 is the state before the batch.
        versions: version, epoch, key: the epoch of each version from 1 on.
        key: columns of the quad within which versions are numbered.
    """

    def beside(neighbour: exp.Lag | exp.Lead) -> exp.Window:
        return over(neighbour, columns(QUAD), [ascending(column("version"))])

    once = select(
        *columns(("version", *QUAD)),
        from_=rows_of(states),
        group_by=columns(("version", *QUAD)),
        having=sum_of(column("weight")) > number(0),
    )
    version = column("version")
    islands = select(
        *columns(("version", *QUAD)),
        alias(beside(exp.Lag(this=column("version"))), "previous"),
        alias(beside(exp.Lead(this=column("version"))), "following"),
        # Both ends from one reading: Spark would compute the windows of a union's halves twice.
        alias(exp.Explode(this=exp.Array(expressions=[exp.true(), exp.false()])), "insert"),
        from_=subquery(once, "once"),
    )
    appears = all_of(
        [
            column("insert"),
            version > number(0),
            coalesce(column("previous"), number(-1)) < version - number(1),
        ]
    )
    vanishes = all_of(
        [
            exp.Not(this=column("insert")),
            any_of([is_null(column("following")), column("following") > version + number(1)]),
        ]
    )
    at = case((column("insert"), column("version")), otherwise=version + number(1))
    edges = select(
        alias(bigint(at), "version"),
        *columns(("insert", *QUAD)),
        from_=subquery(islands, "islands"),
        where=[any_of([appears, vanishes])],
    )
    # There is no version after the last one.
    return _dated(edges, versions, key)


def one_state_assertions(states: str, versions: str, key: tuple[str, ...] = ()) -> exp.Select:
    """`state_assertions` where no graph has a version after 1, as in most batches.

    Whether both versions hold a quad shows at once, and nothing has to be sorted.
    """
    earlier = case((column("version").eq(number(0)), column("weight")), otherwise=small_number(0))
    both = select(
        *columns(QUAD),
        alias(sum_of(earlier) > number(0), "before"),
        alias(exp.Max(this=column("version")).eq(number(1)), "insert"),
        from_=rows_of(states),
        group_by=columns(QUAD),
    )
    edges = select(
        alias(bigint(number(1)), "version"),
        *columns(("insert", *QUAD)),
        from_=subquery(both, "both"),
        where=[column("insert").neq(column("before"))],
    )
    return _dated(edges, versions, key)


def _dated(edges: exp.Query, versions: str, key: tuple[str, ...]) -> exp.Select:
    """Quad assertions of the differences that begin with some versions."""
    named = select(*columns(("version", "epoch", *key)), from_=rows_of(versions))
    return select(
        column("epoch", "named"),
        alias(number(0), "line"),
        *columns(("insert", *QUAD), "edges"),
        from_=subquery(edges, "edges"),
        joins=[inner_join(subquery(named, "named"), *equal(("version", *key), "edges", "named"))],
    )
