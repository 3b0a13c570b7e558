"""Names of change sets that count up by one, and those that are left out before a new one.

A patch that is missing shows only by its number, if no header says which patch comes before which.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from weir.lake.counted import counted

_DIGITS = re.compile(r"(\d+)")
_NAMES = 8
"""So many of the newest names say how names are given: of dates of working days, more than a week.
"""
_LEAST = 3
"""Fewer say nothing."""


def left_out(ingested: Sequence[str], following: str) -> str | None:
    """A sentence that says that numbers are left out before the next change set; None if none are.

    Args:
        ingested: names of change sets, in their order.
        following: the name of the change set after them.
    """
    names = ingested[-_NAMES:]
    if len(names) < _LEAST or any(_step(*pair) != 1 for pair in pairwise(names)):
        return None
    step = _step(names[-1], following)
    if step is None or step < 2:
        return None
    return (
        f"{names[-1]} was ingested last, and {following} follows: {counted(step - 1, 'number')}"
        " left out. If the lake is older than this folder, as a restored backup is, what is"
        " missing between them is in no answer: put it back before the next run"
    )


def _step(before: str, after: str) -> int | None:
    """By how much the one number increases in which two names differ; None if there is no such."""
    parts = [_DIGITS.split(name) for name in (before, after)]
    if len(parts[0]) != len(parts[1]):
        return None
    other = [pair for pair in zip(*parts, strict=True) if pair[0] != pair[1]]
    if len(other) != 1 or not all(part.isdecimal() for part in other[0]):
        return None
    return int(other[0][1]) - int(other[0][0])
