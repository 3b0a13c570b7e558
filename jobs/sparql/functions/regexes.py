"""Patterns and replacements of REGEX and REPLACE, compiled for Python's `re`.

https://www.w3.org/TR/xpath-functions/#string.match
"""

from __future__ import annotations

import re
from functools import lru_cache

from jobs.sparql.functions.regex_syntax import PatternError, python_pattern

_FLAGS = {"s": re.DOTALL, "m": 0, "i": re.IGNORECASE, "x": 0, "q": 0}


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str, flags: str) -> re.Pattern[str]:
    """The Python pattern that matches what the XPath `pattern` matches.

    There is no bound on the time that a match takes: nested quantifiers as in `(a+)+$` are
    exponential in Python.

    Raises:
        PatternError: unknown flags, or not a pattern.
    """
    if not set(flags) <= set(_FLAGS):
        raise PatternError(f"flags are s, m, i, x and q: {flags}")
    python_flags = re.NOFLAG
    for flag in flags:
        python_flags |= _FLAGS[flag]
    text = re.escape(pattern) if "q" in flags else python_pattern(pattern, flags)
    try:
        return re.compile(text, python_flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"{pattern}: {error}") from error


def python_replacement(replacement: str, groups: int, flags: str) -> list[str | int]:
    """A replacement of fn:replace as literal text and group numbers.

    Raises:
        PatternError: a `$` without a digit, or a backslash before anything but `$` and itself.
    """
    if "q" in flags:
        return [replacement]
    parts: list[str | int] = []
    position = 0
    while position < len(replacement):
        character = replacement[position]
        following = replacement[position + 1 : position + 2]
        if character == "\\":
            if following not in ("\\", "$") or not following:
                raise PatternError(f"{replacement}: a backslash stands before $ or a backslash")
            parts.append(following)
            position += 2
        elif character == "$":
            if not ("0" <= following <= "9"):
                raise PatternError(f"{replacement}: $ stands before the number of a group")
            end = position + 2
            # The longest number that a group has.
            while (
                end < len(replacement)
                and "0" <= replacement[end] <= "9"
                and int(replacement[position + 1 : end + 1]) <= groups
            ):
                end += 1
            parts.append(int(replacement[position + 1 : end]))
            position = end
        else:
            parts.append(character)
            position += 1
    return parts
