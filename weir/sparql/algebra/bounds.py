"""What FILTER and LIMIT say of values: which of them a small change could bring into the answer.

Policies of replicas rank keys by how far their values are from there
(`weir.sparql.algebra.filter_distances`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from weir.rdf.numbers import number_of
from weir.sparql.algebra.expressions import Call, Constant, Expression, Variable
from weir.sparql.algebra.filter_distances import Bound, Comparison
from weir.sparql.algebra.patterns import OrderKey, Slice

_TURNED: dict[str, Comparison] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
"""The comparisons, each with the one that has its operands exchanged."""


@dataclass(frozen=True, slots=True)
class Top:
    """The first `count` solutions in the order of the values of one variable."""

    variable: str
    count: int
    descending: bool


def bounds_of(conditions: Iterable[Expression], variables: Collection[str]) -> tuple[Bound, ...]:
    """The comparisons of some variables with numbers that hold where all conditions do."""
    bounds = (bound for condition in conditions for bound in _bounds(condition))
    return tuple(dict.fromkeys(bound for bound in bounds if bound.variable in variables))


def top_of(slice_: Slice) -> Top | None:
    """The values that a LIMIT leaves, if one variable decides; else None."""
    match slice_:
        case Slice(keys=(OrderKey(Variable(name), descending), *_), limit=int(limit)):
            count = slice_.offset + limit
            return Top(name, count, descending) if count else None
        case Slice():
            return None


def _bounds(condition: Expression) -> Iterator[Bound]:
    match condition:
        case Call("&&", arguments):
            for argument in arguments:
                yield from _bounds(argument)
        case Call(comparison, (Variable(name), Constant(term))) if comparison in _TURNED:
            yield from _bound(name, _TURNED[_TURNED[comparison]], term)
        case Call(comparison, (Constant(term), Variable(name))) if comparison in _TURNED:
            yield from _bound(name, _TURNED[comparison], term)


def _bound(name: str, comparison: Comparison, term: str) -> Iterator[Bound]:
    threshold = number_of(term)
    if threshold is not None:
        yield Bound(name, comparison, threshold)
