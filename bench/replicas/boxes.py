"""Boxes of a box plot, and when two of them count as the same accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Verdict = Literal["comparable", "better", "worse"]


@dataclass(frozen=True, slots=True)
class Box:
    """Least, quartiles and largest cumulative distance of the data sets of a test case."""

    least: float
    first: float
    median: float
    third: float
    largest: float

    def __str__(self) -> str:
        return f"{self.median:.2f} [{self.first:.2f}, {self.third:.2f}]"


def box(values: Sequence[float]) -> Box:
    """Quartiles with linear interpolation."""
    return Box(*(float(percentile) for percentile in np.percentile(values, (0, 25, 50, 75, 100))))


def compared(one: Box, other: Box) -> Verdict:
    """`comparable` if the interquartile boxes overlap; otherwise which is lower."""
    if one.first <= other.third and other.first <= one.third:
        return "comparable"
    return "better" if one.median < other.median else "worse"
