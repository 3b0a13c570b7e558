"""What a term is to a check: its value, as in a column of its own type."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

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
from weir.typed.column_type import TEXT, cell, decide

Plain = bool | int | float | Decimal | date | datetime | str
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


def key_of(value: Plain) -> tuple[str, Plain]:
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


def is_within(
    value: Plain, least: Any, most: Any, *, strict_min: bool = False, strict_max: bool = False
) -> bool:
    """Whether a value is within bounds of its kind, None for no bound; of another kind, none is."""
    kind, own = key_of(value)
    for bound, strict, sign in ((least, strict_min, 1), (most, strict_max, -1)):
        if bound is None:
            continue
        of, limit = key_of(bound)
        if of != kind:
            return False
        low, high = (limit, own) if sign > 0 else (own, limit)
        # Not the reverse: nothing holds for NaN.
        if not (low < high if strict else low <= high):  # type: ignore[operator]
            return False
    return True
