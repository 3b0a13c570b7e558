"""Plans as JSON and back: values of a fixed set of classes, checked against their annotations.

A node is stored once, after the nodes that it reads, and named by its position, because several
nodes may read one. Every other value is an array: the name of its class, then its fields. Decoding
runs no code but the constructors of these classes, and accepts only what `encoded` writes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from weir.plan.operators import Aggregate, PlanNode, SortKey
from weir.plan.plan import Plan
from weir.plan.scope import Scope
from weir.sparql.algebra.expressions import Call, Constant, Variable
from weir.sparql.algebra.patterns import TriplePattern
from weir.sparql.recursion import deep_recursion

_Value = Scope | Aggregate | SortKey | TriplePattern | Variable | Constant | Call
"""What the fields of nodes hold, but for nodes, strings, numbers and truth values."""
_Part = PlanNode | _Value
_NODES: tuple[type, ...] = get_args(PlanNode)
_VALUES: tuple[type, ...] = get_args(_Value)

_Json: TypeAlias = Any
_Decode = Callable[[_Json, Sequence[PlanNode]], Any]
"""From JSON, and the nodes before it, to a value; any of `_REFUSED` if it is something else."""
_REFUSED = (TypeError, ValueError, LookupError, RecursionError)


class NotAPlan(Exception):  # noqa: N818  (named after what is wrong)
    """The text does not hold a plan as this version writes it."""


@deep_recursion()
def encoded(plan: Plan) -> str:
    """A plan as JSON text.

    Raises:
        TypeError: the plan holds a value of another class.
    """
    numbers: dict[PlanNode, int] = {}
    nodes: list[_Json] = []

    def add(node: PlanNode) -> None:
        if node not in numbers:
            for child in node.children:
                add(child)
            nodes.append(_array(node, numbers))
            numbers[node] = len(numbers)

    for node in (plan.root, *(keys for _, keys in plan.asked)):
        add(node)
    asked = [[pattern, numbers[node]] for pattern, node in plan.asked]
    parts = [
        [nodes, numbers[plan.root], asked],
        plan.names,
        plan.columns,
        plan.is_set,
        plan.allow_product,
    ]
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


@deep_recursion()
def decoded(text: str) -> Plan:
    """The plan that `encoded` was given.

    Raises:
        NotAPlan: the text is anything else.
    """
    try:
        (encoded_nodes, *roots), *parts = json.loads(text)
        nodes: list[PlanNode] = []
        node = _instance(_NODES)
        for encoded_node in encoded_nodes:
            nodes.append(node(encoded_node, nodes))
        root, asked = _fixed(_ROOTS)(roots, nodes)
        names, columns, is_set, allow_product = _fixed(_PARTS)(parts, nodes)
        return Plan(root, names, columns, is_set, allow_product, asked)
    except _REFUSED as error:
        raise NotAPlan(f"{type(error).__name__}: {error}") from error


def _array(value: object, numbers: Mapping[PlanNode, int]) -> list[_Json]:
    if not isinstance(value, _Part):
        raise TypeError(f"a plan does not hold a {type(value).__name__}")
    return [type(value).__name__, *(_plain(getattr(value, f.name), numbers) for f in fields(value))]


def _plain(value: object, numbers: Mapping[PlanNode, int]) -> _Json:
    match value:
        case None | bool() | int() | str():
            return value
        case tuple():
            return [_plain(item, numbers) for item in value]
        case frozenset():
            return sorted(value)
        case _ if isinstance(value, PlanNode):
            return numbers[value]
        case _:
            return _array(value, numbers)


@cache
def _decoder(annotation: Any) -> _Decode:
    """What decodes the values of an annotation."""
    arguments = get_args(annotation)
    match get_origin(annotation):
        case None if annotation in {str, int, bool, NoneType}:
            return _exactly(annotation)
        case None:
            return _one_of([annotation])
        case origin if origin is Literal:
            return _literal(arguments)
        case origin if origin is tuple and arguments[1:] == (...,):
            return _many(tuple, _decoder(arguments[0]))
        case origin if origin is tuple:
            return _fixed(tuple(_decoder(argument) for argument in arguments))
        case origin if origin is frozenset:
            return _many(frozenset, _decoder(arguments[0]))
        case origin if origin in {Union, UnionType}:
            classes = [argument for argument in arguments if argument is not NoneType]
            inner = _decoder(classes[0]) if len(classes) == 1 else _one_of(classes)
            return _optional(inner) if NoneType in arguments else inner
        case _:
            raise TypeError(f"plans have no field that is {annotation}")


def _exactly(of: type) -> _Decode:
    def decode(value: _Json, _: Sequence[PlanNode]) -> Any:
        # True is an int, but not here.
        if type(value) is not of:
            raise TypeError(f"{value!r} is not {of.__name__}")
        return value

    return decode


def _literal(values: tuple[object, ...]) -> _Decode:
    def decode(value: _Json, _: Sequence[PlanNode]) -> Any:
        return values[values.index(value)]

    return decode


def _optional(inner: _Decode) -> _Decode:
    def decode(value: _Json, nodes: Sequence[PlanNode]) -> Any:
        return None if value is None else inner(value, nodes)

    return decode


def _many(collect: Callable[[Iterable[Any]], Any], item: _Decode) -> _Decode:
    def decode(value: _Json, nodes: Sequence[PlanNode]) -> Any:
        return collect([item(member, nodes) for member in _list(value)])

    return decode


def _fixed(items: tuple[_Decode, ...]) -> _Decode:
    def decode(value: _Json, nodes: Sequence[PlanNode]) -> Any:
        return tuple(
            [item(member, nodes) for item, member in zip(items, _list(value), strict=True)]
        )

    return decode


def _one_of(classes: Sequence[type]) -> _Decode:
    """Nodes are named by position; `classes` are nodes, or none of them is."""
    known = tuple(kind for kind in classes if kind in _NODES)
    return _node(known) if known else _instance(tuple(kind for kind in classes if kind in _VALUES))


def _node(classes: tuple[type, ...]) -> _Decode:
    def decode(value: _Json, nodes: Sequence[PlanNode]) -> Any:
        if type(value) is not int or not 0 <= value < len(nodes):
            raise ValueError(f"there is no node {value!r} before")
        if not isinstance(nodes[value], classes):
            raise TypeError(f"{nodes[value]} has no place there")
        return nodes[value]

    return decode


@cache
def _instance(classes: tuple[type, ...]) -> _Decode:
    by_name = {kind.__name__: kind for kind in classes}

    def decode(value: _Json, nodes: Sequence[PlanNode]) -> Any:
        name, *arguments = _list(value)
        of = by_name[name]
        return of(*_arguments(of)(arguments, nodes))

    return decode


@cache
def _arguments(of: type) -> _Decode:
    annotations = get_type_hints(of)
    return _fixed(tuple(_decoder(annotations[field.name]) for field in fields(of)))


def _list(value: _Json) -> list[_Json]:
    if type(value) is not list:
        raise TypeError(f"{value!r} is not a list")
    return value


_ROOTS = (_decoder(PlanNode), _decoder(tuple[tuple[str, PlanNode], ...]))
_PARTS = tuple(map(_decoder, (tuple[str, ...], tuple[tuple[str, str], ...], bool, bool)))
