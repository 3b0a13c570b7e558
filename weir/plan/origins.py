"""Where the terms of columns come from: the positions of the patterns that bind them.

    SELECT ?title (COUNT(*) AS ?n) { ?x :title ?title ; :room ?room } GROUP BY ?title

    ?title   the object of :title, as it is
    ?n       aggregates the subjects and objects of :title and :room

Each node adds to what its children have; a term that two patterns bind is of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, assert_never

from weir.plan import leaves, operators
from weir.plan.leaves import Component
from weir.plan.nodes import shared
from weir.plan.operators import PlanNode, walk
from weir.plan.plan import Plan
from weir.plan.scope import Scope
from weir.sparql.algebra.expressions import Call, Constant, Expression, Variable
from weir.sparql.algebra.patterns import TriplePattern
from weir.sparql.algebra.scoping import variables_of
from weir.sparql.recursion import deep_recursion

Position = Literal["graph", "subject", "predicate", "object", "instant"]
POSITIONS: Final[tuple[Position, ...]] = ("subject", "predicate", "object")
How = Literal["identity", "transformation", "aggregation"]
_ORDER: Final[tuple[How, ...]] = ("identity", "transformation", "aggregation")
"""Of two steps, the later one in this order says what they are together."""
Decision = Literal["filter", "join", "group by", "sort"]


@dataclass(frozen=True, slots=True)
class Origin:
    """One of the places that a column takes terms from.

    Attributes:
        how: as they are; by an expression; or by an aggregate of several.
        scope: which triples; None if the text of the definition has the term itself.
        position: of the triples, or of the event that has them; None without a scope.
        predicate: of the triples, in N-Triples form; None for any.
    """

    how: How
    scope: Scope | None = None
    position: Position | None = None
    predicate: str | None = None


Of = frozenset[Origin]
Columns = Mapping[str, Of]
WRITTEN: Final[Of] = frozenset({Origin("identity")})
"""Of a term that is in the text."""
MADE: Final[Of] = frozenset({Origin("transformation")})
"""Of a term that is made of nothing that is read, such as a blank node of a template."""
_NOTHING: Final[Of] = frozenset()


@dataclass(frozen=True, slots=True)
class Origins:
    """Where an answer comes from.

    Attributes:
        columns: by published column, where its terms come from.
        decisions: what decides which rows there are, without a term in them.
        elements: the same as `columns` of the stream that is made of the answer, where that has
            other columns; None if it has the same.
    """

    columns: Columns
    decisions: frozenset[tuple[Decision, Origin]] = frozenset()
    elements: Columns | None = None


@deep_recursion()
def origins(plan: Plan) -> Origins:
    """Where the answer of a plan comes from."""
    of = _ByNode()
    columns = of(plan.root)
    decisions = (decision for node in walk(plan.root) for decision in _decisions(node, of))
    return Origins({name: columns[own] for name, own in plan.columns}, frozenset(decisions))


def by(how: How, origins: Iterable[Origin]) -> Of:
    """What is made of terms by one more step."""
    ranks = {step: rank for rank, step in enumerate(_ORDER)}
    return frozenset(replace(one, how=max(one.how, how, key=ranks.__getitem__)) for one in origins)


def of_expression(expression: Expression, columns: Columns) -> Of:
    """Where the values of an expression come from."""
    match expression:
        case Variable(name):
            return columns.get(name, _NOTHING)
        case Constant():
            return WRITTEN
        case Call("COALESCE", arguments):
            return _NOTHING.union(*(of_expression(part, columns) for part in arguments))
        case _:
            return by("transformation", _of_variables(expression, columns)) or MADE


def of_pattern(triple: TriplePattern, scope: Scope) -> Iterator[tuple[str, Origin]]:
    """The variables of a triple pattern, each with where its terms are."""
    predicate = triple.predicate.term if isinstance(triple.predicate, Constant) else None
    for position, node in zip(POSITIONS, triple.nodes, strict=True):
        if isinstance(node, Variable):
            yield node.name, Origin("identity", scope, position, predicate)


class _ByNode:
    """The columns of nodes, each node once however many read it."""

    def __init__(self) -> None:
        self._known: dict[PlanNode, Columns] = {}

    def __call__(self, node: PlanNode) -> Columns:
        if node not in self._known:
            self._known[node] = _columns(node, self)
        return self._known[node]


def _columns(node: PlanNode, of: _ByNode) -> Columns:
    match node:
        case Component():
            return _of_component(node)
        case leaves.Values(variables):
            return dict.fromkeys(variables, WRITTEN)
        case (
            operators.Product()
            | operators.Join()
            | operators.LeftJoin()
            | operators.Union()
            | operators.Filter()
            | operators.Distinct()
            | operators.Slice()
        ):
            return _merged(map(of, node.children))
        case operators.SemiJoin(left) | operators.AntiJoin(left):
            return of(left)
        case operators.MarkJoin(left, right, flag):
            return {**of(left), flag: _counted(right)}
        case operators.Extend(variable, expression, child):
            return {**of(child), variable: of_expression(expression, of(child))}
        case operators.Project(variables, child):
            return {name: of(child).get(name, _NOTHING) for name in variables}
        case operators.Group(keys, aggregates, child):
            made = {name: _aggregated(one, child, of) for name, one in aggregates}
            return {**{name: of(child).get(name, _NOTHING) for name in keys}, **made}
        case operators.Closure(_, _, child):
            return {name: of(child)[name] for name in node.variables}
        case operators.Ask(variable, child):
            return {variable: _counted(child)}
        case operators.Instantiate():
            return _of_template(node, of(node.child))
        case _:
            assert_never(node)


def _of_component(node: Component) -> Columns:
    graph = {} if node.graph is None else {node.graph: {Origin("identity", node.scope, "graph")}}
    columns: dict[str, set[Origin]] = graph
    for triple in node.patterns:
        for name, origin in of_pattern(triple, node.scope):
            columns.setdefault(name, set()).add(origin)
    return {name: frozenset(own) for name, own in columns.items()}


def _merged(parts: Iterable[Columns]) -> Columns:
    merged: dict[str, Of] = {}
    for part in parts:
        for name, own in part.items():
            merged[name] = merged.get(name, _NOTHING) | own
    return merged


def _aggregated(aggregate: operators.Aggregate, child: PlanNode, of: _ByNode) -> Of:
    if aggregate.argument is None:
        return _counted(child)
    return by("aggregation", of(child).get(aggregate.argument, _NOTHING))


def _counted(node: PlanNode) -> Of:
    """What is aggregated where solutions are counted: all that the patterns below bind, and of a
    pattern without variables its terms.
    """
    counted = set[Origin]()
    for leaf in (below for below in walk(node) if isinstance(below, Component)):
        bound = [origin for own in _of_component(leaf).values() for origin in own]
        terms = [triple.predicate for triple in leaf.patterns if not bound]
        named = (term.term for term in terms if isinstance(term, Constant))
        bound += [Origin("identity", leaf.scope, p, term) for term in named for p in POSITIONS]
        counted.update(bound)
    return by("aggregation", counted)


def _of_template(node: operators.Instantiate, columns: Columns) -> Columns:
    def of(term: Constant | Variable) -> Of:
        if isinstance(term, Constant):
            return WRITTEN
        return MADE if term.name in node.blank_nodes else columns.get(term.name, _NOTHING)

    by_position = zip(*(triple.nodes for triple in node.template), strict=True)
    return {
        target: _NOTHING.union(*map(of, terms))
        for target, terms in zip(node.targets, by_position, strict=False)
    }


def _decisions(node: PlanNode, of: _ByNode) -> Iterator[tuple[Decision, Origin]]:
    """What decides at a node which solutions there are."""
    for decision, names in _deciding(node):
        columns = _merged(map(of, node.children)) if node.children else of(node)
        for name in names:
            for origin in columns.get(name, _NOTHING):
                if origin.scope is not None:
                    yield decision, origin


def _deciding(node: PlanNode) -> Iterator[tuple[Decision, Iterable[str]]]:
    match node:
        case Component():
            names = [name for triple in node.patterns for name in triple.variables]
            yield "join", {name for name in names if names.count(name) > 1}
            for condition in node.conditions:
                yield "filter", variables_of(condition)
        case operators.Filter(condition):
            yield "filter", variables_of(condition)
        case operators.Join() | operators.LeftJoin():
            yield "join", shared(node.left, node.right)
        case operators.SemiJoin() | operators.AntiJoin():
            yield "filter", shared(node.left, node.right)
        case operators.Group(keys):
            yield "group by", keys
        case operators.Slice(keys):
            yield "sort", [key.column for key in keys]
        case _:
            pass
    if isinstance(node, operators.LeftJoin | operators.SemiJoin | operators.AntiJoin):
        yield "filter", frozenset() if node.condition is None else variables_of(node.condition)


def _of_variables(expression: Expression, columns: Columns) -> Of:
    names = sorted(variables_of(expression))
    return _NOTHING.union(*(columns.get(name, _NOTHING) for name in names))
