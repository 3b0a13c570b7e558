"""Functions on RDF terms, and the casts of XPath.

https://www.w3.org/TR/sparql11-query/#func-rdfTerms, https://www.w3.org/TR/sparql11-query/#FunctionMapping
"""

from __future__ import annotations

import hashlib
import json
import math
from decimal import Decimal

from jobs.rdf import terms
from jobs.rdf.terms import DIR_LANG_STRING, LANG_STRING, Blank, Iri
from jobs.sparql.frontend.iris import is_absolute, resolve
from jobs.sparql.functions.calendar import date_text, date_time_text
from jobs.sparql.functions.numerics import truncate
from jobs.sparql.functions.values import (
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
    datatype_of,
    decimal,
    double,
    integer,
    nearest_double,
    nearest_single,
    single,
    to_text,
    typed,
)


def is_iri(value: Value) -> Value:
    """isIRI, isURI."""
    return boolean(isinstance(value, Iri))


def is_blank(value: Value) -> Value:
    """isBLANK."""
    return boolean(isinstance(value, Blank))


def is_literal(value: Value) -> Value:
    """isLITERAL."""
    return boolean(not isinstance(value, Iri | Blank))


def str_(value: Value) -> Value | None:
    """STR: the lexical form of a literal, the text of an IRI."""
    match value:
        case Iri(iri):
            return Text(iri)
        case Blank():
            return None
        case _:
            return Text(value.lexical)


def lang(value: Value) -> Value | None:
    """LANG; empty without a tag."""
    if isinstance(value, Iri | Blank):
        return None
    return Text(value.language if isinstance(value, LangText) else "")


def datatype(value: Value) -> Value | None:
    """DATATYPE."""
    return None if isinstance(value, Iri | Blank) else Iri(datatype_of(value))


def iri(value: Value, base: Value | None = None) -> Value | None:
    """IRI, URI; a relative IRI is resolved against the query's base, an error without one."""
    if isinstance(value, Iri):
        return value
    if not isinstance(value, Text):
        return None
    text = resolve(value.lexical, base.value) if isinstance(base, Iri) else value.lexical
    if not is_absolute(text) or terms.check_term(terms.iri(text), "object") is not None:
        return None
    return Iri(text)


def bnode(seed: Value, label: Value) -> Value | None:
    """BNODE: a blank node that is the same for the same solution (`seed`) and label.

    The label is a simple literal. A blank node stands for a call without label: one for each place
    in a query, as each such call makes a node of its own.
    """
    if not isinstance(seed, Text) or not isinstance(label, Text | Blank):
        return None
    text = json.dumps([seed.lexical, to_text(label)], ensure_ascii=False)
    return Blank(f"b{hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()}")


def strdt(lexical: Value, datatype: Value) -> Value | None:
    """STRDT."""
    if not isinstance(lexical, Text) or not isinstance(datatype, Iri):
        return None
    if datatype.value in (LANG_STRING, DIR_LANG_STRING):
        return None
    return typed(lexical.lexical, datatype.value)


def strlang(lexical: Value, language: Value) -> Value | None:
    """STRLANG."""
    if not isinstance(lexical, Text) or not isinstance(language, Text):
        return None
    made = LangText(lexical.lexical, language.lexical.lower())
    return made if terms.check_term(to_text(made), "object") is None else None


def cast_string(value: Value) -> Value | None:
    """xsd:string: IRIs and literals; numbers and dates in XPath's form (`100`, `1.0E7`)."""
    match value:
        case DateTime(moment, _):
            return Text(date_time_text(moment))
        case Date(moment, _, datatype) if datatype == f"{XSD}date":
            return Text(date_text(moment))
        case Number():
            return Text(_number_text(value))
        case Boolean(true, _):
            return Text("true" if true else "false")
        case _:
            return str_(value)


def cast_boolean(value: Value) -> Value | None:
    """xsd:boolean."""
    match value:
        case Boolean(true, _):
            return boolean(true)
        case Number(number):
            return boolean(number != 0 and number == number)
        case Text():
            return _of_text(value, "boolean")
        case _:
            return None


def cast_integer(value: Value) -> Value | None:
    """xsd:integer: numbers are cut towards zero."""
    match value:
        case Number(number):
            whole = truncate(number)
            return None if whole is None else integer(whole)
        case Boolean(true, _):
            return integer(int(true))
        case Text():
            return _of_text(value, "integer")
        case _:
            return None


def cast_decimal(value: Value) -> Value | None:
    """xsd:decimal; of a float its exact binary value."""
    match value:
        case Number(number):
            if isinstance(number, float) and not math.isfinite(number):
                return None
            return decimal(Decimal(number))
        case Boolean(true, _):
            return decimal(Decimal(int(true)))
        case Text():
            return _of_text(value, "decimal")
        case _:
            return None


def cast_double(value: Value) -> Value | None:
    """xsd:double."""
    match value:
        case Number(number):
            return double(nearest_double(number))
        case Boolean(true, _):
            return double(float(true))
        case Text():
            return _of_text(value, "double")
        case _:
            return None


def cast_float(value: Value) -> Value | None:
    """xsd:float."""
    match value:
        case Number(number):
            return single(nearest_single(number))
        case Boolean(true, _):
            return single(float(true))
        case Text():
            return _of_text(value, "float")
        case _:
            return None


def cast_date_time(value: Value) -> Value | None:
    """xsd:dateTime; a date becomes its first moment."""
    match value:
        case DateTime():
            return value
        case Date(moment, _, datatype) if datatype == f"{XSD}date":
            return typed(date_time_text(moment), f"{XSD}dateTime")
        case Text():
            return _of_text(value, "dateTime")
        case _:
            return None


def cast_date(value: Value) -> Value | None:
    """xsd:date; a moment becomes its day."""
    match value:
        case Date(_, _, datatype) if datatype == f"{XSD}date":
            return value
        case DateTime(moment, _):
            return typed(date_text(moment), f"{XSD}date")
        case Text():
            return _of_text(value, "date")
        case _:
            return None


def _of_text(text: Text, name: str) -> Value | None:
    """A string cast by its lexical form, white space at the ends aside; the result is canonical."""
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
        case _:
            return value


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
