"""Aggregates made of the rows that hold during a segment, by one function (`SPARQL_AGGREGATE`)."""

from __future__ import annotations

from sqlglot import exp

from weir.compute.functions import AGGREGATE
from weir.compute.sql import (
    alias,
    all_of,
    as_text,
    coalesce,
    column,
    columns,
    concatenated,
    inner_join,
    rows_of,
    same_row,
    select,
    subquery,
    text,
)
from weir.engine.relations import CHANGE
from weir.engine.run import Run
from weir.engine.running_aggregates import MEASURED
from weir.engine.sweep import integrate
from weir.plan.operators import Aggregate, Group


def collected(
    node: Group, run: Run, name: str, aggregate: Aggregate, source: str, segments: str
) -> str:
    """Make the relation (keys, since, `value`) of an aggregate per segment; gives its name.

    Args:
        node: the group.
        run: makes relations.
        name: the aggregate's column.
        aggregate: which one.
        source: relation of the log of the rows that it reads.
        segments: relation of the group's segments.
    """
    assert aggregate.argument is not None, "only COUNT has no argument"
    seen = tuple(dict.fromkeys((*node.keys, aggregate.argument)))
    log = select(*columns((*seen, *CHANGE)), from_=rows_of(source))
    intervals = run.make(run.name(node, f"rows_{name}"), integrate(log, seen))
    item = concatenated(
        as_text(column("weight", "i")),
        text(" "),
        coalesce(column(aggregate.argument, "i"), text("")),
    )
    during = all_of(
        [
            column("since", "i") <= column("since", "s"),
            column("since", "s") < column("until", "i"),
        ]
    )
    is_wanted = [column(f"{name}_inexact", "s") > 0] if aggregate.function in MEASURED else []
    listed = select(
        *columns((*node.keys, "since"), "s"),
        alias(exp.ArrayAgg(this=item), "items"),
        from_=rows_of(segments, "s"),
        joins=[inner_join(rows_of(intervals, "i"), *same_row(node.keys, "s", "i"), during)],
        where=is_wanted,
        group_by=columns((*node.keys, "since"), "s"),
    )
    specification = text(f"{aggregate.function} {aggregate.separator}")
    value = exp.Anonymous(this=AGGREGATE, expressions=[specification, column("items")])
    return run.make(
        run.name(node, f"value_{name}"),
        select(
            *columns((*node.keys, "since")),
            alias(value, "value"),
            from_=subquery(listed, "listed"),
        ),
    )
