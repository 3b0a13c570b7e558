"""The keys that a refresh may ask for, as rows and as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A key that the current answers depend on. All times are seconds of one clock.

    Attributes:
        key: its name; the last resort of the tie order.
        asked_at: when its replica was last fetched; None: never.
        last_seen: when the window last had it; None: there is no window, it is always needed.
        interval: estimated time between changes; None: not known to change.
        distances: per filter, from the replica's value to the nearest bound that would flip the
            answer (`weir.sparql.algebra.filter_distances`); None: unknown.
        tie: equals are ordered by it, the least first, then by key.
    """

    key: str
    asked_at: float | None = None
    last_seen: float | None = None
    interval: float | None = None
    distances: tuple[float | None, ...] = ()
    tie: int = 0

    def __post_init__(self) -> None:
        if self.interval is not None and not self.interval > 0:
            raise ValueError(f"the change interval of {self.key} is {self.interval}, not positive")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation of the queries: the instant, the window's width and its slide, in seconds.

    `window` is None if no window decides which keys are needed; `slide` then is the time between
    evaluations.
    """

    at: float
    window: float | None
    slide: float


@dataclass(frozen=True, slots=True)
class Columns:
    """Candidates in tie order, one array entry each: every stable sort keeps that order.

    Attributes:
        asked_at: not a number: never.
        last_seen: infinite: always needed.
        interval: infinite: not known to change.
        distances: one column per filter; infinite: unknown.
        tie: ascending.
    """

    asked_at: Numbers
    last_seen: Numbers
    interval: Numbers
    distances: Numbers
    tie: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.asked_at)

    def at(self, rows: Rows) -> Columns:
        """Some of the rows; ascending rows keep the tie order."""
        return Columns(
            self.asked_at[rows],
            self.last_seen[rows],
            self.interval[rows],
            self.distances[rows],
            self.tie[rows],
        )


def tie_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """By `tie`, then by key: the order that decides between equals."""
    by_key = sorted(candidates, key=attrgetter("key"))
    by_key.sort(key=attrgetter("tie"))
    return by_key


def columns_of(ordered: Sequence[Candidate]) -> Columns:
    """The columns of candidates that are in tie order.

    Raises:
        ValueError: not all have the same number of distances.
    """
    distances = [candidate.distances for candidate in ordered]
    filters = set(map(len, distances)) or {0}
    if len(filters) > 1:
        raise ValueError(f"candidates have {sorted(filters)} distances; give each one per filter")
    return Columns(
        _numbers([candidate.asked_at for candidate in ordered]),
        _known([candidate.last_seen for candidate in ordered]),
        _known([candidate.interval for candidate in ordered]),
        _known([*chain.from_iterable(distances)]).reshape(len(ordered), *filters),
        np.array([candidate.tie for candidate in ordered], dtype=np.int64),
    )


def _known(values: Sequence[float | None]) -> Numbers:
    numbers = _numbers(values)
    numbers[np.isnan(numbers)] = np.inf
    return numbers


def _numbers(values: Sequence[float | None]) -> Numbers:
    return np.array(values, dtype=np.float64)  # None becomes not a number
