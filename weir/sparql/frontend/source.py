"""Places in the text of a query, and errors that name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.frontend.errors import QuerySyntaxError, UnsupportedQuery
from weir.sparql.frontend.lexer import Token
from weir.sparql.frontend.tree import Branch, Leaf, leaves


@dataclass(frozen=True, slots=True)
class Source:
    """The tokens of a query, by which the place of a construct is looked up.

    `signs` maps the end offset of each plus or minus token to its text.
    """

    file: str
    tokens: tuple[Token, ...]
    signs: Mapping[int, str]

    @classmethod
    def of(cls, file: str, tokens: tuple[Token, ...]) -> Self:
        """The source of `tokens`."""
        return cls(file, tokens, {t.end: t.text for t in tokens if t.text in ("+", "-")})

    def first_word(self, *words: str) -> Token | None:
        """The first of the keywords `words`."""
        return next((token for token in self.tokens if token.is_word(*words)), None)

    def follows(self, token: Token, *words: str) -> bool:
        """Whether the token before `token` is one of the keywords `words`."""
        place = self.tokens.index(token)
        return place > 0 and self.tokens[place - 1].is_word(*words)

    def first_token(self, branch: Branch | None) -> Token | None:
        """The first token of the terms and variables below `branch`."""
        return _first(leaf.token for leaf in leaves(branch))

    def first_mention(self, name: str, branch: Branch) -> Token | None:
        """The first mention of a variable below `branch`."""
        return _first(leaf.token for leaf in leaves(branch) if leaf.node == Variable(name))

    def word_before(self, token: Token | None, *words: str) -> Token | None:
        """The last of the keywords `words` before `token`; without one, the first in the text."""
        before = [t for t in self.tokens if token and t.offset < token.offset and t.is_word(*words)]
        return before[-1] if before else self.first_word(*words)

    def term(self, leaf: Leaf) -> Variable | Constant:
        """The node of a leaf outside an expression, with its sign."""
        # rdflib drops a plus and keeps a minus.
        return leaf.signed("+").node if self.sign_of(leaf) == "+" else leaf.node

    def sign_of(self, leaf: Leaf) -> str:
        """The sign written right before a number, or nothing."""
        if leaf.token is None or leaf.token.kind != "number":
            return ""
        return self.signs.get(leaf.token.offset, "")

    def unsupported(
        self, what: str, token: Token | None, reason: str, hint: str
    ) -> UnsupportedQuery:
        """The error for a construct at `token`."""
        line, column = self.place(token)
        return UnsupportedQuery(what, self.file, line, column, reason, hint)

    def malformed(
        self, what: str, token: Token | None, reason: str, hint: str = ""
    ) -> QuerySyntaxError:
        """The error for text at `token` that is not SPARQL."""
        line, column = self.place(token)
        return QuerySyntaxError(what, self.file, line, column, reason, hint)

    def place(self, token: Token | None) -> tuple[int, int]:
        """Line and column of `token`, or of the first token."""
        at = token or (self.tokens[0] if self.tokens else None)
        return (at.line, at.column) if at else (1, 1)


def _first(tokens: Iterable[Token | None]) -> Token | None:
    written = [token for token in tokens if token is not None]
    return min(written, key=lambda token: token.offset) if written else None
