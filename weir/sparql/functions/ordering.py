"""SPARQL's order of terms as text: the keys of ORDER BY, MIN and MAX.

https://www.w3.org/TR/sparql11-query/#modOrderBy
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import lru_cache
from typing import assert_never

from weir.rdf.terms import Blank, Iri
from weir.sparql.functions.calendar import Moment
from weir.sparql.functions.values import (
    Boolean,
    Date,
    DateTime,
    LangText,
    Number,
    Opaque,
    Text,
    Value,
    parse,
)

# Larger than the adjusted exponent of any number that has a value.
_MIDDLE, _LARGEST = 50_000, 99_999
_COMPLEMENT = str.maketrans("0123456789", "9876543210")
_HEX_COMPLEMENT = str.maketrans("0123456789abcdef", "fedcba9876543210")


@lru_cache(maxsize=65_536)
def sort_key(term: str | None) -> str:
    """A text whose order by code points (in UTF-8 by bytes) is the order of terms.

    The order is: unbound, blank nodes (by label), IRIs (by code points), literals. Literals that
    `<` compares are in its order, and equal values have equal keys. The rest is Weir's choice:
    numbers, strings (by code points), strings with a language (by text, then tag), booleans,
    xsd:dateTime, dates (each datatype separately), other literals (by datatype, then lexical form).

    Numbers are in the order of their exact values. A float counts as its shortest decimal, and NaN
    comes after INF. So a decimal and a float that `=` calls equal may have different keys, next to
    each other. Moments without a time zone are ordered as if they were in UTC.

    Raises:
        weir.rdf.terms.TermError: the text is not an RDF term.
    """
    return "" if term is None else _key(parse(term))


def value_key(value: Value | None) -> str:
    """`sort_key` of a typed value."""
    return "" if value is None else _key(value)


def composable(key: str, *, descending: bool = False) -> str:
    """`key` encoded so that keys can be concatenated: the first key that differs decides.

    With `descending` the order is reversed.
    """
    digits = key.encode().hex()
    # The end mark is less than any digit, or with `descending` greater.
    return f"{digits.translate(_HEX_COMPLEMENT)}~" if descending else f"{digits}!"


def _key(value: Value) -> str:
    match value:
        case Blank(label):
            return f"1{label}"
        case Iri(iri):
            return f"2{iri}"
        case Number(number):
            return f"30{_number(number)}"
        case Text(lexical):
            return f"31{lexical}"
        case LangText(lexical, language):
            return f"32{lexical}@{language}"
        case Boolean(true, _):
            return f"33{int(true)}"
        case DateTime(moment, _):
            return f"34{_moment(moment)}"
        case Date(moment, _, datatype):
            return f"35{datatype} {_moment(moment)}"
        case Opaque(lexical, datatype):
            return f"36{datatype} {lexical}"
        case _:
            assert_never(value)


def _moment(moment: Moment) -> str:
    return _decimal(moment.seconds)


def _number(value: int | Decimal | float) -> str:
    if isinstance(value, float):
        if math.isnan(value):
            return "5"
        if math.isinf(value):
            return "4" if value > 0 else "0"
        # By its shortest decimal, the order agrees with `<` between decimals and floats.
        return _decimal(Decimal(repr(value)))
    return _decimal(Decimal(value))


def _decimal(value: Decimal) -> str:
    """The text of a sign (negative 1, zero 2, positive 3), the exponent and the digits.

    For a negative number, exponent and digits are complemented, and an end mark makes a longer
    fraction less.
    """
    if value == 0:
        return "2"
    _, digits, _ = value.as_tuple()
    mantissa = "".join(map(str, digits)).rstrip("0")
    exponent = value.adjusted() + _MIDDLE
    if value > 0:
        return f"3{exponent:05}{mantissa}"
    return f"1{_LARGEST - exponent:05}{mantissa.translate(_COMPLEMENT)}~"
