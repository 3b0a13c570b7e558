"""A policy as a value: which rankings have a say, and how they are combined.

| written | rule |
| --- | --- |
| `LRU`, `WBM`, `RND`, `Filter` | `Alone` |
| `LRU.F` | `Banded` |
| `LRU.F+`, `LRU+WBM+Filter` | `Aggregated` |
| `WBM.F*` | `Aggregated`, `expired_first` |
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

Mode = Literal["positions", "minmax"]
Side = Literal["filter", "acqua"]

DEFAULT_SIDE: dict[Mode, Side] = {"minmax": "acqua", "positions": "filter"}
"""Whose weight alpha is if nothing else is said. `positions` on the filter are the paper's words;
with values scaled by `minmax`, its results need alpha on the other side."""
ALPHA = 0.2
"""Weight of one side; the paper's value for synthetic data, in the range it calls acceptable."""
FIRST_SHARE = 0.5
ALPHAS = (0.005, 0.02, 0.05, 0.2, 0.5)
"""Weights of the ACQUA ranking that a dynamic alpha chooses from."""
LEARNING_RATE = 3.0


@dataclass(frozen=True, slots=True)
class Lru:
    """Least recently asked first (section 3.1)."""


@dataclass(frozen=True, slots=True)
class Wbm:
    """Expired keys by remaining life time and renewed best-before time (section 3.1).

    Attributes:
        fill: keys that have not expired get the budget that is left, by best-before time. Section
            4.3 says no, Algorithm 2 says yes.
    """

    fill: bool = True


@dataclass(frozen=True, slots=True)
class Rnd:
    """Random order, without replacement, the same for the same seed and instant."""

    seed: int = 0


@dataclass(frozen=True, slots=True)
class FilterDistance:
    """Least distance of the replica's value to the filter's bound first (Eq. 1).

    Attributes:
        index: the filter; None: the least known distance of all filters.
    """

    index: int | None = None


Ranking = Lru | Wbm | Rnd | FilterDistance


@dataclass(frozen=True, slots=True)
class Alone:
    """The order of a single ranking."""

    ranking: Ranking


@dataclass(frozen=True, slots=True)
class Banded:
    """ACQUA.F: only keys in the band around the bound, in the order of a ranking (section 3.2).

    Keys of unknown distance follow, since no band can hold them. Budget beyond both is lost.

    Attributes:
        fdt: largest filter distance inside the band.
    """

    ranking: Ranking
    fdt: float
    filter: FilterDistance = FilterDistance()

    def __post_init__(self) -> None:
        if not self.fdt >= 0:
            raise ValueError(f"fdt is {self.fdt}; it is a distance")


@dataclass(frozen=True, slots=True)
class Aggregated:
    """ACQUA.F+: by the weighted sum of the scores of several rankings (Eq. 2, Algorithm 1).

    Attributes:
        weighted: weights and rankings; a ranking of weight 0 has no say.
        mode: a ranking's score is its number of keys less the position (`positions`, the paper's
            words), or its value scaled to [0, 1] (`minmax`).
        expired_first: aggregate what has expired and what has not separately (WBM.F*, Algorithm 2).
        fill: with `expired_first`: keys that have not expired follow those that have.
    """

    weighted: tuple[tuple[float, Ranking], ...]
    mode: Mode = "minmax"
    expired_first: bool = False
    fill: bool = True

    def __post_init__(self) -> None:
        weights = [weight for weight, _ in self.weighted]
        if not all(0 <= weight < math.inf for weight in weights) or not any(weights):
            raise ValueError(f"the weights are {weights}; none is negative, and one is positive")


Rule = Alone | Banded | Aggregated


@dataclass(frozen=True, slots=True)
class Learning:
    """How alpha follows what refreshes find (`weir.remotes.policies.dynamic_alpha`).

    Attributes:
        side: the ranking whose weight alpha is.
        grid: the values of alpha to choose from.
        rate: how fast weights move.
    """

    side: Side
    grid: tuple[float, ...] = ALPHAS
    rate: float = LEARNING_RATE


@dataclass(frozen=True, slots=True)
class Online:
    """Change intervals are estimated from what earlier refreshes found."""


@dataclass(frozen=True, slots=True)
class Declared:
    """Every key changes about once per interval (seconds)."""

    interval: float


Rate = Online | Declared


@dataclass(frozen=True, slots=True)
class Policy:
    """What decides which keys are refreshed.

    Attributes:
        name: as it was written.
        rule: the order of keys that have been asked before.
        first_share: the largest share of the budget for keys that have never been asked, while
            others wait. At least one key of any budget.
        rate: where the change intervals of keys come from.
        learning: for a dynamic alpha.
    """

    name: str
    rule: Rule
    first_share: float = FIRST_SHARE
    rate: Rate = field(default_factory=Online)
    learning: Learning | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.first_share <= 1:
            raise ValueError(f"first_share is {self.first_share}; it is a share, from 0 to 1")


def aggregated(acqua: Ranking, alpha: float, side: Side, mode: Mode) -> Aggregated:
    """The rule of ACQUA.F+: `alpha` weighs the ranking of `side`, 1 - alpha the other (Eq. 2)."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha is {alpha}; it is a weight, from 0 to 1")
    on_filter = alpha if side == "filter" else 1 - alpha
    on_acqua = 1 - alpha if side == "filter" else alpha
    return Aggregated(((on_filter, FilterDistance()), (on_acqua, acqua)), mode)


def with_alpha(policy: Policy, alpha: float) -> Policy:
    """A policy with dynamic alpha at one value of it.

    Raises:
        ValueError: its alpha is not dynamic.
    """
    rule, learning = policy.rule, policy.learning
    if learning is None or not isinstance(rule, Aggregated):
        raise ValueError(f"the alpha of {policy.name} is not dynamic")
    (_, acqua) = rule.weighted[1]
    weighted = aggregated(acqua, alpha, learning.side, rule.mode).weighted
    return replace(policy, rule=replace(rule, weighted=weighted))
