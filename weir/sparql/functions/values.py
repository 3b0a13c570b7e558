"""Typed values of RDF terms, and their N-Triples text."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal as Choice
from typing import assert_never

from weir.rdf import terms
from weir.rdf.terms import LANG_STRING, XSD_STRING, Blank, Iri
from weir.sparql.functions.calendar import DATES, Moment, parse_date, parse_date_time
from weir.sparql.functions.floats import (
    canonical_double,
    canonical_single,
    nearest_single,
    to_single,
)

XSD = "http://www.w3.org/2001/XMLSchema#"

NumericType = Choice["integer", "decimal", "float", "double"]
PROMOTION: tuple[NumericType, ...] = ("integer", "decimal", "float", "double")
"""The types of arithmetic; each can be promoted to those after it."""

_MAX_DIGITS = 4_000


@dataclass(frozen=True, slots=True)
class Text:
    """A simple literal, which is an xsd:string."""

    lexical: str


@dataclass(frozen=True, slots=True)
class LangText:
    """A string with a language tag in lower case."""

    lexical: str
    language: str


@dataclass(frozen=True, slots=True)
class Number:
    """A well-typed numeric literal; `datatype` (an IRI) may be a type derived from xsd:integer."""

    value: int | Decimal | float
    type: NumericType
    lexical: str
    datatype: str


@dataclass(frozen=True, slots=True)
class Boolean:
    """A well-typed xsd:boolean."""

    value: bool
    lexical: str


@dataclass(frozen=True, slots=True)
class DateTime:
    """A well-typed xsd:dateTime."""

    moment: Moment
    lexical: str


@dataclass(frozen=True, slots=True)
class Date:
    """A well-typed xsd:date, xsd:gYearMonth or xsd:gYear (`datatype`, an IRI).

    `moment` is the first moment of the day, month or year.
    """

    moment: Moment
    lexical: str
    datatype: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """A literal without a known value: its datatype is unknown, or it is ill-typed."""

    lexical: str
    datatype: str


Known = Text | LangText | Number | Boolean | DateTime | Date
Literal = Known | Opaque
Value = Iri | Blank | Literal

TRUE, FALSE = Boolean(True, "true"), Boolean(False, "false")


def boolean(value: bool) -> Boolean:
    """`true` or `false`."""
    return TRUE if value else FALSE


_REMEMBERED = 1_000
"""Longer terms (in characters) are not cached: a few of them would take all memory."""


def parse(text: str) -> Value:
    """The value of a term in N-Triples form.

    IRIs and literals without escapes are not checked, as millions of rows are parsed by this
    function; tables and `translate` have only well-formed ones.

    Raises:
        weir.rdf.terms.TermError: the text is not an RDF term.
    """
    return _remembered(text) if len(text) <= _REMEMBERED else _parse(text)


@lru_cache(maxsize=65_536)
def _remembered(text: str) -> Value:
    return _parse(text)


def _parse(text: str) -> Value:
    if "\\" not in text:
        if text.startswith("<") and text.endswith(">"):
            return Iri(text[1:-1])
        end = text.rfind('"')
        if end > 0 and text.startswith('"'):
            return _literal(text[1:end], *_suffix(text[end + 1 :]))
    term = terms.parse_term(text)
    if isinstance(term, terms.Literal):
        return _literal(term.lexical, term.datatype, term.language)
    return term


@lru_cache(maxsize=1024)
def _suffix(text: str) -> tuple[str, str | None]:
    """The datatype and language of a literal whose closing quote is followed by `text`."""
    term = terms.parse_term(f'""{text}')
    assert isinstance(term, terms.Literal), "it begins with a quote"
    return term.datatype, term.language


def _literal(lexical: str, datatype: str, language: str | None) -> Literal:
    return typed(lexical, datatype) if language is None else LangText(lexical, language)


def typed(lexical: str, datatype: str) -> Literal:
    """The value of a lexical form of a datatype (an IRI); Opaque if no value is known."""
    if datatype == XSD_STRING:
        return Text(lexical)
    if not datatype.startswith(XSD):
        return Opaque(lexical, datatype)
    name = datatype[len(XSD) :]
    if name == "boolean" and lexical in _BOOLEANS:
        return Boolean(_BOOLEANS[lexical], lexical)
    if name == "dateTime" and (moment := parse_date_time(lexical)):
        return DateTime(moment, lexical)
    if name in DATES and (moment := parse_date(lexical, name)):
        return Date(moment, lexical, datatype)
    return _number(lexical, name) or Opaque(lexical, datatype)


def datatype_of(literal: Literal) -> str:
    """The datatype IRI, without brackets."""
    match literal:
        case Text():
            return XSD_STRING
        case LangText():
            return LANG_STRING
        case Number() | Date() | Opaque():
            return literal.datatype
        case Boolean():
            return f"{XSD}boolean"
        case DateTime():
            return f"{XSD}dateTime"
        case _:
            assert_never(literal)


def to_text(value: Value) -> str:
    """The term in N-Triples form."""
    match value:
        case Boolean():
            return _BOOLEAN_TEXT[value.lexical]
        case Iri(iri):
            return f"<{iri}>"
        case Blank(label):
            return f"_:{label}"
        case Text(lexical):
            return terms.literal(lexical)
        case LangText(lexical, language):
            return terms.literal(lexical, language=language)
        case Number() | DateTime() | Date() | Opaque():
            return terms.literal(value.lexical, datatype_of(value))
        case _:
            assert_never(value)


def integer(value: int) -> Number | None:
    """An xsd:integer; None (an error) if it has too many digits for Python to convert to text."""
    # bit_length * log10(2) is about the number of digits.
    if value.bit_length() > _MAX_DIGITS * 3:
        return None
    return Number(value, "integer", str(value), f"{XSD}integer")


def decimal(value: Decimal) -> Number | None:
    """An xsd:decimal in the canonical form of XSD 1.1: no exponent, no trailing zeros."""
    if not value.is_finite() or abs(value.adjusted()) > _MAX_DIGITS:
        return None
    lexical = format(value, "f")
    if "." in lexical:
        lexical = lexical.rstrip("0").rstrip(".")
    return Number(value, "decimal", "0" if lexical == "-0" else lexical, f"{XSD}decimal")


def double(value: float) -> Number:
    """An xsd:double in the canonical form of XSD: `1.0E3`."""
    return Number(value, "double", canonical_double(value), f"{XSD}double")


def single(value: float) -> Number:
    """An xsd:float: `value` rounded to 32 bits."""
    rounded = to_single(value)
    return Number(rounded, "float", canonical_single(rounded), f"{XSD}float")


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_BOOLEAN_TEXT = {text: terms.literal(text, f"{XSD}boolean") for text in _BOOLEANS}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN")

# Least and greatest value of each type derived from xsd:integer; None = no bound.
_INTEGERS: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 2**8 - 1),
}
NUMERIC_DATATYPES = frozenset(f"{XSD}{name}" for name in (*_INTEGERS, "decimal", "float", "double"))


def _number(lexical: str, name: str) -> Number | None:
    datatype = f"{XSD}{name}"
    if len(lexical) > _MAX_DIGITS:
        return None
    if name in _INTEGERS:
        least, greatest = _INTEGERS[name]
        if not _INTEGER.fullmatch(lexical):
            return None
        value = int(lexical)
        if (least is not None and value < least) or (greatest is not None and value > greatest):
            return None
        return Number(value, "integer", lexical, datatype)
    if name == "decimal" and _DECIMAL.fullmatch(lexical):
        return Number(Decimal(lexical), "decimal", lexical, datatype)
    if name in ("float", "double") and _FLOAT.fullmatch(lexical):
        number = float(lexical.replace("INF", "inf"))
        if name == "float":
            # Zero keeps its sign; an exponent out of range is zero or infinite, and no Decimal.
            is_ordinary = math.isfinite(number) and number != 0
            rounded = nearest_single(Decimal(lexical)) if is_ordinary else number
            return Number(rounded, "float", lexical, datatype)
        return Number(number, "double", lexical, datatype)
    return None
