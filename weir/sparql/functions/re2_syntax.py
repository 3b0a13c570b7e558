r"""Patterns in the syntax of RE2, which searches in linear time (https://github.com/google/re2).

Only regular expressions in the strict sense are translated: characters, classes, groups,
alternatives, repetitions and the two ends of the text. For them, whether a text has a match does
not depend on the method of search. What RE2 lacks or does differently is not translated:
look-around (a subtraction from a class, the lines of flag `m`), references to groups, and flag `i`,
which pairs characters by another version of Unicode.
"""

from __future__ import annotations

import re
from typing import Any

from weir.sparql.functions.matching_cost import sre

_MOST_REPEATS = 1_000
"""The most that RE2 repeats."""
_LARGEST = 1_000
"""The most characters of a pattern with its repetitions written out; at worst, a search takes that
many steps per character of the text."""


def re2_pattern(flags: int, tree: Any) -> str | None:
    """The pattern for RE2, to be searched without flags; None if it cannot be translated.

    Args:
        flags: the flags of the pattern of Python.
        tree: the syntax tree of the pattern of Python.
    """
    if flags & re.IGNORECASE:
        return None
    try:
        text, _ = _sequence(tree, is_dotall=bool(flags & re.DOTALL))
    except _NoTranslation:
        return None
    return text


class _NoTranslation(Exception):  # noqa: N818  (it is no error)
    """A part of the pattern has no equivalent in RE2."""


def _sequence(tree: Any, *, is_dotall: bool) -> tuple[str, int]:
    """The text, and its size with repetitions written out."""
    parts = [_item(kind, value, is_dotall=is_dotall) for kind, value in tree]
    return "".join(text for text, _ in parts), sum(size for _, size in parts)


def _item(kind: Any, value: Any, *, is_dotall: bool) -> tuple[str, int]:
    match kind:
        case sre.LITERAL:
            return _character(value), 1
        case sre.NOT_LITERAL:
            return f"[^{_character(value)}]", 1
        case sre.ANY:
            return ("(?s:.)" if is_dotall else r"[^\n]"), 1
        case sre.IN:
            return _class(value), 1
        case sre.AT if value is sre.AT_BEGINNING:
            return r"\A", 1
        case sre.AT if value is sre.AT_END_STRING:
            return r"\z", 1
        case sre.BRANCH:
            parts = [_sequence(branch, is_dotall=is_dotall) for branch in value[1]]
            text = "|".join(part for part, _ in parts)
            return f"(?:{text})", 1 + sum(size for _, size in parts)
        case sre.SUBPATTERN:
            _, added, removed, inner = value
            if added or removed:
                raise _NoTranslation
            text, size = _sequence(inner, is_dotall=is_dotall)
            return f"(?:{text})", size
        case sre.MAX_REPEAT | sre.MIN_REPEAT:
            least, most, inner = value
            return _repeat(least, most, inner, is_dotall=is_dotall)
        case _:
            raise _NoTranslation


def _repeat(least: int, most: int, inner: Any, *, is_dotall: bool) -> tuple[str, int]:
    text, size = _sequence(inner, is_dotall=is_dotall)
    is_open = most is sre.MAXREPEAT
    written_out = size * max(least if is_open else most, 1)
    if max(least, 0 if is_open else most) > _MOST_REPEATS or written_out > _LARGEST:
        raise _NoTranslation
    return f"(?:{text}){{{least},{'' if is_open else most}}}", written_out


def _class(items: Any) -> str:
    members = []
    sign = ""
    for kind, value in items:
        match kind:
            case sre.NEGATE:
                sign = "^"
            case sre.LITERAL:
                members.append(_character(value))
            case sre.RANGE:
                members.append(f"{_character(value[0])}-{_character(value[1])}")
            case _:
                raise _NoTranslation
    return f"[{sign}{''.join(members)}]"


def _character(code: int) -> str:
    return f"\\x{{{code:x}}}"
