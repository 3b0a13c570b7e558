"""The reference evaluator: the equations of the specification on sets of triples, slowly.

https://www.w3.org/TR/sparql11-query/#sparqlAlgebraEval

It shares no plan, no SQL and no epochs with the engine, and computes patterns, paths, EXISTS and
solution modifiers on its own. It shares the algebra that the front end translates a query to, and
the functions: values of expressions, aggregates and the order of terms. So it does not detect an
error of translation or of a function; these are compared with pyoxigraph and the tests of the W3C
in `tests/sparql`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from tests.support.evaluation import evaluate
from tests.support.generators.basic_cases import Quad
from tests.support.oracles.answers import FALSE, TRUE, Row
from tests.support.oracles.reference_dataset import Graphs
from tests.support.oracles.reference_paths import Triple, pairs
from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable
from weir.sparql.algebra.patterns import (
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
    Service,
    Slice,
    TriplePattern,
    Union,
    Values,
)
from weir.sparql.algebra.queries import Ask, Construct, Query, Select
from weir.sparql.functions.aggregates import aggregate
from weir.sparql.functions.comparisons import effective_boolean_value
from weir.sparql.functions.ordering import composable, sort_key
from weir.sparql.functions.values import parse

Solution = dict[str, str]


class TooLargeError(Exception):
    """A part of a query has more solutions than the caller allows."""


def answers(query: Query, quads: Iterable[Quad], most: float = math.inf) -> list[Solution]:
    """The solutions of a SELECT; of an ASK one empty solution if it is true, else none; of a
    CONSTRUCT a solution per triple, with the variables s, p and o.

    Raises:
        TooLargeError: some part of the query has more than `most` solutions.
    """
    graphs = replace(Graphs.of(quads, query.dataset), most=most)
    mappings = list(_solutions(query.form.pattern, graphs))
    match query.form:
        case Select():
            return mappings
        case Ask():
            return [{}] if mappings else []
        case Construct(template):
            made = {triple for solution in mappings for triple in _instances(template, solution)}
            return [dict(zip("spo", triple, strict=True)) for triple in made]
        case _:
            assert_never(query.form)


def rows(query: Query, quads: Iterable[Quad], columns: Sequence[str]) -> Counter[Row]:
    """The answer as a bag of rows, with the variables `columns` of a SELECT in their order."""
    mappings = answers(query, quads)
    match query.form:
        case Select():
            return Counter(tuple(solution.get(name) for name in columns) for solution in mappings)
        case Ask():
            return Counter({(TRUE if mappings else FALSE,): 1})
        case Construct():
            return Counter({(s["s"], s["p"], s["o"]): 1 for s in mappings})
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
                extended = _extended({}, (subject, object_), pair, graphs)
                if extended is not None:
                    yield extended
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
            # A variable that a subquery does not project is another variable.
            seen = {name: term for name, term in graphs.given.items() if name in variables}
            for solution in _solutions(inner, replace(graphs, given=seen)):
                yield {v: solution[v] for v in variables if v in solution}
        case Distinct(inner):
            unique = {tuple(sorted(s.items())) for s in _solutions(inner, graphs)}
            yield from (dict(items) for items in unique)
        case Reduced(inner):
            yield from _solutions(inner, graphs)
        case Service():
            raise ValueError("what a remote has is not known: give its mappings as inline data")
        case _:
            assert_never(pattern)


def _bgp(patterns: tuple[TriplePattern, ...], graphs: Graphs) -> list[Solution]:
    mappings: list[Solution] = [{}]
    for wanted in patterns:
        mappings = [
            extended
            for solution in mappings
            for triple in graphs.active
            if (extended := _extended(solution, wanted.nodes, triple, graphs)) is not None
        ]
        if len(mappings) > graphs.most:
            raise TooLargeError
    return mappings


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
            mappings = _solutions(inner, replace(graphs, active=triples))
            bound = {name.name: graph} if isinstance(name, Variable) else {}
            yield from _merged(bound, mappings)


def _extend(pattern: Extend, graphs: Graphs) -> Iterator[Solution]:
    """Adjacent Extends are evaluated for one solution: BNODE("x") is the same node in all."""
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
        group = dict(zip(pattern.variables, key, strict=True))
        for name, wanted in pattern.aggregates:
            group[name] = _aggregated(wanted, members, graphs)
        yield {name: term for name, term in group.items() if term is not None}


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
    variables first, by the variables' names.
    """
    mappings = list(_solutions(pattern.pattern, graphs))
    bound = {name for solution in mappings for name in solution}
    names = sorted(bound, key=lambda name: (name.startswith("_:"), name))

    def place(solution: Solution) -> tuple[list[str], list[str]]:
        keys = [
            composable(
                sort_key(_value(key.expression, solution, graphs)), descending=key.descending
            )
            for key in pattern.keys
        ]
        return keys, [solution.get(name, "") for name in names]

    ordered = sorted(mappings, key=place)
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
    """`expression` with each EXISTS replaced by its value, and BNODE given its seed."""
    match expression:
        case Exists(pattern):
            given = {**graphs.given, **solution}
            mappings = _solutions(pattern, replace(graphs, given=given))
            exists = any(True for _ in _compatible(given, mappings))
            return Constant(TRUE if exists else FALSE)
        case Call(function, arguments):
            decided = tuple(_decided(part, solution, graphs, seed) for part in arguments)
            if function == "BNODE":
                decided = (Constant(json.dumps(seed)), *decided)
            return Call(function, decided)
        case Variable() | Constant():
            return expression
        case _:
            assert_never(expression)


def _instances(template: Iterable[TriplePattern], solution: Solution) -> Iterator[Triple]:
    """The triples of a template, without those that lack a value or are not RDF triples."""
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
