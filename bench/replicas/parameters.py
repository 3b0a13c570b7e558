"""What is run: test cases, policies, budgets; and what the paper printed about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bench.replicas.replay import RateFrom
from weir.remotes.policies import policies
from weir.remotes.policies.policies import DEFAULT_SIDE, Mode

SELECTIVITIES = (10, 20, 30, 40, 50, 60, 70, 75, 80, 90)
TENS = tuple(x for x in SELECTIVITIES if x != 75)
BUDGETS = (1, 2, 3, 4, 5, 6, 7)
BUDGET = 3
ALPHAS = (0.167, 0.2, 0.333, 0.5, 0.667, 0.833)
"""The paper prints 0.0667 for 0.667, between 0.5 and 0.833."""
GRID = policies.ALPHAS
"""Those that a dynamic alpha chooses from."""
ACCEPTABLE = (0.167, 0.2, 0.333, 0.5)
"""The range of alpha that the paper's conclusions call acceptable."""
WINDOWS = (100.0, 600.0)
"""Seconds. Listing 1 says ten minutes; 100 s gives the published results."""
BANDS = (62, 93, 109, 125, 156, 187, 250, 312, 375, 500, 625, 750, 1000, 1250, 1500, 2000)
"""Filter distance thresholds; the paper does not print its grid."""
DATA_SETS = 10

DS = tuple(f"DS{x}" for x in SELECTIVITIES)
TRENDS = ("INC40", "INC70", "DEC40", "DEC70", "MIX40", "MIX70")
CASES = (*DS, *TRENDS)

PAPER: Mapping[str, Any] = {
    "best FDT": {
        "LRU.F": [156, 1000, 250, 625, 500, 500],
        "WBM.F": [500, 1000, 375, 375, 109, 93],
    },
    "Table 2": {
        "Hp.1": {
            "measuring": "accuracy",
            "varying": "selectivity",
            "LRU.F+": "yes",
            "WBM.F+": "no",
            "WBM.F*": "<60%",
        },
        "Hp.2": {
            "measuring": "sensitivity to alpha",
            "varying": "selectivity, alpha",
            "LRU.F+": "yes",
            "WBM.F+": "yes",
            "WBM.F*": "yes",
        },
        "Hp.3": {
            "measuring": "accuracy",
            "varying": "budget",
            "LRU.F+": "yes",
            "WBM.F+": "> 5",
            "WBM.F*": "no",
        },
        "Hp.4": {
            "measuring": "sensitivity to alpha",
            "varying": "budget, alpha",
            "LRU.F+": "yes",
            "WBM.F+": "yes",
            "WBM.F*": "yes",
        },
    },
}
"""Tables 1 (columns: `TRENDS`) and 2 as printed; an empty cell of Table 2 is "no"."""

Alpha = float | Literal["dynamic"]


@dataclass(frozen=True, slots=True)
class Variant:
    """A policy with its options, a budget, and where change rates come from.

    Attributes:
        text: as `weir.remotes.policies.policy_text.policy_of` reads it; `WST` never refreshes.
        rate: of policies without WBM it has no effect, and is `online`.
        fdt: of a band.
        alpha: of an aggregation.
        mode: of an aggregation: `minmax` with alpha on the ACQUA ranking, which gives the published
            results, or `positions` with alpha on the filter, the paper's words.
    """

    text: str
    budget: int
    rate: RateFrom = "online"
    fdt: int | None = None
    alpha: Alpha | None = None
    mode: Mode | None = None

    @property
    def options(self) -> dict[str, object]:
        """Its options for `policy_of`."""
        options: dict[str, object] = {}
        if self.fdt is not None:
            options["fdt"] = self.fdt
        if self.alpha is not None:
            options["alpha"] = self.alpha
        if self.mode is not None:
            options |= {"mode": self.mode, "alpha_on": DEFAULT_SIDE[self.mode]}
        return options


def variants(case: str) -> list[Variant]:
    """All that is run over a data set of a test case."""
    budgets: tuple[int, ...] = (BUDGET,)
    if case == "DS75":
        budgets = BUDGETS
    elif case.endswith("70") and case in TRENDS:
        budgets = (BUDGET, 5)
    return [variant for budget in budgets for variant in _with_budget(budget)]


def _with_budget(budget: int) -> list[Variant]:
    with_budget = [Variant("WST", budget)] if budget == BUDGET else []
    with_budget += [Variant(text, budget) for text in ("RND", "LRU", "Filter")]
    with_budget += [Variant("LRU.F", budget, fdt=fdt) for fdt in BANDS]
    modes: tuple[Mode, ...] = ("minmax", "positions")
    for mode in modes:
        with_budget += [Variant("LRU.F+", budget, alpha=alpha, mode=mode) for alpha in ALPHAS]
    dynamic: tuple[Alpha, ...] = ("dynamic", *(alpha for alpha in GRID if alpha not in ALPHAS))
    with_budget += [Variant("LRU.F+", budget, alpha=alpha, mode="minmax") for alpha in dynamic]
    rates: tuple[RateFrom, ...] = ("oracle", "online")
    for rate in rates:
        with_budget.append(Variant("WBM", budget, rate))
        with_budget += [Variant("WBM.F", budget, rate, fdt=fdt) for fdt in BANDS]
        for text in ("WBM.F+", "WBM.F*"):
            for mode in modes:
                with_budget += [
                    Variant(text, budget, rate, alpha=alpha, mode=mode) for alpha in ALPHAS
                ]
    return with_budget
