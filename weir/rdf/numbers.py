"""Approximate values of numeric literals."""

from __future__ import annotations

import math
import re

_NUMERIC = re.compile(
    r'"([^"]*)"\^\^<http://www\.w3\.org/2001/XMLSchema#'
    r"(?:integer|decimal|double|float|(?:unsigned)?(?:long|int|short|byte)"
    r"|(?:non)?(?:Positive|Negative|positive|negative)Integer)>"
)


def number_of(term: str) -> float | None:
    """The finite number of a numeric literal in N-Triples form; None for any other term."""
    match = _NUMERIC.fullmatch(term)
    if match is None:
        return None
    try:
        number = float(match[1])
    except ValueError:
        return None
    return number if math.isfinite(number) else None
