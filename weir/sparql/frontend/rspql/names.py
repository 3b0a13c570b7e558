"""Names of windows and streams: an IRI, a prefixed name, or a bare word.

A bare word stands for an IRI of its own: the window `W` is <urn:weir:window:W>, the stream `S` is
<urn:weir:stream:S>. Case matters. `<:name>`, as paper 003 prints it, is the prefixed name `:name`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from weir.rdf import terms
from weir.sparql.frontend.lexer import Token
from weir.sparql.frontend.prologue import Prologue

STREAM_IRI = "urn:weir:stream:"
"""The beginning of the IRI of a stream whose name is a bare word."""
WINDOW_IRI = "urn:weir:window:"
"""The beginning of the IRI of a window whose name is a bare word."""


def is_name(token: Token) -> bool:
    """Whether a token can be the name of a window or stream."""
    return token.kind in ("iri", "name", "word")


def as_iri_token(token: Token, of: Literal["stream", "window"]) -> Token:
    """The token of a name that SPARQL can read, an IRI or a prefixed name, at the same place."""
    if token.kind == "word":
        begin = STREAM_IRI if of == "stream" else WINDOW_IRI
        return replace(token, kind="iri", text=f"<{begin}{token.text}>")
    if token.text.startswith("<:"):
        return replace(token, kind="name", text=token.text[1:-1])
    return token


def iri_of(token: Token, of: Literal["stream", "window"], prologue: Prologue) -> str:
    """The IRI of a name, in N-Triples form.

    Raises:
        QueryError: a prefix that is not declared, or a relative IRI without BASE.
    """
    return terms.iri(prologue.iri(as_iri_token(token, of)))
