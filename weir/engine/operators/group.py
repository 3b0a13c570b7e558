"""Group: one solution per key, for as long as it has solutions, with its aggregates.

COUNT, and SUM and AVG of exact numbers, are measures of the sweep: running sums over the changes of
a touched group (`running_aggregates`). All other aggregates are made of the rows that hold during
each segment of a touched group (`collected_aggregates`), as are SUM and AVG where a value is a
float, a double, out of the range of exact sums, or an error.

    delta Group(C) = differentiate( segments of the touched groups with solutions, aggregated )

Touched: the groups with a row in C's delta. https://www.w3.org/TR/sparql11-query/#aggregateAlgebra
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from weir.compute.sql import (
    alias,
    cast,
    column,
    columns,
    left_join,
    number,
    rows_of,
    same_row,
    select,
    small_number,
    subquery,
    union_all,
)
from weir.engine.collected_aggregates import collected
from weir.engine.relations import CHANGE, INTERVAL
from weir.engine.run import Run
from weir.engine.running_aggregates import MEASURED, events, measures, value
from weir.engine.sweep import Key, differentiate, ends, presence, sweep
from weir.plan.operators import Aggregate, Group


def delta(node: Group, run: Run) -> exp.Select:
    """The groups with their aggregates in each segment."""
    touched = run.make(run.name(node, "rows"), run.touched_log(node))
    sources = _sources(node, run, touched)
    segments = run.make(run.name(node, "segments"), _segments(node, run, touched, sources))
    values = {
        name: collected(node, run, name, aggregate, sources[name], segments)
        for name, aggregate in node.aggregates
        if aggregate.function != "COUNT"
    }
    outputs = (
        alias(value(name, aggregate, always=node.always), name)
        for name, aggregate in node.aggregates
    )
    joined = select(
        *columns((*node.keys, *INTERVAL), "s"),
        *outputs,
        from_=rows_of(segments, "s"),
        joins=[
            left_join(
                rows_of(relation, f"r_{name}"),
                *same_row((*node.keys, "since"), "s", f"r_{name}", {"since"}),
            )
            for name, relation in values.items()
        ],
        where=[] if node.always else [column("solutions", "s") > 0],
    )
    groups = select(
        *columns((*node.variables, *INTERVAL)),
        alias(number(1), "weight"),
        from_=subquery(joined, "groups"),
    )
    return differentiate(groups, node.variables, run.epochs)


def _sources(node: Group, run: Run, touched: str) -> dict[str, str]:
    """By aggregate the relation of the rows that it reads; with DISTINCT each value once."""
    sources = {}
    for name, aggregate in node.aggregates:
        sources[name] = touched
        if aggregate.distinct:
            seen = _distinct_columns(node, aggregate)
            rows = select(*columns((*seen, *CHANGE)), from_=rows_of(touched))
            # Every end, also the beginning of the state, which is before the range.
            once = ends(presence(rows, seen), seen)
            sources[name] = run.make(run.name(node, f"distinct_{name}"), once)
    return sources


def _distinct_columns(node: Group, aggregate: Aggregate) -> Key:
    if aggregate.argument is None:
        return node.child.variables
    return tuple(dict.fromkeys((*node.keys, aggregate.argument)))


def _segments(node: Group, run: Run, touched: str, sources: Mapping[str, str]) -> exp.Select:
    """Per touched group and segment: how many solutions, and the running sums."""
    kinds = {"solutions": exp.DataType.build("BIGINT")}
    for name, aggregate in node.aggregates:
        kinds |= measures(name, aggregate)
    solutions = select(
        *columns((*node.keys, "epoch")),
        alias(column("weight"), "solutions"),
        from_=rows_of(touched),
    )
    parts = [_padded(node, solutions, "solutions", kinds)]
    for name, aggregate in node.aggregates:
        if aggregate.function in MEASURED:
            measured = events(node.keys, name, aggregate, sources[name])
            parts.append(_padded(node, measured, name, kinds))
    if node.always:
        # The group without keys, of each member, is there from the first epoch on.
        first = run.epochs.start if run.epochs.from_nothing else run.epochs.after
        beginning = select(
            *columns(node.keys),
            alias(number(first), "epoch"),
            from_=rows_of(run.members) if node.keys else None,
        )
        parts.append(_padded(node, beginning, "beginning", kinds))
    return sweep(union_all(parts), node.keys, {name: column(name) for name in kinds}, kinds)


def _padded(
    node: Group, events: exp.Select, name: str, kinds: Mapping[str, exp.DataType]
) -> exp.Select:
    """`events` with all measures; missing ones are zero."""
    has = {selected.alias_or_name for selected in events.selects}
    cells = (
        alias(cast(column(measure) if measure in has else small_number(0), kind), measure)
        for measure, kind in kinds.items()
    )
    return select(*columns((*node.keys, "epoch")), *cells, from_=subquery(events, f"of_{name}"))
