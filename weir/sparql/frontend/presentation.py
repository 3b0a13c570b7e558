"""Parts of a query that only affect how its answer is presented, so not a maintained one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise, takewhile

from weir.sparql.frontend.lexer import Token
from weir.sparql.frontend.source import Source
from weir.sparql.frontend.tree import Tree


def read_presentation(tree: Tree, source: Source, text: str) -> tuple[str, ...]:
    """The parts of the outermost level: REDUCED, and the text of an ORDER BY without LIMIT."""
    notes = ["REDUCED"] if tree.get("modifier") == "REDUCED" else []
    if tree.get("orderby") is not None and tree.get("limitoffset") is None:
        outermost = list(_outside_braces(source.tokens))
        start = max(
            i
            for i, (token, following) in enumerate(pairwise(outermost))
            if token.is_word("ORDER") and following.is_word("BY")
        )
        clause = list(takewhile(lambda t: not t.is_word("VALUES"), outermost[start:]))
        # A condition may end with a group: ORDER BY EXISTS { ... }.
        end = next((t.offset for t in outermost if t.offset > clause[-1].offset), None)
        last = [t for t in source.tokens if end is None or t.offset < end][-1]
        notes.append(" ".join(text[clause[0].offset : last.end].split()))
    return tuple(notes)


def _outside_braces(tokens: Iterable[Token]) -> Iterator[Token]:
    depth = 0
    for token in tokens:
        depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "punctuation" else 0
        if depth == 0 and token.text != "}":
            yield token
