"""Patterns and replacements of REGEX and REPLACE.

https://www.w3.org/TR/xpath-functions/#string.match

Python's `re` matches them. Its backtracking is exponential for some, so it runs in this process
only where a bound on its steps is known to be small (`matching_cost`); the rest is left to the
`Matching` of the evaluation's limits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

from weir.sparql.functions.evaluation_limits import evaluation_limits
from weir.sparql.functions.matching_cost import compiled, parsed, short_length
from weir.sparql.functions.re2_syntax import re2_pattern
from weir.sparql.functions.regex_syntax import PatternError, python_pattern

_FLAGS = {"s": re.DOTALL, "m": 0, "i": re.IGNORECASE, "x": 0, "q": 0}

Replacement = Sequence[str | int]
"""Literal text, and numbers of groups."""


class Matching(Protocol):
    """Matches where backtracking may take long."""

    def search(self, pattern: Pattern, text: str) -> bool:
        """Whether the pattern matches somewhere in `text`.

        Raises:
            weir.sparql.functions.evaluation_limits.LimitExceeded: it takes too much.
        """

    def replace(self, pattern: Pattern, text: str, replacement: Replacement) -> str:
        """`text` with all matches replaced.

        Raises:
            weir.sparql.functions.evaluation_limits.LimitExceeded: it takes too much.
        """


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern.

    Attributes:
        source: of XPath.
        flags: of XPath.
        python: the pattern of Python that matches the same.
        short: the length of texts up to which Python is known to search in less than a second.
    """

    source: str
    flags: str
    python: re.Pattern[str]
    short: int

    @property
    def groups(self) -> int:
        """How many groups capture."""
        return self.python.groups

    @cached_property
    def linear(self) -> str | None:
        """The pattern of RE2 that occurs in the same texts; None if none is known."""
        return re2_pattern(
            self.python.flags, parsed(_text(self.source, self.flags), self.python.flags)
        )

    def search(self, text: str) -> bool:
        """Whether it matches somewhere in `text`."""
        matching = None if len(text) <= self.short else evaluation_limits().matching
        return self.search_here(text) if matching is None else matching.search(self, text)

    def replace(self, text: str, replacement: Replacement) -> str:
        """`text` with all matches replaced."""
        matching = None if len(text) <= self.short else evaluation_limits().matching
        if matching is None:
            return self.replace_here(text, replacement)
        return matching.replace(self, text, replacement)

    def search_here(self, text: str) -> bool:
        """Search by Python, however long it takes."""
        return self.python.search(text) is not None

    def replace_here(self, text: str, replacement: Replacement) -> str:
        """Replace by Python, however long it takes.

        Raises:
            weir.sparql.functions.evaluation_limits.LimitExceeded: the result is too long.
        """
        limits = evaluation_limits()
        # A match has a character at least, and a group has no more than its match.
        longest = 1 + sum(len(part) if isinstance(part, str) else 1 for part in replacement)
        if longest * len(text) <= limits.literal_length:
            return self.python.sub(
                lambda match: "".join([_part(match, part) for part in replacement]), text
            )
        parts: list[str] = []
        length = end = 0
        for match in self.python.finditer(text):
            found = [text[end : match.start()], *(_part(match, part) for part in replacement)]
            length += sum(map(len, found))
            limits.check_literal(length)
            parts += found
            end = match.end()
        limits.check_literal(length + len(text) - end)
        return "".join([*parts, text[end:]])


def _part(match: re.Match[str], part: str | int) -> str:
    """A part of a replacement; 0 is the whole match, a group that does not exist is empty."""
    if isinstance(part, str):
        return part
    return (match.group(part) or "") if part <= match.re.groups else ""


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str, flags: str) -> Pattern:
    """The pattern that matches what the XPath `pattern` matches.

    Raises:
        PatternError: unknown flags, or not a pattern.
    """
    if not set(flags) <= set(_FLAGS):
        raise PatternError(f"flags are s, m, i, x and q: {flags}")
    try:
        tree = parsed(_text(pattern, flags), _python_flags(flags))
        return Pattern(pattern, flags, compiled(tree), short_length(tree))
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"{pattern}: {error}") from error


def _text(pattern: str, flags: str) -> str:
    return re.escape(pattern) if "q" in flags else python_pattern(pattern, flags)


def _python_flags(flags: str) -> int:
    found = re.NOFLAG
    for flag in flags:
        found |= _FLAGS[flag]
    return found


def python_replacement(replacement: str, groups: int, flags: str) -> Replacement:
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
