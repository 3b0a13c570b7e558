"""The stream syntax of a query text, separated from the tokens that SPARQL's grammar reads."""

from __future__ import annotations

from dataclasses import dataclass

from weir.sparql.algebra.windows import Registration, WindowClause
from weir.sparql.frontend.lexer import Token
from weir.sparql.frontend.prologue import read_prologue
from weir.sparql.frontend.rspql.registrations import KEYWORDS, cut_publication
from weir.sparql.frontend.rspql.window_clauses import CLAUSE_HINT, cut_declarations
from weir.sparql.frontend.rspql.window_references import resolve_references
from weir.sparql.frontend.source import Source


@dataclass(frozen=True, slots=True)
class StreamSyntax:
    """A query text in two parts.

    Attributes:
        tokens: SPARQL, with WINDOW and the name of a window in place of GRAPH and its name.
        windows: the windows, in the order of the text.
        registration: the stream that the query publishes; None if it declares none.
    """

    tokens: tuple[Token, ...]
    windows: tuple[WindowClause, ...] = ()
    registration: Registration | None = None


def read_stream_syntax(tokens: tuple[Token, ...], file: str) -> StreamSyntax:
    """The stream syntax of a query; without any, the tokens are returned unchanged.

    Args:
        tokens: the whole text; each bracket is closed.
        file: its file, for errors.

    Raises:
        QuerySyntaxError: the syntax is malformed.
        UnsupportedQuery: it is RSP-QL that Weir cannot maintain.
    """
    if not any(token.is_word("WINDOW", *KEYWORDS) for token in tokens):
        return StreamSyntax(tokens)
    source = Source.of(file, tokens)
    publication, tokens = cut_publication(source)
    prologue = read_prologue(tokens, file)
    head, body = tokens[: prologue.length], tokens[prologue.length :]
    declarations, body = cut_declarations(body, prologue, source)
    body = resolve_references(body, declarations, prologue, source)
    if publication.first is not None and body and not declarations:
        raise source.unsupported(
            publication.first.text,
            publication.first,
            "a query without windows has no instants at which a stream could have elements",
            CLAUSE_HINT,
        )
    return StreamSyntax(
        (*head, *body),
        tuple(declaration.clause for declaration in declarations),
        publication.registration(prologue),
    )
