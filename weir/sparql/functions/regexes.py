"""Patterns and replacements of REGEX and REPLACE.

https://www.w3.org/TR/xpath-functions/#string.match

Python's `re` matches them. For some patterns its backtracking is exponential. So this process
matches only where a bound on the steps is known to be small (`matching_cost`); all others are left
to the `Matching` of the evaluation's limits.
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
    """Matches patterns whose backtracking may take long."""

    def search(self, pattern: Pattern, text: str) -> bool:
        """Whether the pattern matches somewhere in `text`.

        Raises:
            weir.sparql.functions.evaluation_limits.LimitExceeded: it takes too long or too much
                memory.
        """

    def replace(self, pattern: Pattern, text: str, replacement: Replacement) -> str:
        """`text` with all matches replaced.

        Raises:
            weir.sparql.functions.evaluation_limits.LimitExceeded: it takes too long or too much
                memory.
        """


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern.

    Attributes:
        source: the pattern in XPath's syntax.
        flags: the flags in XPath's syntax.
        python: the equivalent pattern of Python.
        short: texts up to this length are known to be searched by Python in less than a second.
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
        """The pattern of RE2 that matches in the same texts; None if none is known."""
        return re2_pattern(
            self.python.flags, parsed(_text(self.source, self.flags), self.python.flags)
        )

    def search(self, text: str) -> bool:
        """Whether it matches somewhere in `text`."""
        matching = None if len(text) <= self.short else evaluation_limits().matching
        return self.search_unlimited(text) if matching is None else matching.search(self, text)

    def replace(self, text: str, replacement: Replacement) -> str:
        """`text` with all matches replaced."""
        matching = None if len(text) <= self.short else evaluation_limits().matching
        if matching is None:
            return self.replace_unlimited(text, replacement)
        return matching.replace(self, text, replacement)

    def search_unlimited(self, text: str) -> bool:
        """Search by Python in this process, without a limit of time."""
        return self.python.search(text) is not None

    def replace_unlimited(self, text: str, replacement: Replacement) -> str:
        """Replace by Python in this process, without a limit of time.

        Raises:
            weir.sparql.functions.evaluation_limits.LimitExceeded: the result is too long.
        """
        limits = evaluation_limits()
        # A match has at least one character, and a group is not longer than its match.
        longest = 1 + sum(len(part) if isinstance(part, str) else 1 for part in replacement)
        if longest * len(text) <= limits.literal_length:
            return self.python.sub(
                lambda match: "".join([_part(match, part) for part in replacement]), text
            )
        parts: list[str] = []
        length = end = 0
        for match in self.python.finditer(text):
            added = [text[end : match.start()], *(_part(match, part) for part in replacement)]
            length += sum(map(len, added))
            limits.check_literal(length)
            parts += added
            end = match.end()
        limits.check_literal(length + len(text) - end)
        return "".join([*parts, text[end:]])


def _part(match: re.Match[str], part: str | int) -> str:
    """The text of a part of a replacement; group 0 is the whole match, a missing group is empty."""
    if isinstance(part, str):
        return part
    return (match.group(part) or "") if part <= match.re.groups else ""


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str, flags: str) -> Pattern:
    """The compiled pattern of an XPath `pattern` with `flags`.

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
    combined = re.NOFLAG
    for flag in flags:
        combined |= _FLAGS[flag]
    return combined


def python_replacement(replacement: str, groups: int, flags: str) -> Replacement:
    """A replacement of fn:replace as literal text and group numbers.

    Raises:
        PatternError: a `$` without a digit, or a backslash that escapes neither `$` nor itself.
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
            # The longest number that is the number of a group.
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
