"""RDF terms as N-Triples text, the same text as pyoxigraph's `str(term)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

Position = Choice["graph", "subject", "predicate", "object"]


@dataclass(frozen=True, slots=True)
class Iri:
    """An IRI, without brackets."""

    value: str


@dataclass(frozen=True, slots=True)
class Blank:
    """A blank node, label without `_:`."""

    label: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal; `datatype` is the IRI without brackets (xsd:string and rdf:langString included), language lower-cased."""

    lexical: str
    datatype: str
    language: str | None = None


Term = Iri | Blank | Literal


class TermError(ValueError):
    """Text that is not an RDF term in N-Triples form; the message is the reason."""


def iri(text: str) -> str:
    """`<text>`."""
    raise NotImplementedError


def literal(lexical: str, datatype: str | None = None, language: str | None = None) -> str:
    """N-Triples form of a literal; `datatype` is an IRI without brackets, xsd:string is left out."""
    raise NotImplementedError


def to_text(term: Term) -> str:
    """N-Triples form of a term."""
    raise NotImplementedError


def parse_term(text: str) -> Term:
    """The term that N-Triples text stands for (escapes allowed).

    Raises:
        TermError: the text is not exactly one term.
    """
    raise NotImplementedError


def canonical_term(text: str, position: Position) -> str:
    """The one spelling of a term that the tables hold; '' stays '' as a graph.

    Raises:
        TermError: not a term, or not one that may stand there.
    """
    raise NotImplementedError


def check_term(text: str, position: Position) -> str | None:
    """Why `text` cannot be used as the `position` of a quad, or None if it can.

    Valid text need not be the spelling that the tables hold: store `canonical_term(text, position)`.
    """
    try:
        canonical_term(text, position)
    except TermError as error:
        return str(error)
    return None
