"""The set functions, over values with multiplicities.

https://www.w3.org/TR/sparql11-query/#setFunctions
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction

from weir.rdf import terms
from weir.sparql.functions.comparisons import convert
from weir.sparql.functions.evaluation_limits import evaluation_limits
from weir.sparql.functions.numerics import divide
from weir.sparql.functions.ordering import sort_key
from weir.sparql.functions.values import (
    PROMOTION,
    LangText,
    Number,
    NumericType,
    Text,
    Value,
    decimal,
    double,
    integer,
    parse,
    single,
    to_text,
)

# No decimal has more than 4,000 digits before or after its point.
_EXACT = Context(prec=20_000)

Counted = Sequence[tuple[str | None, int]]
"""Terms with their multiplicities; None is an error of the aggregated expression."""


def aggregate(name: str, values: Counted, separator: str = " ") -> str | None:
    """The value of an aggregate over the values of a group; None is an error.

    The result does not depend on the order of `values`. COUNT and SAMPLE ignore errors; for the
    others, an error among the values is an error of the aggregate. For DISTINCT the caller passes
    each term once, for COUNT(*) any one term per solution.

    Raises:
        KeyError: there is no aggregate of this name.
        ValueError: a negative multiplicity.
    """
    if any(count < 0 for _, count in values):
        raise ValueError("a multiplicity cannot be negative")
    present = [(term, count) for term, count in values if count > 0]
    known = sorted(
        ((term, count) for term, count in present if term is not None),
        key=lambda item: (sort_key(item[0]), item[0]),
    )
    if name in _OVER_ERRORS:
        return _OVER_ERRORS[name](known)
    if len(known) < len(present):
        return None
    if name == "GROUP_CONCAT":
        return _group_concat(known, separator)
    return _OF_TERMS[name](known)


_Known = Sequence[tuple[str, int]]
"""Terms with their multiplicities, in the order of their sort keys, then of their text."""


def _count(known: _Known) -> str | None:
    return _text(integer(sum(count for _, count in known)))


def _least(known: _Known) -> str | None:
    """MIN and SAMPLE; an error if there are no values."""
    return known[0][0] if known else None


def _greatest(known: _Known) -> str | None:
    return known[-1][0] if known else None


def _sum(known: _Known) -> str | None:
    return _text(_total(known))


def _average(known: _Known) -> str | None:
    """The sum divided by the number of values; 0 if there are none."""
    total, number = _total(known), integer(sum(count for _, count in known))
    if total is None or number is None:
        return None
    return _text(divide(total, number) if known else total)


def _total(known: _Known) -> Value | None:
    """The sum, in the type to which all values are promoted; None if one is not a number.

    It is exact, and a sum of floats is rounded once, so it does not depend on the order.
    """
    numbers: list[tuple[Number, int]] = []
    for term, count in known:
        value = parse(term)
        if not isinstance(value, Number):
            return None
        numbers.append((value, count))
    kind: NumericType = max((n.type for n, _ in numbers), key=PROMOTION.index, default="integer")
    addends = [(convert(number.value, kind), count) for number, count in numbers]
    if kind == "integer":
        return integer(sum(int(addend) * count for addend, count in addends))
    if kind == "decimal":
        total = Decimal(0)
        for addend, count in addends:
            total = _EXACT.add(total, _EXACT.multiply(Decimal(addend), Decimal(count)))
        return decimal(total)
    floating = _float_sum([(float(addend), count) for addend, count in addends])
    return single(floating) if kind == "float" else double(floating)


def _float_sum(values: Sequence[tuple[float, int]]) -> float:
    special = {value for value, _ in values if not math.isfinite(value)}
    if special:
        return special.pop() if len(special) == 1 else math.nan
    total = sum((Fraction(value) * count for value, count in values), Fraction())
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def _group_concat(known: _Known, separator: str) -> str | None:
    """The texts concatenated, as a simple literal: language tags are dropped."""
    texts: list[str] = []
    length = 0
    for term, count in known:
        value = parse(term)
        if not isinstance(value, Text | LangText):
            return None
        width = len(value.lexical) + len(separator)
        length += width * count
        evaluation_limits().check_literal(length - len(separator))
        # Empty texts without a separator add nothing; one keeps the list short.
        texts += [value.lexical] * (count if width else 1)
    return terms.literal(separator.join(texts))


def _text(value: Value | None) -> str | None:
    return None if value is None else to_text(value)


_OVER_ERRORS: dict[str, Callable[[_Known], str | None]] = {"COUNT": _count, "SAMPLE": _least}
_OF_TERMS: dict[str, Callable[[_Known], str | None]] = {
    "SUM": _sum,
    "AVG": _average,
    "MIN": _least,
    "MAX": _greatest,
}
