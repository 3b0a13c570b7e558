"""Slice: some of the solutions in order, per segment in which no row changes.

At every epoch of the range the rows that hold are ranked by the running sum of their weights, and
those between `offset` and `offset + limit` are kept. Only the first rows of the old state can come
into question: (offset + limit + what the range takes away).

Touched: all rows. Unlike other operators, it looks at the whole state of its child in every run in
which that changes. https://www.w3.org/TR/sparql11-query/#defn_algSlice
"""

from __future__ import annotations

from sqlglot import exp

from weir.compute.functions import SORT_KEY
from weir.compute.sql import (
    alias,
    all_of,
    ascending,
    bigint,
    coalesce,
    column,
    columns,
    descending,
    greatest,
    inner_join,
    least,
    number,
    over,
    rows_of,
    same_row,
    select,
    subquery,
    sum_of,
    text,
    union_all,
)
from weir.engine.relations import CHANGE, FOREVER, INTERVAL
from weir.engine.run import Run
from weir.engine.sweep import differentiate, integrate
from weir.plan.operators import Slice

_LOST = "lost"
"""How many rows of a partition the range takes away."""


def delta(node: Slice, run: Run) -> exp.Select:
    """The rows from `offset` to `offset + limit` in each segment."""
    own = node.child.variables
    rows = run.make(run.name(node, "rows"), _with_order(node, integrate(_log(node, run), own)))
    segments = run.make(run.name(node, "segments"), _segments(node, rows))
    during = all_of(
        [
            column("since", "r") <= column("since", "s"),
            column("since", "s") < column("until", "r"),
        ]
    )
    ranked = select(
        *columns(own, "r"),
        *columns(INTERVAL, "s"),
        column("weight", "r"),
        alias(_running(node, "r", ("since", "s")), "upto"),
        from_=rows_of(segments, "s"),
        joins=[inner_join(rows_of(rows, "r"), *same_row(node.partition, "s", "r"), during)],
    )
    end: exp.Expr = column("upto")
    if node.limit is not None:
        end = least(end, number(node.offset + node.limit))
    begin = greatest(column("upto") - column("weight"), number(node.offset))
    kept = select(
        *columns((*own, *INTERVAL)),
        alias(bigint(end - begin), "weight"),
        from_=subquery(ranked, "ranked"),
    )
    positive = select(
        *columns((*own, *INTERVAL, "weight")),
        from_=subquery(kept, "kept"),
        where=[column("weight") > 0],
    )
    return differentiate(positive, own, run.epochs)


def _log(node: Slice, run: Run) -> exp.Query:
    """The child's log: the rows of the state that may come into the slice, then its delta."""
    names = (*node.child.variables, *CHANGE)
    changes = run.stored(node.child)
    delta_rows = select(*columns(names), from_=rows_of(changes))
    state = run.state(node.child)
    if state is None:
        return delta_rows
    whole = run.make(run.name(node, "state"), state)
    first = run.make(run.name(node, "first"), _first(node, whole, changes))
    return union_all([select(*columns(names), from_=rows_of(first)), delta_rows])


def _first(node: Slice, state: str, changes: str) -> exp.Query:
    """The rows of the state that may come into the slice, of the partitions that change."""
    names = (*node.child.variables, *CHANGE)
    lost = -bigint(sum_of(least(column("weight"), number(0))))
    if node.partition:
        part = columns(node.partition)
        keys = select(
            *part, alias(lost, _LOST), from_=rows_of(changes), group_by=columns(node.partition)
        )
    else:
        keys = select(alias(number(1), "any"), from_=rows_of(changes), limit=1)
    rows = select(
        *columns(names, "s"),
        *([column(_LOST, "k")] if node.partition else []),
        from_=rows_of(state, "s"),
        joins=[inner_join(subquery(keys, "k"), *same_row(node.partition, "s", "k"))],
    )
    if node.limit is None:
        return rows
    ranked = select(
        *columns(names),
        *([column(_LOST)] if node.partition else []),
        alias(_running(node, None, None), "upto"),
        from_=subquery(_with_order(node, rows), "state"),
    )
    if node.partition:
        most: exp.Expr = column(_LOST)
    else:
        most = subquery(select(coalesce(lost, number(0)), from_=rows_of(changes)))
    enough = number(node.offset + node.limit) + most
    return select(
        *columns(names),
        from_=subquery(ranked, "ranked"),
        where=[(column("upto") - column("weight")) < enough],
    )


def _with_order(node: Slice, rows: exp.Query) -> exp.Select:
    """`rows` with the columns `order0`, .. that they are ordered by."""
    keys = (
        alias(exp.Anonymous(this=SORT_KEY, expressions=[column(key.column)]), f"order{i}")
        for i, key in enumerate(node.keys)
    )
    return select("*", *keys, from_=subquery(rows, "unordered"))


def _segments(node: Slice, rows: str) -> exp.Select:
    """Per partition, from each epoch at which a row begins or ends to the next one."""
    part = node.partition
    begins = select(*columns(part), alias(column("since"), "since"), from_=rows_of(rows))
    ends = select(
        *columns(part),
        alias(column("until"), "since"),
        from_=rows_of(rows),
        where=[column("until") < number(FOREVER)],
    )
    points = select(
        *columns((*part, "since")),
        from_=subquery(union_all([begins, ends]), "ends"),
        distinct=True,
    )
    following = over(exp.Lead(this=column("since")), columns(part), [ascending(column("since"))])
    return select(
        *columns((*part, "since")),
        alias(coalesce(following, number(FOREVER)), "until"),
        from_=subquery(points, "points"),
    )


def _running(node: Slice, table: str | None, segment: tuple[str, str] | None) -> exp.Window:
    """The running sum of weights in order, per partition and segment."""
    partition = columns(node.partition, table)
    if segment is not None:
        partition.append(column(*segment))
    order = [
        (descending if key.descending else ascending)(column(f"order{i}", table))
        for i, key in enumerate(node.keys)
    ]
    order += [ascending(coalesce(column(name, table), text(""))) for name in node.ties]
    running = over(sum_of(column("weight", table)), partition, order)
    if order:
        # Row by row, also where rows are equal in the order.
        running.set(
            "spec",
            exp.WindowSpec(
                kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"
            ),
        )
    return running
