"""Where the terms of a query stand in its text, and how its prefixes shorten them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from weir.sparql.frontend.lexer import Token, tokenize
from weir.sparql.frontend.prologue import Prologue, read_prologue
from weir.text.short_term import short_term


@dataclass(frozen=True, slots=True)
class WrittenTerms:
    """The tokens of a query that has no mistake, and its prologue.

    prefixes: IRIs by prefix, those of the query before those of the project.
    """

    tokens: tuple[Token, ...]
    prologue: Prologue
    prefixes: Mapping[str, str]

    @classmethod
    def of(cls, text: str, file: str, prefixes: Mapping[str, str]) -> Self:
        """Those of a text.

        Args:
            text: of the query.
            file: its name.
            prefixes: of the project, by prefix without its colon.
        """
        tokens = tokenize(text, file)
        # A REGISTER clause comes before the prologue.
        start = next((i for i, token in enumerate(tokens) if token.is_word("PREFIX", "BASE")), 0)
        prologue = read_prologue(tokens[start:], file)
        own = {prefix.removesuffix(":"): iri for prefix, iri in prologue.prefixes.items()}
        return cls(tokens, prologue, {**prefixes, **own})

    def unused_prefixes(self) -> list[Token]:
        """The declarations of prefixes that no term uses, as the tokens of their names."""
        declared = [
            token
            for before, token in zip(self.tokens, self.tokens[1:], strict=False)
            if before.is_word("PREFIX") and token.kind == "name"
        ]
        used = {
            token.text.partition(":")[0]
            for token in self.tokens
            if token.kind == "name" and token not in declared
        }
        return [token for token in declared if token.text.removesuffix(":") not in used]

    def variable(self, name: str) -> Token | None:
        """The first mention of a variable."""
        return next((t for t in self.tokens if t.kind == "variable" and t.text[1:] == name), None)

    def term(self, term: str) -> Token | None:
        """The first mention of a term, in N-Triples form; None for one that is not written out."""
        if not term.startswith("<"):
            texts = (token for token in self.tokens if token.kind == "string")
            return next((t for t in texts if term.startswith(f'"{_inside(t.text)}"')), None)
        body = (token for token in self.tokens if token.kind in ("iri", "name"))
        declared = {id(token) for token in self._of_prologue()}
        return next(
            (t for t in body if id(t) not in declared and f"<{self.prologue.iri(t)}>" == term), None
        )

    def _of_prologue(self) -> tuple[Token, ...]:
        return tuple(
            token
            for i, token in enumerate(self.tokens)
            if any(before.is_word("PREFIX", "BASE") for before in self.tokens[max(0, i - 2) : i])
        )

    def shortened(self, term: str) -> str:
        """A term as the query could write it."""
        return short_term(term, self.prefixes)


def _inside(literal: str) -> str:
    """The text of a string between its quotes, which are one or three."""
    quotes = 3 if literal[:3] in ('"' * 3, "'" * 3) and len(literal) > 5 else 1
    return literal[quotes:-quotes]
