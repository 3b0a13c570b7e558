"""The rankings: an order of the candidates and a value for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import numpy as np
import numpy.typing as npt

from weir.remotes.policies.candidates import Columns, Evaluation, Numbers, Rows
from weir.remotes.policies.policies import FilterDistance, Lru, Ranking, Rnd, Wbm


@dataclass(frozen=True, slots=True)
class Ranked:
    """Rows best first, and per row the value they were ranked by, the largest best."""

    order: Rows
    value: Numbers


@dataclass(frozen=True, slots=True)
class BestBefore:
    """What WBM computes per row.

    Attributes:
        until: best-before time, the last refresh and one change interval.
        expired: it has passed.
        value: evaluations that a refresh now would serve: the least of those that will still need
            the key and those before its next change.
    """

    until: Numbers
    expired: npt.NDArray[np.bool_]
    value: Numbers


def ranked(ranking: Ranking, candidates: Columns, evaluation: Evaluation) -> Ranked:
    """Rank candidates that have been asked before; equals keep the tie order."""
    match ranking:
        case Lru():
            return by_value(age(candidates, evaluation))
        case Wbm():
            times = best_before(candidates, evaluation)
            return Ranked(np.lexsort((times.until, -times.value)), times.value)
        case Rnd(seed):
            return _shuffled(seed, len(candidates), evaluation)
        case FilterDistance():
            return by_value(-filter_distance(ranking, candidates))
        case _:
            assert_never(ranking)


def by_value(value: Numbers) -> Ranked:
    """The largest value first."""
    return Ranked(np.argsort(-value, kind="stable"), value)


def age(candidates: Columns, evaluation: Evaluation) -> Numbers:
    """Seconds since the last fetch; 0 if the clock has been set back, infinite if never."""
    since = np.maximum(evaluation.at - candidates.asked_at, 0.0)
    return np.where(np.isnan(since), np.inf, since)


def filter_distance(ranking: FilterDistance, candidates: Columns) -> Numbers:
    """Per candidate, the distance from its value to the bound of a filter; infinite if it is
    unknown.

    Raises:
        ValueError: the candidates have no such filter.
    """
    distances = candidates.distances
    filters = distances.shape[1]
    if ranking.index is not None:
        if not 0 <= ranking.index < filters:
            raise ValueError(f"filter {ranking.index} of {filters}; they count from 0")
        return distances[:, ranking.index]
    if filters == 1:
        return distances[:, 0]
    least: Numbers = distances.min(axis=1, initial=np.inf)
    return least


def best_before(candidates: Columns, evaluation: Evaluation) -> BestBefore:
    """WBM's times and value: with asked a, interval I, last seen m, window w, slide s, instant t:

        until = a + I                          expired iff until <= t
        renewed = a + ceil((t - a) / I) I
        value = min(ceil((m + w - t) / s), ceil((renewed + I - t) / s))

    The paper leaves them open; they are those of the authors' published program. Without a window
    the first term is infinite, and so is the second of a key that is not known to change.
    """
    asked, interval = candidates.asked_at, candidates.interval
    since = age(candidates, evaluation)
    with np.errstate(invalid="ignore"):  # 0 times infinity, replaced below
        renewed = np.ceil(since / interval) * interval - since
    ahead = np.where(np.isfinite(renewed), renewed, np.inf) + interval
    value = np.ceil(ahead / evaluation.slide)
    if evaluation.window is not None:
        needed = candidates.last_seen + evaluation.window - evaluation.at
        value = np.minimum(np.ceil(needed / evaluation.slide), value)
    until = np.where(np.isnan(asked), -np.inf, asked + interval)
    return BestBefore(until, until <= evaluation.at, value)


def _shuffled(seed: int, count: int, evaluation: Evaluation) -> Ranked:
    # Raw numbers, because they are the same in every version of numpy.
    source = np.random.PCG64([seed, round(evaluation.at * 1e6)])
    numbers = np.atleast_1d(np.asarray(source.random_raw(count), dtype=np.uint64))
    return by_value((numbers >> np.uint64(11)).astype(np.float64))
