"""What a term is to a check: its value, as in a column of its own type."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal, assert_never

from weir.rdf.terms import literal
from weir.sparql.functions.values import (
    NUMERIC_DATATYPES,
    XSD,
    Boolean,
    Date,
    DateTime,
    Number,
    Opaque,
    parse,
)
from weir.typed.column_type import TEXT, TypeName, cell, decide

Plain = bool | int | float | Decimal | date | datetime | str
Kind = Literal["boolean", "number", "time", "text"]
"""Only values of one kind are compared."""
_TYPED = {*NUMERIC_DATATYPES, f"{XSD}boolean", f"{XSD}date", f"{XSD}dateTime"}
"""The datatypes of columns in which an ill-typed literal is null."""


def value_of(term: str) -> Plain | None:
    """The value of a term; None if it is ill-typed."""
    match parse(term):
        case Number(value) | Boolean(value):
            return value
        case Date() | DateTime():
            return cell(decide([term]), term).value
        case Opaque(_, datatype) if datatype in _TYPED:
            return None
        case _:
            return lexical_of(term)


def lexical_of(term: str) -> str:
    """The lexical form of a literal, the whole IRI, or `_:label`."""
    return str(cell(TEXT, term).value)


def key_of(value: Plain) -> tuple[Kind, Plain]:
    """Equal for equal values: 1 and 1.0 are, true and 1 are not.

    A day is the first moment of it, and a time without a zone is in UTC, as in typed columns.
    """
    match value:
        case bool():
            return "boolean", value
        case int() | float() | Decimal():
            return "number", value
        case datetime():
            return "time", value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        case date():
            return "time", datetime(value.year, value.month, value.day, tzinfo=UTC)
        case _:
            return "text", value


def kind_of(name: TypeName) -> Kind:
    """The kind of the values of a column of a type, but for a text: it may have any."""
    match name:
        case "integer" | "decimal" | "double":
            return "number"
        case "date" | "timestamp":
            return "time"
        case "boolean" | "text":
            return name
        case _:
            assert_never(name)


def key_as(argument: Plain, kind: Kind) -> tuple[Kind, Plain] | None:
    """The key of an argument that is compared with values of a kind; None if it cannot be.

    A text may be that of a date, or of a time: in YAML, `"2001-01-01"` is a text.
    """
    own = key_of(argument)
    if own[0] == kind:
        return own
    if kind != "time" or not isinstance(argument, str):
        return None
    time = _time_of(argument)
    return None if time is None else key_of(time)


@lru_cache(256)
def _time_of(text: str) -> date | None:
    for name in ("date", "dateTime"):
        value = value_of(literal(text, f"{XSD}{name}"))
        if isinstance(value, date):
            return value
    return None


def is_within(
    value: Plain, least: Any, most: Any, *, strict_min: bool = False, strict_max: bool = False
) -> bool:
    """Whether a value is within bounds of its kind, None for no bound; of another kind, none is."""
    kind, own = key_of(value)
    for bound, strict, sign in ((least, strict_min, 1), (most, strict_max, -1)):
        if bound is None:
            continue
        key = key_as(bound, kind)
        if key is None:
            return False
        limit = key[1]
        low, high = (limit, own) if sign > 0 else (own, limit)
        # Not the reverse: nothing holds for NaN.
        if not (low < high if strict else low <= high):  # type: ignore[operator]
            return False
    return True
