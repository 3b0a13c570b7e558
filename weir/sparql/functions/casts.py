"""The casts of XPath: https://www.w3.org/TR/sparql11-query/#FunctionMapping.

A string is cast by its lexical form, any other literal by its value; None is an error.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import assert_never

from weir.rdf.terms import Blank, Iri
from weir.sparql.functions.calendar import date_text, date_time_text
from weir.sparql.functions.floats import nearest_double, nearest_single
from weir.sparql.functions.numerics import truncate
from weir.sparql.functions.term_functions import str_
from weir.sparql.functions.values import (
    XSD,
    Boolean,
    Date,
    DateTime,
    LangText,
    Number,
    Opaque,
    Text,
    Value,
    boolean,
    decimal,
    double,
    integer,
    single,
    typed,
)


def to_string(value: Value) -> Value | None:
    """xsd:string, of IRIs and literals; numbers and dates are written as in XPath (`1.0E7`)."""
    match value:
        case DateTime(moment, _):
            return Text(date_time_text(moment))
        case Date(moment, _, datatype) if datatype == f"{XSD}date":
            return Text(date_text(moment))
        case Number():
            return Text(_number_text(value))
        case Boolean(true, _):
            return Text("true" if true else "false")
        case Iri() | Blank() | Text() | LangText() | Date() | Opaque():
            return str_(value)
        case _:
            assert_never(value)


def to_boolean(value: Value) -> Value | None:
    """xsd:boolean."""
    match value:
        case Boolean(true, _):
            return boolean(true)
        case Number(number):
            return boolean(number != 0 and number == number)
        case Text():
            return _of_text(value, "boolean")
        case Iri() | Blank() | LangText() | DateTime() | Date() | Opaque():
            return None
        case _:
            assert_never(value)


def to_integer(value: Value) -> Value | None:
    """xsd:integer: numbers are cut towards zero."""
    match value:
        case Number(number):
            whole = truncate(number)
            return None if whole is None else integer(whole)
        case Boolean(true, _):
            return integer(int(true))
        case Text():
            return _of_text(value, "integer")
        case Iri() | Blank() | LangText() | DateTime() | Date() | Opaque():
            return None
        case _:
            assert_never(value)


def to_decimal(value: Value) -> Value | None:
    """xsd:decimal; a float gives its exact binary value."""
    match value:
        case Number(number):
            if isinstance(number, float) and not math.isfinite(number):
                return None
            return decimal(Decimal(number))
        case Boolean(true, _):
            return decimal(Decimal(int(true)))
        case Text():
            return _of_text(value, "decimal")
        case Iri() | Blank() | LangText() | DateTime() | Date() | Opaque():
            return None
        case _:
            assert_never(value)


def to_double(value: Value) -> Value | None:
    """xsd:double."""
    match value:
        case Number(number):
            return double(nearest_double(number))
        case Boolean(true, _):
            return double(float(true))
        case Text():
            return _of_text(value, "double")
        case Iri() | Blank() | LangText() | DateTime() | Date() | Opaque():
            return None
        case _:
            assert_never(value)


def to_float(value: Value) -> Value | None:
    """xsd:float."""
    match value:
        case Number(number):
            return single(nearest_single(number))
        case Boolean(true, _):
            return single(float(true))
        case Text():
            return _of_text(value, "float")
        case Iri() | Blank() | LangText() | DateTime() | Date() | Opaque():
            return None
        case _:
            assert_never(value)


def to_date_time(value: Value) -> Value | None:
    """xsd:dateTime; a date becomes its first moment."""
    match value:
        case DateTime():
            return value
        case Date(moment, _, datatype) if datatype == f"{XSD}date":
            return typed(date_time_text(moment), f"{XSD}dateTime")
        case Text():
            return _of_text(value, "dateTime")
        case Iri() | Blank() | LangText() | Number() | Boolean() | Date() | Opaque():
            return None
        case _:
            assert_never(value)


def to_date(value: Value) -> Value | None:
    """xsd:date; a moment becomes its day."""
    match value:
        case Date(_, _, datatype) if datatype == f"{XSD}date":
            return value
        case DateTime(moment, _):
            return typed(date_text(moment), f"{XSD}date")
        case Text():
            return _of_text(value, "date")
        case Iri() | Blank() | LangText() | Number() | Boolean() | Date() | Opaque():
            return None
        case _:
            assert_never(value)


def _of_text(text: Text, name: str) -> Value | None:
    """A string cast by its lexical form without outer white space; the result is canonical."""
    value = typed(text.lexical.strip(" \t\r\n"), f"{XSD}{name}")
    match value:
        case Opaque():
            return None
        case Number(int(number), "integer"):
            return integer(number)
        case Number(Decimal() as number, "decimal"):
            return decimal(number)
        case Number(float(number), "double"):
            return double(number)
        case Number(float(number), "float"):
            return single(number)
        case Boolean(true, _):
            return boolean(true)
        case Text() | LangText() | Number() | DateTime() | Date():
            return value
        case _:
            assert_never(value)


def _number_text(number: Number) -> str:
    """https://www.w3.org/TR/xpath-functions/#casting-to-string."""
    match number.value:
        case int(value):
            return str(value)
        case Decimal() as exact:
            return _lexical(decimal(exact), number)
        case float(value) if value == 0:
            return "-0" if math.copysign(1, value) < 0 else "0"
        case float(value) if 1e-6 <= abs(value) < 1e6:
            shortest = single(value).lexical if number.type == "float" else repr(value)
            return _lexical(decimal(Decimal(shortest)), number)
        case float(value):
            return (single(value) if number.type == "float" else double(value)).lexical
        case _:
            raise AssertionError(f"{number}: a value of another type")


def _lexical(made: Number | None, otherwise: Number) -> str:
    return otherwise.lexical if made is None else made.lexical
