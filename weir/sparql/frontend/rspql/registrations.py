"""REGISTER, and the operator after SELECT or CONSTRUCT: which stream a query publishes.

The operator may be in two places, `REGISTER STREAM s AS CONSTRUCT RSTREAM` and `REGISTER RSTREAM s
AS CONSTRUCT`. If it is in both, it must be the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from weir.sparql.algebra.windows import Registration, StreamOperator
from weir.sparql.frontend.lexer import Token
from weir.sparql.frontend.prologue import Prologue, read_prologue
from weir.sparql.frontend.rspql.names import iri_of, is_name
from weir.sparql.frontend.source import Source

_OPERATORS: dict[str, StreamOperator] = {
    "RSTREAM": "rstream",
    "ISTREAM": "istream",
    "DSTREAM": "dstream",
}
KEYWORDS = ("REGISTER", *_OPERATORS)
"""The words by which a query publishes a stream; SPARQL has none of them."""

_REGISTER_HINT = "Write REGISTER STREAM name AS, or REGISTER RSTREAM name AS."


@dataclass(frozen=True, slots=True)
class Publication:
    """The tokens that say which stream a query publishes; None for what is not written.

    Attributes:
        register: the word REGISTER.
        name: the name of the stream.
        operators: the operators, in the order of the text.
    """

    register: Token | None = None
    name: Token | None = None
    operators: tuple[Token, ...] = ()

    @property
    def first(self) -> Token | None:
        """The first of the tokens."""
        return next(iter(self.operators), None) if self.register is None else self.register

    def registration(self, prologue: Prologue) -> Registration | None:
        """The registration that the tokens declare; None if there are no tokens."""
        if self.first is None:
            return None
        operator = _OPERATORS[self.operators[0].text.upper()] if self.operators else None
        stream = None if self.name is None else iri_of(self.name, "stream", prologue)
        return Registration(operator, stream)


def cut_publication(source: Source) -> tuple[Publication, tuple[Token, ...]]:
    """Which stream a query publishes, and the other tokens of the query.

    Prefixes may be declared before REGISTER, after it, or both.

    Raises:
        QuerySyntaxError: REGISTER is malformed, or a keyword is in another place.
        UnsupportedQuery: two different operators, or an operator with ASK.
    """
    start = read_prologue(source.tokens, source.file).length
    publication, tokens = _cut_register(source, start)
    form = read_prologue(tokens, source.file).length
    operators = publication.operators
    if len(tokens) > form + 1 and tokens[form + 1].is_word(*_OPERATORS):
        operators = (*operators, tokens[form + 1])
        tokens = (*tokens[: form + 1], *tokens[form + 2 :])
    _check(operators, tokens[form] if len(tokens) > form else None, tokens, source)
    return Publication(publication.register, publication.name, operators), tokens


def _cut_register(source: Source, start: int) -> tuple[Publication, tuple[Token, ...]]:
    tokens = source.tokens
    if len(tokens) == start or not tokens[start].is_word("REGISTER"):
        return Publication(), tokens
    register, *following = tokens[start : start + 4]
    match following:
        case [kind, name, as_] if (
            kind.is_word("STREAM", *_OPERATORS) and is_name(name) and as_.is_word("AS")
        ):
            operators = () if kind.is_word("STREAM") else (kind,)
            rest = (*tokens[:start], *tokens[start + 4 :])
            return Publication(register, name, operators), rest
        case _:
            raise source.malformed("REGISTER", register, "it is malformed", _REGISTER_HINT)


def _check(
    operators: tuple[Token, ...], form: Token | None, tokens: tuple[Token, ...], source: Source
) -> None:
    misplaced = next((token for token in tokens if token.is_word(*KEYWORDS)), None)
    if misplaced is not None:
        raise source.malformed(
            misplaced.text,
            misplaced,
            "it has no place here",
            "REGISTER begins a query; an operator follows it, or the first SELECT or CONSTRUCT.",
        )
    if len({operator.text.upper() for operator in operators}) > 1:
        first, second = operators
        raise source.unsupported(
            second.text,
            second,
            f"the query has another operator already, {first.text}",
            "Write one of them.",
        )
    if operators and form is not None and form.is_word("ASK"):
        raise source.unsupported(
            operators[0].text,
            operators[0],
            "the answer of ASK is a truth value, of which there is no stream",
            "Leave the operator out, or write SELECT or CONSTRUCT.",
        )
