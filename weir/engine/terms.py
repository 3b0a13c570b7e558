"""Tests of RDF terms on their N-Triples text, as SQL."""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import text

TRUE = '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'
FALSE = '"false"^^<http://www.w3.org/2001/XMLSchema#boolean>'


def begins(term: exp.Expr, first: str) -> exp.Expr:
    """Whether the text begins with the character `first`: `<` IRI, `_` blank node, `"` literal."""
    return exp.Left(this=term.copy(), expression=exp.Literal.number(1)).eq(text(first))
