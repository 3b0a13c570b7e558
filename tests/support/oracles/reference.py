"""SPARQL evaluated by the book: what the algebra means, slowly and in few lines.

https://www.w3.org/TR/sparql11-query/#sparqlAlgebraEval
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from jobs.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable
from jobs.sparql.algebra.patterns import (
    Aggregate,
    Bgp,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    Node,
    PathPattern,
    Pattern,
    Project,
    Reduced,
    Slice,
    TriplePattern,
    Union,
    Values,
)
from jobs.sparql.algebra.queries import Ask, Construct, Dataset, Query, Select
from jobs.sparql.algebra.scoping import in_scope
from jobs.sparql.functions.aggregates import aggregate
from jobs.sparql.functions.comparisons import effective_boolean_value
from jobs.sparql.functions.evaluate import evaluate
from jobs.sparql.functions.ordering import composable, sort_key
from jobs.sparql.functions.values import parse
from tests.support.oracles.reference_paths import Triple, pairs

Solution = dict[str, str]
Quad = tuple[str, str, str, str]
"""Graph (empty: the unnamed one), subject, predicate, object."""

_TRUE, _FALSE = (
    f'"{word}"^^<http://www.w3.org/2001/XMLSchema#boolean>' for word in ("true", "false")
)


class TooLargeError(Exception):
    """A pattern has more solutions than the caller wants to wait for."""


@dataclass(frozen=True)
class Graphs:
    """Where a pattern is evaluated.

    Attributes:
        active: the triples that patterns match.
        named: the named graphs that GRAPH looks in.
        given: the solution that an EXISTS is evaluated for; its variables have these values in
            every triple pattern, path and expression of the pattern.
        most: the most solutions that any part of a pattern may have.
    """

    active: frozenset[Triple]
    named: Mapping[str, frozenset[Triple]]
    given: Mapping[str, str]
    most: float = math.inf

    @classmethod
    def of(cls, quads: Iterable[Quad], dataset: Dataset = Dataset()) -> Graphs:  # noqa: B008
        """The graphs of a dataset; a graph without triples is there if FROM NAMED names it."""
        found: dict[str, set[Triple]] = {}
        for graph, *triple in quads:
            s, p, o = triple
            found.setdefault(graph, set()).add((s, p, o))
        if dataset.from_graphs is not None:
            merged: Iterable[str] = dataset.from_graphs
        else:
            merged = found if dataset.default_graph == "union" else [""]
        names = (
            [graph for graph in found if graph]
            if dataset.named_graphs is None
            else dataset.named_graphs
        )
        return cls(
            frozenset(triple for graph in merged for triple in found.get(graph, ())),
            {name: frozenset(found.get(name, ())) for name in names},
            {},
        )


def answers(query: Query, quads: Iterable[Quad], most: float = math.inf) -> list[Solution]:
    """The solutions of a SELECT; of an ASK one empty solution if it is true, else none; of a
    CONSTRUCT a solution per triple.

    Raises:
        TooLargeError: some part of the query has more than `most` solutions.
    """
    graphs = replace(Graphs.of(quads, query.dataset), most=most)
    found = list(_solutions(query.form.pattern, graphs))
    match query.form:
        case Select():
            return found
        case Ask():
            return [{}] if found else []
        case Construct(template):
            made = {triple for solution in found for triple in _instances(template, solution)}
            return [dict(zip("spo", triple, strict=True)) for triple in made]
        case _:
            assert_never(query.form)


def solutions(pattern: Pattern, triples: Iterable[Triple]) -> list[Solution]:
    """The solutions of `pattern` over a set of triples, as a bag."""
    return list(_solutions(pattern, Graphs.of(("", *triple) for triple in triples)))


def _solutions(pattern: Pattern, graphs: Graphs) -> Iterator[Solution]:
    for number, solution in enumerate(_unbounded(pattern, graphs)):
        if number >= graphs.most:
            raise TooLargeError
        yield solution


def _unbounded(pattern: Pattern, graphs: Graphs) -> Iterator[Solution]:
    match pattern:
        case Bgp(patterns):
            yield from _bgp(patterns, graphs)
        case PathPattern(subject, path, object_):
            ends = [_known(node, graphs) for node in (subject, object_)]
            for pair in pairs(path, graphs.active, *ends):
                found = _extended({}, (subject, object_), pair, graphs)
                if found is not None:
                    yield found
        case Values(variables, rows):
            bound = [
                {v: t for v, t in zip(variables, row, strict=True) if t is not None} for row in rows
            ]
            yield from _compatible(dict(graphs.given), bound)
        case Join(left, right):
            others = list(_solutions(right, graphs))
            for solution in _solutions(left, graphs):
                yield from _merged(solution, others)
        case LeftJoin(left, right, condition):
            others = list(_solutions(right, graphs))
            for solution in _solutions(left, graphs):
                matches = [
                    merged
                    for merged in _merged(solution, others)
                    if condition is None or _holds(condition, merged, graphs)
                ]
                yield from matches or [solution]
        case Union(left, right):
            yield from _solutions(left, graphs)
            yield from _solutions(right, graphs)
        case Minus(left, right):
            others = list(_solutions(right, graphs))
            for solution in _solutions(left, graphs):
                if not any(o.keys() & solution.keys() for o in _compatible(solution, others)):
                    yield solution
        case Graph(name, inner):
            yield from _graph(name, inner, graphs)
        case Extend():
            yield from _extend(pattern, graphs)
        case Group():
            yield from _group(pattern, graphs)
        case Slice():
            yield from _slice(pattern, graphs)
        case Filter(condition, inner):
            yield from (s for s in _solutions(inner, graphs) if _holds(condition, s, graphs))
        case Project(variables, inner):
            # A variable of a subquery that it does not project is another one.
            seen = {name: term for name, term in graphs.given.items() if name in variables}
            for solution in _solutions(inner, replace(graphs, given=seen)):
                yield {v: solution[v] for v in variables if v in solution}
        case Distinct(inner):
            unique = {tuple(sorted(s.items())) for s in _solutions(inner, graphs)}
            yield from (dict(items) for items in unique)
        case Reduced(inner):
            yield from _solutions(inner, graphs)
        case _:
            assert_never(pattern)


def _bgp(patterns: tuple[TriplePattern, ...], graphs: Graphs) -> list[Solution]:
    found: list[Solution] = [{}]
    for wanted in patterns:
        found = [
            extended
            for solution in found
            for triple in graphs.active
            if (extended := _extended(solution, wanted.nodes, triple, graphs)) is not None
        ]
        if len(found) > graphs.most:
            raise TooLargeError
    return found


def _known(node: Node, graphs: Graphs) -> str | None:
    return graphs.given.get(node.name) if isinstance(node, Variable) else node.term


def _extended(
    solution: Solution, nodes: Iterable[Node], terms: Iterable[str], graphs: Graphs
) -> Solution | None:
    extended = dict(solution)
    for node, term in zip(nodes, terms, strict=True):
        if _known(node, graphs) not in (None, term):
            return None
        if isinstance(node, Variable) and extended.setdefault(node.name, term) != term:
            return None
    return extended


def _compatible(solution: Solution, others: Iterable[Solution]) -> Iterator[Solution]:
    for other in others:
        if all(other.get(name, term) == term for name, term in solution.items()):
            yield other


def _merged(solution: Solution, others: Iterable[Solution]) -> Iterator[Solution]:
    return (solution | other for other in _compatible(solution, others))


def _graph(name: Node, inner: Pattern, graphs: Graphs) -> Iterator[Solution]:
    wanted = _known(name, graphs)
    for graph, triples in graphs.named.items():
        if wanted in (None, graph):
            found = _solutions(inner, replace(graphs, active=triples))
            bound = {name.name: graph} if isinstance(name, Variable) else {}
            yield from _merged(bound, found)


def _extend(pattern: Extend, graphs: Graphs) -> Iterator[Solution]:
    """The Extends of one group see one solution: BNODE("x") is the same node in all of them."""
    steps: list[Extend] = []
    inner: Pattern = pattern
    while isinstance(inner, Extend):
        steps.insert(0, inner)
        inner = inner.pattern
    for solution in _solutions(inner, graphs):
        extended = dict(solution)
        for step in steps:
            value = _value(step.expression, extended, graphs, seed=solution)
            if value is not None:
                extended[step.variable] = value
        yield extended


def _group(pattern: Group, graphs: Graphs) -> Iterator[Solution]:
    groups: dict[tuple[str | None, ...], list[Solution]] = {} if pattern.variables else {(): []}
    for solution in _solutions(pattern.pattern, graphs):
        key = tuple(solution.get(name) for name in pattern.variables)
        groups.setdefault(key, []).append(solution)
    for key, members in groups.items():
        found = dict(zip(pattern.variables, key, strict=True))
        for name, wanted in pattern.aggregates:
            found[name] = _aggregated(wanted, members, graphs)
        yield {name: term for name, term in found.items() if term is not None}


def _aggregated(wanted: Aggregate, members: list[Solution], graphs: Graphs) -> str | None:
    values: Counter[str | None]
    if wanted.argument is None:
        values = Counter(_text(solution) for solution in members)
        values = Counter({f'"{number}"': count for number, count in enumerate(values.values())})
    else:
        values = Counter(_value(wanted.argument, solution, graphs) for solution in members)
    if wanted.distinct:
        values = Counter(dict.fromkeys(values, 1))
    return aggregate(wanted.function, list(values.items()), wanted.separator)


def _slice(pattern: Slice, graphs: Graphs) -> list[Solution]:
    """Solutions that are equal in all keys are in the order of their terms, those of visible
    variables first, each by the variable's name.
    """
    names = sorted(in_scope(pattern.pattern), key=lambda name: (name.startswith("_:"), name))

    def place(solution: Solution) -> tuple[list[str], list[str]]:
        keys = [
            composable(
                sort_key(_value(key.expression, solution, graphs)), descending=key.descending
            )
            for key in pattern.keys
        ]
        return keys, [solution.get(name, "") for name in names]

    ordered = sorted(_solutions(pattern.pattern, graphs), key=place)
    end = None if pattern.limit is None else pattern.offset + pattern.limit
    return ordered[pattern.offset : end]


def _holds(condition: Expression, solution: Solution, graphs: Graphs) -> bool:
    term = _value(condition, solution, graphs)
    return term is not None and effective_boolean_value(parse(term)) is True


def _value(
    expression: Expression, solution: Solution, graphs: Graphs, seed: Solution | None = None
) -> str | None:
    decided = _decided(expression, solution, graphs, _text(solution if seed is None else seed))
    return evaluate(decided, {**graphs.given, **solution})


def _decided(expression: Expression, solution: Solution, graphs: Graphs, seed: str) -> Expression:
    """`expression` with EXISTS decided, and the seed of BNODE filled in."""
    match expression:
        case Exists(pattern):
            given = {**graphs.given, **solution}
            found = _solutions(pattern, replace(graphs, given=given))
            exists = any(True for _ in _compatible(given, found))
            return Constant(_TRUE if exists else _FALSE)
        case Call(function, arguments):
            decided = tuple(_decided(part, solution, graphs, seed) for part in arguments)
            if function == "BNODE":
                decided = (Constant(json.dumps(seed)), *decided)
            return Call(function, decided)
        case _:
            return expression


def _instances(template: Iterable[TriplePattern], solution: Solution) -> Iterator[Triple]:
    """The triples of a template; one that lacks a value or is no triple is left out."""
    for pattern in template:
        s, p, o = (_instance(node, solution) for node in pattern.nodes)
        if s and p and o and not s.startswith('"') and p.startswith("<"):
            yield s, p, o


def _instance(node: Node, solution: Solution) -> str | None:
    if isinstance(node, Constant):
        return node.term
    if node.name.startswith("_:") and node.name not in solution:
        return f"{node.name}{_text(solution)}"
    return solution.get(node.name)


def _text(solution: Mapping[str, str]) -> str:
    return hashlib.md5(json.dumps(sorted(solution.items())).encode()).hexdigest()
