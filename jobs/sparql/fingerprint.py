"""A fingerprint of what a query answers, whatever its prefixes, comments, order and labels."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import assert_never

from jobs.sparql.algebra import (
    Ask,
    Bgp,
    Construct,
    Dataset,
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
    Query,
    Reduced,
    Select,
    Slice,
    TriplePattern,
    Union,
    Values,
)
from jobs.sparql.blank_names import Atom, blank_names
from jobs.sparql.expressions import Call, Constant, Exists, Expression, Variable
from jobs.sparql.paths import (
    Alternative,
    Closure,
    Inverse,
    Link,
    Negated,
    Path,
    Sequence,
    ZeroOrOne,
)

_Json = str | int | None | list["_Json"]
_Names = dict[str, str]


def fingerprint(query: Query) -> str:
    """SHA-256 of `normal_form`, hexadecimal."""
    return hashlib.sha256(normal_form(query).encode()).hexdigest()


def normal_form(query: Query) -> str:
    """The same text for queries that differ only in prefixes, white space, comments, the order of
    triple patterns, filters and rows of VALUES, blank node labels and presentation.

    Equal text means equal answers. The converse is not promised: a renamed variable is another
    query.
    """
    pattern = query.form.pattern
    # First with the labels as they are, to see where the blank nodes stand.
    atoms = list(_atoms(_pattern(pattern, {}), ""))
    match query.form:
        case Select(_, variables):
            names = blank_names(atoms)
            form: list[_Json] = ["SELECT", [*variables], _pattern(pattern, names)]
        case Ask():
            form = ["ASK", _pattern(pattern, blank_names(atoms))]
        case Construct(template, _):
            # A blank node of the template never occurs in the pattern.
            names = blank_names([*atoms, *_atoms(["BGP", *_bgp(template, {})], "template")])
            form = ["CONSTRUCT", _bgp(template, names), _pattern(pattern, names)]
        case _:
            assert_never(query.form)
    return json.dumps([_dataset(query.dataset), form], ensure_ascii=False)


def _dataset(dataset: Dataset) -> _Json:
    given = dataset.from_graphs
    return [
        dataset.default_graph if given is None else _set(given),
        _set(dataset.named_graphs),
    ]


def _pattern(pattern: Pattern, names: _Names) -> list[_Json]:
    match pattern:
        case Bgp(patterns):
            return ["BGP", *_bgp(patterns, names)]
        case PathPattern(subject, path, object_):
            return ["PATH", _node(subject, names), _path(path), _node(object_, names)]
        case Values(variables, rows):
            given: list[list[_Json]] = sorted(([*row] for row in rows), key=json.dumps)
            return ["VALUES", [*variables], [*given]]
        case Join(left, right):
            return ["JOIN", _pattern(left, names), _pattern(right, names)]
        case LeftJoin(left, right, condition):
            test = None if condition is None else _expression(condition, names)
            return ["LEFTJOIN", _pattern(left, names), _pattern(right, names), test]
        case Union(left, right):
            return ["UNION", _pattern(left, names), _pattern(right, names)]
        case Minus(left, right):
            return ["MINUS", _pattern(left, names), _pattern(right, names)]
        case Graph(name, inner):
            return ["GRAPH", _node(name, names), _pattern(inner, names)]
        case Extend(inner, variable, expression):
            return ["EXTEND", _pattern(inner, names), variable, _expression(expression, names)]
        case Group():
            return _group(pattern, names)
        case Slice(inner, keys, offset, limit):
            order: list[_Json] = [
                ["DESC" if key.descending else "ASC", _expression(key.expression, names)]
                for key in keys
            ]
            return ["SLICE", _pattern(inner, names), order, offset, limit]
        case Filter():
            return _filters(pattern, names)
        case Project(variables, inner):
            return ["PROJECT", [*sorted(variables)], _pattern(inner, names)]
        case Distinct(inner):
            return ["DISTINCT", _pattern(inner, names)]
        case Reduced(inner):
            return _pattern(inner, names)
        case _:
            assert_never(pattern)


def _filters(pattern: Pattern, names: _Names) -> list[_Json]:
    conditions: list[_Json] = []
    while isinstance(pattern, Filter):
        conditions.append(_expression(pattern.condition, names))
        pattern = pattern.pattern
    return ["FILTER", sorted(conditions, key=json.dumps), _pattern(pattern, names)]


def _group(group: Group, names: _Names) -> list[_Json]:
    aggregates: list[_Json] = [
        [
            name,
            aggregate.function,
            None if aggregate.argument is None else _expression(aggregate.argument, names),
            "DISTINCT" if aggregate.distinct else "ALL",
            aggregate.separator,
        ]
        for name, aggregate in group.aggregates
    ]
    return ["GROUP", [*sorted(group.variables)], aggregates, _pattern(group.pattern, names)]


def _bgp(patterns: Iterable[TriplePattern], names: _Names) -> list[_Json]:
    triples = {tuple(_node(node, names) for node in pattern.nodes) for pattern in patterns}
    return [[*triple] for triple in sorted(triples)]


def _node(node: Node, names: _Names) -> str:
    if isinstance(node, Constant):
        return node.term
    return names.get(node.name, node.name if node.name.startswith("_:") else f"?{node.name}")


def _path(path: Path) -> _Json:
    match path:
        case Link(predicate):
            return predicate
        case Inverse(inner):
            return ["^", _path(inner)]
        case Sequence(first, second):
            return ["/", _path(first), _path(second)]
        case Alternative(left, right):
            return ["|", _path(left), _path(right)]
        case Negated(forward, inverse):
            return ["!", _set(forward), _set(inverse)]
        case ZeroOrOne(inner):
            return ["?", _path(inner)]
        case Closure(inner, minimum):
            return ["+" if minimum else "*", _path(inner)]
        case _:
            assert_never(path)


def _set(predicates: tuple[str, ...] | None) -> _Json:
    return None if predicates is None else [*sorted(predicates)]


def _expression(expression: Expression, names: _Names) -> _Json:
    match expression:
        case Variable() | Constant():
            return _node(expression, names)
        case Call(function, arguments):
            return [function, *(_expression(argument, names) for argument in arguments)]
        case Exists(pattern):
            return ["EXISTS", _pattern(pattern, names)]
        case _:
            assert_never(expression)


def _atoms(form: _Json, place: str) -> Iterator[Atom]:
    """The triple patterns and paths of a pattern as JSON; `place` leads there from its root.

    What has no order, triple patterns and filters, has one place.
    """
    match form:
        case ["BGP", *triples]:
            for triple in triples:
                assert isinstance(triple, list), "a triple"
                yield Atom(place, tuple(str(node) for node in triple))
        case ["PATH", subject, path, object_]:
            yield Atom(f"{place} {json.dumps(path)}", (str(subject), str(object_)))
        case ["FILTER", list(conditions), inner]:
            for condition in conditions:
                yield from _atoms(condition, f"{place}f")
            yield from _atoms(inner, f"{place}i")
        case list(parts):
            for number, part in enumerate(parts):
                yield from _atoms(part, f"{place}.{number}")
        case _:
            pass
