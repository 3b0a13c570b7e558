"""Parses the text of a program, by lark and `grammar.lark`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from weir.lars.errors import ProgramSyntaxError, UnsupportedProgram
from weir.lars.syntax import Place, RuleSet
from weir.lars.terms import Namespaces
from weir.sparql.recursion import deep_recursion

if TYPE_CHECKING:
    from lark import Lark, UnexpectedInput

MAX_BYTES = 65_536

_NAMES = {
    "NAME": "a name in lower case",
    "VARIABLE": "a variable",
    "INTEGER": "a whole number",
    "COMPARATOR": "a comparison",
    "_ARROW": "<-",
    "_WIN": "win^",
    "_NOT": "not",
    "_DIAMOND": "diamond",
    "_BOX": "box",
    "_STEP": "step",
    "LBRACE": "{",
    "RBRACE": "}",
    "AT": "@",
    "CIRCUMFLEX": "^",
    "DOT": "a full stop",
    "COMMA": "a comma",
    "LPAR": "(",
    "RPAR": ")",
}
"""The names of expected tokens in errors; other tokens, of arithmetic, are left out."""


def parse(text: str, prefixes: Mapping[str, str], file: str = "<program>") -> RuleSet:
    """The rules and facts of a program text.

    Args:
        text: the text; the lines of its front matter are comments.
        prefixes: IRIs without brackets by prefix, without its colon.
        file: its name, for errors.

    Raises:
        ProgramSyntaxError: the text is not a program.
        UnsupportedProgram: it is too large.
    """
    from lark import UnexpectedInput

    from weir.lars.tree import Reading

    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise UnsupportedProgram(
            "program", file, Place(1, 1), f"longer than {MAX_BYTES:,} bytes", "Split it."
        )
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(error, text, file) from error
    with deep_recursion():
        return Reading(Namespaces(prefixes, file)).program(tree)


@lru_cache(1)
def _parser() -> Lark:
    from lark import Lark

    return Lark.open_from_package(
        "weir.lars", "grammar.lark", parser="lalr", propagate_positions=True
    )


def _syntax_error(error: UnexpectedInput, text: str, file: str) -> ProgramSyntaxError:
    from lark import UnexpectedCharacters, UnexpectedToken

    expected: set[str] = set()
    if isinstance(error, UnexpectedToken):
        expected = {*error.expected}
        token = str(error.token) or "end of the text"
        if error.token.type == "$END":
            token, lines = "end of the text", text.splitlines() or [""]
            place = Place(len(lines), len(lines[-1]) + 1)
        else:
            place = Place(error.line, error.column)
    else:
        assert isinstance(error, UnexpectedCharacters), "the text has ended or goes on"
        expected = {*(error.allowed or ())}
        place, token = Place(error.line, error.column), text[error.pos_in_stream or 0]
    if token == ":" and text.startswith(":-", error.pos_in_stream or 0):
        token = ":-"
    return ProgramSyntaxError(token, file, place, *_reason(token, expected))


def _reason(token: str, expected: set[str]) -> tuple[str, str]:
    """Why a token is not expected, and what to write."""
    if token in ("'", '"'):
        reason = "a string that does not end in its line, or an escape that no string has"
        return reason, 'Strings are in double quotes, with the escapes of N-Triples: "a".'
    if token == "not" and ("_WIN" in expected or expected == {"NAME"}):
        return "negation stands once, before the window", "Write not win^2 diamond p(X)."
    if token == ":-":
        return "an arrow is written <-", "Write alarm(X) <- body."
    if token == "end of the text":
        return "a rule is not complete", "Each rule and each fact ends with a full stop."
    if token.startswith(".") and {"_DIAMOND", "_BOX"} <= expected:
        return "the size of a window is a whole number", "Write win^2 diamond p(X)."
    if token[:1].isupper() and "NAME" in expected:
        return "a predicate begins with a lower-case letter", "Names in upper case are variables."
    if token.startswith(":") and "_ARROW" in expected:
        return "a predicate is a name without a prefix", "Write alarm(X) <- body."
    if {"_DIAMOND", "_BOX"} <= expected:
        return "a window is read by diamond, box or @T", "Write win^2 diamond p(X)."
    words = [_NAMES[name] for name in _NAMES if name in expected]
    return f"expected {' or '.join(words)}" if words else "unexpected", ""
