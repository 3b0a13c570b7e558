"""WINDOW in WHERE: each names a window that the query declares.

WINDOW is allowed where GRAPH is, also within GRAPH and WINDOW; patterns inside read the innermost.
GRAPH within WINDOW is refused, because it is ambiguous: it could be a named graph of the dataset,
or one of the stream's events, whose graphs are merged in a window. WINDOW within SERVICE is
refused, because a remote has no windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from weir.sparql.frontend.lexer import Token
from weir.sparql.frontend.prologue import Prologue
from weir.sparql.frontend.rspql.names import as_iri_token, iri_of, is_name
from weir.sparql.frontend.rspql.window_clauses import CLAUSE_HINT, Declaration
from weir.sparql.frontend.source import Source


def resolve_references(
    body: tuple[Token, ...],
    declarations: Sequence[Declaration],
    prologue: Prologue,
    source: Source,
) -> tuple[Token, ...]:
    """The tokens of a body, with each name after WINDOW as an IRI or prefixed name.

    Raises:
        QuerySyntaxError: WINDOW without a name or in another place, or a window that is not
            declared.
        UnsupportedQuery: WINDOW with a variable or in SERVICE, GRAPH with the name of a window or
            inside of one, or a window that is not used.
    """
    declared = {declaration.clause.name for declaration in declarations}
    resolved = list(body)
    used: set[str] = set()
    # For each open brace, whether it is in a window or in a block that is sent to a remote.
    inside: list[_Inside] = [None]
    opens: _Inside = None
    for position, token in enumerate(body):
        following = body[position + 1] if position + 1 < len(body) else None
        if token.text == "{":
            inside.append("service" if inside[-1] == "service" else opens or inside[-1])
        elif token.text == "}":
            inside.pop()
        elif token.is_word("WINDOW"):
            name = _window_name(token, following, is_outside=len(inside) == 1, source=source)
            if inside[-1] == "service":
                raise source.unsupported(
                    f"WINDOW {name.text}",
                    token,
                    "a remote has no windows",
                    "Close the group of SERVICE before WINDOW: the two are joined here.",
                )
            window = iri_of(name, "window", prologue)
            if window not in declared:
                raise source.malformed(name.text, name, "this window is not declared", CLAUSE_HINT)
            used.add(window)
            resolved[position + 1] = as_iri_token(name, "window")
        elif token.is_word("GRAPH") and inside[-1] != "service":
            in_window = inside[-1] == "window"
            _check_graph(token, following, declared, prologue, source, inside=in_window)
        opens = _opened_by(body[position - 1]) if position else None
    for declaration in declarations:
        if declaration.clause.name not in used:
            raise source.unsupported(
                declaration.token.text,
                declaration.token,
                "the query does not read this window",
                "Read it with WINDOW, or delete its declaration.",
            )
    return tuple(resolved)


_Inside = Literal["window", "service"] | None


def _opened_by(word: Token) -> _Inside:
    """The kind of group that `word`, a name and a brace open."""
    if word.is_word("WINDOW"):
        return "window"
    return "service" if word.is_word("SERVICE") or word.is_word("SILENT") else None


def _window_name(word: Token, name: Token | None, *, is_outside: bool, source: Source) -> Token:
    if is_outside:
        raise source.malformed(
            "WINDOW", word, "it stands in WHERE, or in FROM NAMED WINDOW", CLAUSE_HINT
        )
    if name is not None and name.kind == "variable":
        raise source.unsupported(
            f"WINDOW {name.text}",
            word,
            "a query reads each of its windows by name",
            "Name the window, or join several with UNION.",
        )
    if name is None or not is_name(name):
        raise source.malformed("WINDOW", word, "no name follows", "Write WINDOW name { ... }.")
    return name


def _check_graph(
    word: Token,
    name: Token | None,
    declared: set[str],
    prologue: Prologue,
    source: Source,
    *,
    inside: bool,
) -> None:
    if inside:
        raise source.unsupported(
            "GRAPH",
            word,
            "a window is one graph: the named graphs of its stream's events are merged",
            "Close the group of WINDOW before GRAPH.",
        )
    if name is None or name.kind not in ("iri", "name"):
        return
    if iri_of(name, "window", prologue) in declared:
        raise source.unsupported(
            f"GRAPH {name.text}",
            word,
            "this is the name of a window, which is not a graph of the dataset",
            f"Write WINDOW {name.text}.",
        )
