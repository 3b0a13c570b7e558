"""A term as a text with prefixes has it."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LOCAL = re.compile(r"\w(?:[\w.-]*[\w-])?")
"""What may be left of an IRI after a prefix: what needs no escapes."""
_TYPED = re.compile(r'("(.*)")\^\^(<[^<>]*>)', re.DOTALL)
_XSD = "http://www.w3.org/2001/XMLSchema#"
_BARE = {
    f"<{_XSD}integer>": re.compile(r"[+-]?[0-9]+"),
    f"<{_XSD}decimal>": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    f"<{_XSD}double>": re.compile(r"[+-]?([0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+"),
    f"<{_XSD}boolean>": re.compile("true|false"),
}
"""Literals that Turtle and SPARQL write without quotes, by their datatype."""


def short_term(term: str, prefixes: Mapping[str, str]) -> str:
    """A term in N-Triples form as Turtle and SPARQL write it.

    An IRI, also of a datatype, is shortened by the longest prefix that leaves a plain name; `xsd:`
    is a prefix if no other IRI is called so. Numbers and Booleans have no quotes.
    """
    if term.startswith('"'):
        typed = _TYPED.fullmatch(term)
        if typed is None:
            return term
        quoted, lexical, datatype = typed.groups()
        if datatype in _BARE and _BARE[datatype].fullmatch(lexical):
            return lexical
        return f"{quoted}^^{short_term(datatype, {**prefixes, 'xsd': prefixes.get('xsd', _XSD)})}"
    if not term.startswith("<"):
        return term
    iri = term[1:-1]
    for prefix, begin in sorted(prefixes.items(), key=lambda item: -len(item[1])):
        if iri.startswith(begin) and _LOCAL.fullmatch(iri[len(begin) :]):
            return f"{prefix}:{iri[len(begin) :]}"
    return term
