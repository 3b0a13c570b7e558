"""Slice: some of the solutions in order, per segment in which no row changes.

At every epoch of the range the rows that hold are ranked by the running sum of their weights, and
those between `offset` and `offset + limit` are kept. Only the first rows of the old state can come
into question: (offset + limit + what the range takes away).

Unlike other operators, it looks at the whole state of its child in every run in which that changes.
https://www.w3.org/TR/sparql11-query/#defn_algSlice
"""

from __future__ import annotations

from sqlglot import exp

from jobs.compute.functions import SORT_KEY
from jobs.compute.relations import Keep, Statement
from jobs.compute.sql import column, columns, number, rows_of, same_row, select, text, union_all
from jobs.engine.relations import FOREVER, EpochRange
from jobs.engine.sweep import differentiate, integrate
from jobs.plan.operators import Slice

_LOG = ("epoch", "weight")


def slice_statements(
    node: Slice, state: str | None, delta: str, name: str, keep: Keep
) -> list[Statement]:
    """The statements that make `<name>_rows` and `<name>_segments`.

    Args:
        node: the slice.
        state: relation of the child's rows at the beginning of the range, at epoch `after`; None if
            there is no state.
        delta: relation of its log in the range.
        name: begins the names of the relations.
        keep: how they are kept.
    """
    own = node.child.variables
    logs = [select(*columns((*own, *_LOG))).from_(rows_of(delta), copy=False)]
    made = []
    if state is not None:
        first = f"{name}_first"
        made.append(Statement(first, _first(node, state, delta), keep))
        logs.insert(0, select(*columns((*own, *_LOG))).from_(rows_of(first), copy=False))
    log = union_all(logs)
    made.append(Statement(f"{name}_rows", _with_order(node, integrate(log, own)), keep))
    made.append(Statement(f"{name}_segments", _segments(node, f"{name}_rows"), keep))
    return made


def slice_delta(node: Slice, name: str, epochs: EpochRange) -> exp.Select:
    """The log of the slice within `epochs`, not netted."""
    own, part = node.child.variables, node.partition
    during = exp.and_(
        column("since", "r") <= column("since", "s"), column("since", "s") < column("until", "r")
    )
    ranked = (
        select(
            *columns(own, "r"),
            *columns(("since", "until"), "s"),
            column("weight", "r"),
            _running(node, "r", ("since", "s")).as_("upto", quoted=True),
        )
        .from_(rows_of(f"{name}_segments").as_("s"), copy=False)
        .join(
            rows_of(f"{name}_rows").as_("r"),
            on=exp.and_(*same_row(part, "s", "r"), during),
            join_type="inner",
            copy=False,
        )
    )
    end: exp.Expr = column("upto")
    if node.limit is not None:
        end = exp.func("LEAST", end, number(node.offset + node.limit))
    begin = exp.func("GREATEST", column("upto") - column("weight"), number(node.offset))
    kept = select(*columns((*own, "since", "until"))).select(
        exp.cast(end - begin, "BIGINT").as_("weight", quoted=True), copy=False
    )
    positive = (
        select(*columns((*own, "since", "until", "weight")))
        .from_(
            kept.from_(ranked.subquery("ranked", copy=False), copy=False).subquery(
                "kept", copy=False
            ),
            copy=False,
        )
        .where(column("weight") > 0, copy=False)
    )
    return differentiate(positive, own, epochs)


def _first(node: Slice, state: str, delta: str) -> exp.Query:
    """The rows of the state that may come into the slice, of the partitions that change."""
    own = node.child.variables
    touched = rows_of(delta)
    if node.partition:
        keys = select(*columns(node.partition)).distinct(copy=False).from_(touched, copy=False)
    else:
        keys = select(number(1).as_("any", quoted=True)).from_(touched, copy=False).limit(1)
    same = same_row(node.partition, "s", "k") or [exp.true()]
    rows = (
        select(*columns((*own, *_LOG), "s"))
        .from_(rows_of(state).as_("s"), copy=False)
        .join(keys.subquery("k", copy=False), on=exp.and_(*same), join_type="inner", copy=False)
    )
    if node.limit is None:
        return rows
    ranked = select(
        *columns((*own, *_LOG)), _running(node, None, None).as_("upto", quoted=True)
    ).from_(_with_order(node, rows).subquery("state", copy=False), copy=False)
    taken = exp.func("SUM", exp.func("LEAST", column("weight"), number(0)))
    lost = select(exp.func("COALESCE", -exp.cast(taken, "BIGINT"), number(0))).from_(
        rows_of(delta), copy=False
    )
    enough = number(node.offset + node.limit) + lost.subquery(copy=False)
    return (
        select(*columns((*own, *_LOG)))
        .from_(ranked.subquery("ranked", copy=False), copy=False)
        .where((column("upto") - column("weight")) < enough, copy=False)
    )


def _with_order(node: Slice, rows: exp.Query) -> exp.Select:
    """`rows` with the columns `order0`, .. that they are ordered by."""
    keys = (
        exp.Anonymous(this=SORT_KEY, expressions=[column(key.column)]).as_(f"order{i}", quoted=True)
        for i, key in enumerate(node.keys)
    )
    return select("*", *keys).from_(rows.subquery("unordered", copy=False), copy=False)


def _segments(node: Slice, rows: str) -> exp.Select:
    """Per partition, from each epoch at which a row begins or ends to the next one."""
    part = node.partition
    begins = select(*columns(part), column("since").as_("since", quoted=True)).from_(
        rows_of(rows), copy=False
    )
    ends = (
        select(*columns(part), column("until").as_("since", quoted=True))
        .from_(rows_of(rows), copy=False)
        .where(column("until") < number(FOREVER), copy=False)
    )
    points = select(*columns((*part, "since"))).distinct(copy=False)
    points = points.from_(union_all([begins, ends]).subquery("ends", copy=False), copy=False)
    following = exp.Window(
        this=exp.Lead(this=column("since")),
        partition_by=columns(part) or None,
        order=exp.Order(expressions=[exp.Ordered(this=column("since"))]),
    )
    return select(
        *columns((*part, "since")),
        exp.func("COALESCE", following, number(FOREVER)).as_("until", quoted=True),
    ).from_(points.subquery("points", copy=False), copy=False)


def _running(node: Slice, table: str | None, segment: tuple[str, str] | None) -> exp.Window:
    """The running sum of weights in order, per partition and segment."""
    partition = columns(node.partition, table)
    if segment is not None:
        partition.append(column(*segment))
    order = [
        exp.Ordered(
            this=column(f"order{i}", table),
            desc=key.descending,
        )
        for i, key in enumerate(node.keys)
    ]
    order += [
        exp.Ordered(this=exp.func("COALESCE", column(name, table), text(""))) for name in node.ties
    ]
    return exp.Window(
        this=exp.func("SUM", column("weight", table)),
        partition_by=partition or None,
        order=exp.Order(expressions=order) if order else None,
        spec=exp.WindowSpec(
            kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"
        )
        if order
        else None,
    )
