"""The syntax tree of a query, free of the parser's own types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from jobs.sparql.algebra.expressions import Constant, Variable
from jobs.sparql.frontend.errors import QuerySyntaxError, UnsupportedQuery
from jobs.sparql.frontend.lexer import Token


@dataclass(frozen=True, slots=True)
class Leaf:
    """A variable, blank node or term, with its token; None if the syntax implies it (`a`, `[]`)."""

    node: Variable | Constant
    token: Token | None = None

    @property
    def is_literal(self) -> bool:
        """Whether it is a literal."""
        return isinstance(self.node, Constant) and self.node.term.startswith('"')

    @property
    def is_signed(self) -> bool:
        """Whether it is a number with its sign."""
        return isinstance(self.node, Constant) and self.node.term[:2] in ('"-', '"+')

    def signed(self, sign: str) -> Leaf:
        """A number with `sign` before it."""
        assert isinstance(self.node, Constant), "a number is a constant"
        return Leaf(Constant(f'"{sign}{self.node.term[1:]}'), self.token)


@dataclass(frozen=True, slots=True)
class Tree:
    """A production of the grammar, named as rdflib's parser names it, and its parts."""

    name: str
    parts: Mapping[str, Branch]

    def get(self, part: str) -> Branch | None:
        """The part, or None if it is not there."""
        return self.parts.get(part)

    def all(self, part: str) -> tuple[Branch, ...]:
        """The part as a tuple, empty if it is not there."""
        found = self.parts.get(part)
        if found is None:
            return ()
        return found if isinstance(found, tuple) else (found,)


Branch = Tree | Leaf | str | tuple["Branch", ...]


@dataclass(frozen=True, slots=True)
class Source:
    """The tokens behind a syntax tree; it knows where things are."""

    file: str
    tokens: tuple[Token, ...]
    signs: Mapping[int, str]

    @classmethod
    def of(cls, file: str, tokens: tuple[Token, ...]) -> Self:
        """The source of `tokens`; `signs` are the plus and minus tokens by their end."""
        return cls(file, tokens, {t.end: t.text for t in tokens if t.text in ("+", "-")})

    def first_word(self, *words: str) -> Token | None:
        """The first of the keywords `words`."""
        return next((token for token in self.tokens if token.is_word(*words)), None)

    def first_token(self, branch: Branch | None) -> Token | None:
        """The first token of the terms and variables below `branch`."""
        return _first(leaf.token for leaf in _leaves(branch))

    def first_mention(self, name: str, branch: Branch) -> Token | None:
        """The first mention of a variable below `branch`."""
        return _first(leaf.token for leaf in _leaves(branch) if leaf.node == Variable(name))

    def word_before(self, token: Token | None, *words: str) -> Token | None:
        """The last of the keywords `words` before `token`, or the first of all."""
        before = [t for t in self.tokens if token and t.offset < token.offset and t.is_word(*words)]
        return before[-1] if before else self.first_word(*words)

    def term(self, leaf: Leaf) -> Variable | Constant:
        """The node of a leaf outside an expression."""
        # rdflib drops a plus; a minus is there already.
        return leaf.signed("+").node if self.sign_of(leaf) == "+" else leaf.node

    def sign_of(self, leaf: Leaf) -> str:
        """The sign written right before a number, or nothing."""
        if leaf.token is None or leaf.token.kind != "number":
            return ""
        return self.signs.get(leaf.token.offset, "")

    def unsupported(
        self, what: str, token: Token | None, reason: str, instead: str
    ) -> UnsupportedQuery:
        """The error for a construct at `token`."""
        line, column = self.place(token)
        return UnsupportedQuery(what, self.file, line, column, reason, instead)

    def malformed(
        self, what: str, token: Token | None, reason: str, instead: str = ""
    ) -> QuerySyntaxError:
        """The error for text that is no SPARQL at `token`."""
        line, column = self.place(token)
        return QuerySyntaxError(what, self.file, line, column, reason, instead)

    def place(self, token: Token | None) -> tuple[int, int]:
        """Line and column of `token`, or of the first token."""
        found = token or (self.tokens[0] if self.tokens else None)
        return (found.line, found.column) if found else (1, 1)


def _leaves(branch: Branch | None) -> Iterator[Leaf]:
    match branch:
        case Leaf():
            yield branch
        case Tree():
            for part in branch.parts.values():
                yield from _leaves(part)
        case tuple():
            for item in branch:
                yield from _leaves(item)
        case _:
            pass


def _first(tokens: Iterable[Token | None]) -> Token | None:
    found = [token for token in tokens if token is not None]
    return min(found, key=lambda token: token.offset) if found else None
