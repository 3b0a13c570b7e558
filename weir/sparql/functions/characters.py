"""The sets of characters that XML Schema's regular expressions name, as ranges of code points.

https://www.w3.org/TR/xmlschema-2/#charcter-classes
"""

from __future__ import annotations

import sys
import unicodedata
from functools import cache
from itertools import pairwise

Ranges = tuple[tuple[int, int], ...]
"""The first and last code point of each range, in order, without overlap."""


def _ranges(text: str) -> Ranges:
    """Ranges from pairs of characters."""
    return tuple(sorted((ord(a), ord(b)) for a, b in zip(text[::2], text[1::2], strict=True)))


SPACE = _ranges("\t\n\r\r  ")
NAME_START = _ranges(
    "::AZ__az\u00c0\u00d6\u00d8\u00f6\u00f8\u02ff\u0370\u037d\u037f\u1fff\u200c\u200d\u2070\u218f"
    "\u2c00\u2fef\u3001\ud7ff\uf900\ufdcf\ufdf0\ufffd\U00010000\U000effff"
)
NAME = tuple(sorted((*NAME_START, *_ranges("-.09\u00b7\u00b7\u0300\u036f\u203f\u2040"))))


def category(name: str) -> Ranges | None:
    """The characters of a Unicode category (`Lu`) or of a group of categories (`L`)."""
    return _categories().get(name)


def block(name: str) -> Ranges | None:
    """The characters of a Unicode block, by its name after `Is`: `Greek`, `Latin-1Supplement`."""
    # Imported here because patterns seldom name blocks, and it imports all of XPath.
    from elementpath.regex import unicode_block

    if name == "NoBlock":
        # The library's name for all characters outside of blocks.
        return None
    try:
        members = unicode_block(name)
    except KeyError:
        return None
    return tuple(
        (run, run) if isinstance(run, int) else (run[0], run[1] - 1) for run in members.codepoints
    )


def union(*sets: Ranges) -> Ranges:
    """The characters of all of `sets`."""
    return tuple(sorted(run for ranges in sets for run in ranges))


def complement(ranges: Ranges) -> Ranges:
    """All the other characters."""
    bounded = ((-1, -1), *ranges, (sys.maxunicode + 1, sys.maxunicode + 1))
    return tuple(
        (last + 1, following - 1)
        for (_, last), (following, _) in pairwise(bounded)
        if last + 1 < following
    )


@cache
def class_text(ranges: Ranges) -> str:
    """The inside of a character class of Python's `re`."""
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


@cache
def _categories() -> dict[str, Ranges]:
    runs: dict[str, list[tuple[int, int]]] = {}
    start, current = 0, unicodedata.category("\0")
    for code in range(1, sys.maxunicode + 2):
        following = unicodedata.category(chr(code)) if code <= sys.maxunicode else ""
        if following != current:
            for name in (current, current[0]):
                runs.setdefault(name, []).append((start, code - 1))
            start, current = code, following
    return {name: tuple(ranges) for name, ranges in runs.items()}
