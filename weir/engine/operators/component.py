"""Component: the sequenced join of a segment's triple patterns over the graph.

At every epoch a segment's solutions are the ordinary join of its patterns on the graph at that
epoch. A solution made of one triple per pattern therefore holds during the intersection of the
triples' intervals:

    intervals(P1 . .. . Pn) = { mu1 + .. + mun | [max since, min until) is not empty }

Its delta in (after, last] comes from solutions with an end in the range; each of them uses a triple
with an end in the range, so the graph may be restricted to what the changes can join with
(`neighbourhood.py`). In the plan of a group the members are one more relation of the join: a
parameter is the member's value. https://www.w3.org/TR/sparql11-query/#BasicGraphPatternMatching
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from weir.compute.sql import (
    alias,
    all_of,
    any_of,
    bigint,
    column,
    columns,
    greatest,
    inner_join,
    least,
    number,
    rows_of,
    select,
    subquery,
    text,
)
from weir.engine.conditions import condition_sql
from weir.engine.graph import graph_columns
from weir.engine.relations import INTERVAL
from weir.engine.run import Run
from weir.engine.sweep import differentiate
from weir.plan.leaves import MEMBER, Component, MemberComponent
from weir.plan.parameters import column_of, is_parameter, parameters_of
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import TriplePattern

_MEMBERS = "m"
"""The alias of the members relation."""


def delta(node: Component, run: Run) -> exp.Select:
    """The solutions with an end in the range."""
    epochs = run.epochs
    if run.is_state(node):
        return _state(node, run)
    has_end = any_of(
        [column("since") > number(epochs.after), column("until") <= number(epochs.last)]
    )
    touched = _intervals(node, run, has_end)
    return differentiate(touched, node.variables, epochs)


def _state(node: Component, run: Run) -> exp.Select:
    """The solutions at the only epoch, each once: neither ends nor sums are to be looked for."""
    epoch = number(run.epochs.last)
    holds = all_of([column("since") <= epoch, column("until") > epoch.copy()])
    return select(
        *columns(node.variables),
        alias(epoch.copy(), "epoch"),
        alias(bigint(number(1)), "weight"),
        from_=subquery(_intervals(node, run, holds), "held"),
    )


def _intervals(component: Component, run: Run, condition: exp.Expr) -> exp.Select:
    """The intervals of the segment's solutions for which `condition` holds; every weight is 1."""
    graph = run.inputs.graphs[component.scope]
    bound: dict[str, exp.Column] = {}
    aliases = [f"t{number_}" for number_ in range(len(component.patterns))]
    relations: list[tuple[exp.Expr, list[exp.Expr]]] = []
    if isinstance(component, MemberComponent):
        bound[MEMBER] = column(MEMBER, _MEMBERS)
        relations.append((rows_of(run.members, _MEMBERS), []))
    relations += [
        (rows_of(graph, name), _matches(component, pattern, name, bound))
        for name, pattern in zip(aliases, component.patterns, strict=True)
    ]
    (first, on_first), *others = relations
    solutions = select(
        *(alias(value.copy(), name) for name, value in bound.items()),
        *columns(parameters_of(component.conditions), _MEMBERS),
        alias(greatest(*(column("since", t) for t in aliases)), "since"),
        alias(least(*(column("until", t) for t in aliases)), "until"),
        from_=first,
        joins=[inner_join(table, *on) for table, on in others],
        where=on_first,
    )
    available = frozenset(component.variables)
    return select(
        *columns((*component.variables, *INTERVAL)),
        alias(number(1), "weight"),
        from_=subquery(solutions, "solutions"),
        where=[
            column("since") < column("until"),
            *(condition_sql(expression, available) for expression in component.conditions),
            condition,
        ],
    )


def _matches(
    component: Component, pattern: TriplePattern, table: str, bound: dict[str, exp.Column]
) -> list[exp.Expr]:
    """Conditions on row `table` of the graph; adds the variables it binds first to `bound`."""
    conditions: list[exp.Expr] = []
    graph = () if component.graph is None else (Variable(component.graph),)
    places = graph_columns(component.scope)
    for position, node in zip(places, (*graph, *pattern.nodes), strict=True):
        here = column(position, table)
        match node:
            case Constant(term) if is_parameter(term):
                conditions.append(here.eq(column(column_of(term), _MEMBERS)))
            case Constant(term):
                conditions.append(here.eq(text(term)))
            case Variable(name) if name in bound:
                conditions.append(here.eq(bound[name]))
            case Variable(name):
                bound[name] = here
            case _:
                assert_never(node)
    return conditions or [exp.true()]
