"""Which keys a remote may take for one: it may keep literals by value, and write 01 as 1."""

from __future__ import annotations

import math
from collections.abc import Hashable
from decimal import Decimal

from weir.remotes.questions import Key
from weir.sparql.functions.values import (
    XSD,
    Boolean,
    Date,
    DateTime,
    LangText,
    Number,
    Opaque,
    Text,
    parse,
)

_TEXTS = frozenset(
    f"{XSD}{name}"
    for name in (
        *("anyURI", "normalizedString", "token", "language", "Name", "NCName", "NMTOKEN"),
        *("ID", "IDREF", "ENTITY", "QName", "NOTATION"),
    )
)
"""Datatypes whose values are their texts, but for spaces."""


def value_of(key: Key) -> Hashable:
    """Equal for keys whose terms have equal values in some remote.

    The answer of a request has its keys as terms. If a remote wrote two of them alike, one would
    get the mappings of both.
    """
    return tuple(_value(term) for term in key)


def _value(term: str) -> Hashable:
    match parse(term):
        case Number(value=value):
            return "number", _rounded(value)
        case Boolean(value=flag):
            return "boolean", flag
        case DateTime(moment=moment) | Date(moment=moment):
            # Kept as milliseconds in UTC, and without a zone taken as UTC, by Blazegraph.
            return "moment", math.floor(moment.seconds * 1000)
        case Text(lexical=lexical):
            return "text", lexical
        case LangText(lexical=lexical, language=language):
            return "text", lexical, language
        case Opaque(lexical=lexical, datatype=datatype) if datatype in _TEXTS:
            return "text", " ".join(lexical.split())
        case Opaque(datatype=datatype) if datatype.startswith(XSD):
            # No value is known: of these any two may be alike.
            return "opaque", datatype
        case _:
            return term


def _rounded(number: int | Decimal | float) -> Hashable:
    """A number as a double: a remote may keep all numbers as doubles."""
    try:
        double = float(number)
    except OverflowError:
        return math.inf
    return "NaN" if math.isnan(double) else double
