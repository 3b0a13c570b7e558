"""FROM NAMED WINDOW: the declarations of a query's windows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from weir.sparql.algebra.windows import CountWindow, TimeWindow, WindowClause, WindowContent
from weir.sparql.frontend.errors import QuerySyntaxError
from weir.sparql.frontend.lexer import Token
from weir.sparql.frontend.prologue import Prologue
from weir.sparql.frontend.rspql.names import iri_of, is_name
from weir.sparql.frontend.source import Source
from weir.text.durations import HINT, CalendarDuration, parse_duration

CLAUSE_HINT = "Write FROM NAMED WINDOW w ON s [RANGE PT10M STEP PT1M], or [ELEMENTS 100]."
_MOST_ELEMENTS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Declaration:
    """The clause of a window, and the token of its name."""

    clause: WindowClause
    token: Token


def cut_declarations(
    body: tuple[Token, ...], prologue: Prologue, source: Source
) -> tuple[tuple[Declaration, ...], tuple[Token, ...]]:
    """The windows that a query declares, and the tokens of its body without them.

    Raises:
        QuerySyntaxError: a clause is malformed or in another place, or a window is declared twice.
        UnsupportedQuery: a duration in months or years.
    """
    declared: dict[str, Declaration] = {}
    kept: list[Token] = []
    position = depth = 0
    while position < len(body):
        token = body[position]
        if not _is_clause(body[position : position + 3]):
            depth += {"{": 1, "}": -1}.get(token.text, 0)
            kept.append(token)
            position += 1
            continue
        reader = _ClauseReader(body, position + 3, prologue, source)
        declaration = reader.declaration()
        position = reader.position
        following = body[position] if position < len(body) else None
        if depth > 0 or not _continues(following):
            raise source.malformed(
                "FROM NAMED WINDOW",
                token,
                "windows are declared right before the outermost WHERE",
                CLAUSE_HINT,
            )
        if declaration.clause.name in declared:
            raise source.malformed(
                declaration.token.text,
                declaration.token,
                "this window is declared already",
                "Give each window a name of its own.",
            )
        declared[declaration.clause.name] = declaration
    return tuple(declared.values()), tuple(kept)


def _is_clause(tokens: tuple[Token, ...]) -> bool:
    words = ("FROM", "NAMED", "WINDOW")
    return len(tokens) == 3 and all(t.is_word(w) for t, w in zip(tokens, words, strict=True))


def _continues(token: Token | None) -> bool:
    return token is not None and (token.is_word("FROM", "WHERE") or token.text == "{")


class _ClauseReader:
    """Reads one clause from the token after FROM NAMED WINDOW on."""

    def __init__(
        self, tokens: tuple[Token, ...], position: int, prologue: Prologue, source: Source
    ) -> None:
        self._tokens, self.position = tokens, position
        self._prologue, self._source = prologue, source

    def declaration(self) -> Declaration:
        """The clause; `position` is after its closing bracket."""
        token = self._name("the name of a window")
        self._keyword("ON")
        if self._at("STREAM") and not self._following_is("["):
            self._next("STREAM")
        stream = self._name("the name of a stream")
        self._punctuation("[")
        content = self._content()
        self._punctuation("]")
        name = iri_of(token, "window", self._prologue)
        clause = WindowClause(name, iri_of(stream, "stream", self._prologue), content)
        return Declaration(clause, token)

    def _content(self) -> WindowContent:
        if self._at("ELEMENTS"):
            self._next("ELEMENTS")
            elements = self._count()
            return CountWindow(elements, self._count() if self._step() else None)
        self._keyword("RANGE", "ELEMENTS")
        range_us = self._duration()
        return TimeWindow(range_us, self._duration() if self._step() else None)

    def _step(self) -> bool:
        if self._at("STEP"):
            self._next("STEP")
            return True
        return False

    def _count(self) -> int:
        token = self._next("a number of triples")
        if token.kind != "number" or not token.text.isdecimal():
            raise self._unexpected(token, "a number of triples")
        count = int(token.text[:20])
        if not 0 < count <= _MOST_ELEMENTS:
            reason = f"a number of triples is from 1 to {_MOST_ELEMENTS:,}"
            raise self._source.malformed(token.text, token, reason, CLAUSE_HINT)
        return count

    def _duration(self) -> int:
        first = self._next("a duration")
        if first.text == "]":
            raise self._unexpected(first, "a duration")
        text = first.text
        rest = takewhile(lambda token: token.text != "]", self._tokens[self.position :])
        for token in rest:
            if token.offset != first.offset + len(text):
                break
            text += token.text
            self.position += 1
        try:
            length = parse_duration(text)
        except CalendarDuration as error:
            raise self._source.unsupported(
                text, first, str(error), "Write a number of days: P30D."
            ) from error
        except ValueError as error:
            raise self._source.malformed(text, first, str(error), HINT) from error
        if length == 0:
            raise self._source.malformed(text, first, "a window has a size and a step", HINT)
        return length

    def _name(self, expected: str) -> Token:
        token = self._next(expected)
        if not is_name(token):
            raise self._unexpected(token, expected)
        return token

    def _keyword(self, *words: str) -> None:
        expected = " or ".join(words)
        token = self._next(expected)
        if not token.is_word(*words):
            raise self._unexpected(token, expected)

    def _punctuation(self, text: str) -> None:
        token = self._next(text)
        if token.text != text:
            raise self._unexpected(token, text)

    def _at(self, word: str) -> bool:
        return self.position < len(self._tokens) and self._tokens[self.position].is_word(word)

    def _following_is(self, text: str) -> bool:
        return [t.text for t in self._tokens[self.position + 1 : self.position + 2]] == [text]

    def _next(self, expected: str) -> Token:
        if self.position == len(self._tokens):
            raise self._unexpected(self._tokens[-1], f"{expected} after it")
        self.position += 1
        return self._tokens[self.position - 1]

    def _unexpected(self, token: Token, expected: str) -> QuerySyntaxError:
        return self._source.malformed(token.text, token, f"expected {expected}", CLAUSE_HINT)
