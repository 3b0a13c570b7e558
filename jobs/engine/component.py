"""Component: the sequenced join of a segment's triple patterns over the graph.

At every epoch a segment's solutions are the ordinary join of its patterns on the graph at that
epoch. A solution made of one triple per pattern therefore holds during the intersection of the
triples' intervals:

    intervals(P1 . .. . Pn) = { mu1 + .. + mun | [max since, min until) is not empty }

Its delta in (after, last] comes from solutions with an end in the range; each of them uses a triple
with an end in the range, so the graph may be restricted to what the changes can join with
(`neighbourhood.py`). https://www.w3.org/TR/sparql11-query/#BasicGraphPatternMatching
"""

from __future__ import annotations

from sqlglot import exp

from jobs.compute.sql import column, columns, number, rows_of, select, text
from jobs.engine.conditions import condition_sql
from jobs.engine.relations import EpochRange
from jobs.engine.sweep import differentiate
from jobs.plan.leaves import Component, Scope
from jobs.sparql.algebra.expressions import Constant, Variable
from jobs.sparql.algebra.patterns import TriplePattern

POSITIONS = ("subject", "predicate", "object")


def graph_columns(scope: Scope) -> tuple[str, ...]:
    """The columns of a triple in `scope`: with its graph's name where each graph is by itself."""
    return ("graph", *POSITIONS) if scope.each else POSITIONS


def component_delta(component: Component, graph: str, epochs: EpochRange) -> exp.Select:
    """The log of the segment's solutions within `epochs`, not netted.

    Args:
        component: the segment.
        graph: name of the interval relation (graph columns of the scope, since, until).
        epochs: the range.
    """
    intervals = component_intervals(component, graph)
    ending = exp.or_(column("since") > number(epochs.after), column("until") <= number(epochs.last))
    touched = intervals.where(ending, copy=False)
    return differentiate(touched, component.variables, epochs)


def component_intervals(component: Component, graph: str) -> exp.Select:
    """The interval relation of the segment's solutions; every weight is 1."""
    bound: dict[str, exp.Column] = {}
    joined: exp.Select | None = None
    for number_, pattern in enumerate(component.patterns):
        alias = f"t{number_}"
        conditions = _matches(component, pattern, alias, bound)
        table = rows_of(graph).as_(alias)
        if joined is None:
            joined = select().from_(table, copy=False).where(*conditions, copy=False)
        else:
            joined = joined.join(table, on=exp.and_(*conditions), join_type="inner", copy=False)
    assert joined is not None, "a component has a pattern"
    aliases = [f"t{i}" for i in range(len(component.patterns))]
    since = _extreme("GREATEST", [column("since", alias) for alias in aliases])
    until = _extreme("LEAST", [column("until", alias) for alias in aliases])
    solutions = joined.select(
        *(column_.as_(name, quoted=True) for name, column_ in bound.items()),
        since.as_("since", quoted=True),
        until.as_("until", quoted=True),
        copy=False,
    )
    available = frozenset(component.variables)
    return (
        select(*columns(component.variables), column("since"), column("until"))
        .select(number(1).as_("weight", quoted=True), copy=False)
        .from_(solutions.subquery("solutions", copy=False), copy=False)
        .where(
            column("since") < column("until"),
            *(condition_sql(condition, available) for condition in component.conditions),
            copy=False,
        )
    )


def _matches(
    component: Component, pattern: TriplePattern, alias: str, bound: dict[str, exp.Column]
) -> list[exp.Expr]:
    """Conditions on row `alias` of the graph; adds the variables it binds first to `bound`."""
    conditions: list[exp.Expr] = []
    graph = () if component.graph is None else (Variable(component.graph),)
    places = graph_columns(component.scope)
    for position, node in zip(places, (*graph, *pattern.nodes), strict=True):
        here = column(position, alias)
        match node:
            case Constant(term):
                conditions.append(here.eq(text(term)))
            case Variable(name) if name in bound:
                conditions.append(here.eq(bound[name].copy()))
            case Variable(name):
                bound[name] = here
    return conditions or [exp.true()]


def _extreme(function: str, ends: list[exp.Column]) -> exp.Expr:
    return exp.func(function, *ends) if len(ends) > 1 else ends[0]
