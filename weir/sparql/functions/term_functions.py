"""Functions on RDF terms: https://www.w3.org/TR/sparql11-query/#func-rdfTerms."""

from __future__ import annotations

import hashlib
import json
from typing import assert_never

from weir.rdf import terms
from weir.rdf.terms import DIR_LANG_STRING, LANG_STRING, Blank, Iri
from weir.sparql.functions.values import (
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
    to_text,
    typed,
)
from weir.sparql.iris import is_absolute, resolve


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
        case Text() | LangText() | Number() | Boolean() | DateTime() | Date() | Opaque():
            return Text(value.lexical)
        case _:
            assert_never(value)


def lang(value: Value) -> Value | None:
    """LANG; an empty text for a literal without a language tag."""
    if isinstance(value, Iri | Blank):
        return None
    return Text(value.language if isinstance(value, LangText) else "")


def datatype(value: Value) -> Value | None:
    """DATATYPE."""
    return None if isinstance(value, Iri | Blank) else Iri(datatype_of(value))


def iri(value: Value, base: Value | None = None) -> Value | None:
    """IRI, URI; a relative IRI is resolved against the query's base, or is an error without one."""
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

    The label is a simple literal. For a call without a label, translation adds a blank node as the
    label, a different one for each call, so that each such call makes its own nodes.
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
    literal = LangText(lexical.lexical, language.lexical.lower())
    return literal if terms.check_term(to_text(literal), "object") is None else None
