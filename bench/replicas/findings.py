"""What the runs say about the paper's hypotheses: best bands, comparisons, sensitivity to alpha."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.replicas.boxes import Box, Verdict, box, compared
from bench.replicas.parameters import (
    ACCEPTABLE,
    ALPHAS,
    BANDS,
    BUDGET,
    BUDGETS,
    DS,
    GRID,
    TENS,
    TRENDS,
    Variant,
)
from bench.replicas.replay import RateFrom
from bench.replicas.runs import Results
from weir.remotes.policies.policies import ALPHA, Mode

PROPOSED = ("LRU.F+", "WBM.F+", "WBM.F*")


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read what the paper leaves open."""

    window: float
    mode: Mode
    rate: RateFrom

    def __str__(self) -> str:
        return f"{self.window:g} s, {self.mode}, {self.rate}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where policies are compared: a test case and a budget."""

    case: str
    budget: int = BUDGET

    @property
    def alpha(self) -> float:
        """The paper's: 0.2 for its trends, 0.167 for real data."""
        return 0.2 if self.case in TRENDS else 0.167

    def __str__(self) -> str:
        return self.case if self.budget == BUDGET else f"{self.case}, budget {self.budget}"


SELECTIVITY_PLACES = tuple(Place(case) for case in (*DS, *TRENDS))
BUDGET_PLACES = (
    *(Place("DS75", budget) for budget in BUDGETS),
    *(Place(case, budget) for case in TRENDS if case.endswith("70") for budget in (3, 5)),
)


@dataclass(frozen=True, slots=True)
class Findings:
    """The results of all runs, by what they say."""

    results: Results

    def box(self, window: float, place: Place, variant: Variant) -> Box:
        """The box of a variant."""
        return box(self.results.cumulative(window, place.case, variant))

    def single(self, text: str, window: float, place: Place, rate: RateFrom = "oracle") -> Box:
        """The box of a policy without options."""
        rate = rate if text == "WBM" else "online"
        return self.box(window, place, Variant(text, place.budget, rate))

    def band(self, acqua: str, window: float, place: Place, rate: RateFrom, fdt: int) -> Box:
        """The box of ACQUA.F with one band."""
        rate = rate if acqua == "WBM" else "online"
        return self.box(window, place, Variant(f"{acqua}.F", place.budget, rate, fdt=fdt))

    def best_fdt(self, acqua: str, window: float, place: Place, rate: RateFrom) -> int:
        """The band with the least median; of equal ones the narrowest."""
        return min(BANDS, key=lambda fdt: self.band(acqua, window, place, rate, fdt).median)

    def comparable_bands(self, acqua: str, window: float, place: Place, rate: RateFrom) -> int:
        """How many bands are comparable with the best."""
        best = self.best_band(acqua, window, place, rate)
        boxes = [self.band(acqua, window, place, rate, fdt) for fdt in BANDS]
        return sum(compared(other, best) == "comparable" for other in boxes)

    def best_band(self, acqua: str, window: float, place: Place, rate: RateFrom) -> Box:
        """The box of ACQUA.F with the best band, which nobody knows beforehand."""
        best = self.best_fdt(acqua, window, place, rate)
        return self.band(acqua, window, place, rate, best)

    def proposed(self, text: str, reading: Reading, place: Place, alpha: float) -> Box:
        """The box of a policy with aggregation."""
        rate = reading.rate if text.startswith("WBM") else "online"
        variant = Variant(text, place.budget, rate, alpha=alpha, mode=reading.mode)
        return self.box(reading.window, place, variant)

    def against_band(self, text: str, reading: Reading, place: Place) -> Verdict:
        """A proposed policy, at the paper's alpha, against ACQUA.F with its best band."""
        return compared(
            self.proposed(text, reading, place, place.alpha),
            self.best_band(text[:3], reading.window, place, reading.rate),
        )

    def as_accurate(self, text: str, reading: Reading, places: Sequence[Place]) -> list[Place]:
        """Where a proposed policy is no worse than ACQUA.F with the best band (Hp.1, Hp.3)."""
        return [place for place in places if self.against_band(text, reading, place) != "worse"]

    def insensitive(
        self,
        text: str,
        reading: Reading,
        places: Sequence[Place],
        alphas: Sequence[float] = ACCEPTABLE,
    ) -> list[Place]:
        """Where all alphas are comparable with the best of them (Hp.2, Hp.4)."""
        stable = []
        for place in places:
            boxes = [self.proposed(text, reading, place, alpha) for alpha in alphas]
            best = min(boxes, key=lambda candidate: candidate.median)
            if all(compared(other, best) == "comparable" for other in boxes):
                stable.append(place)
        return stable


@dataclass(frozen=True, slots=True)
class DynamicAlpha:
    """LRU.F+ with dynamic alpha beside static ones, at one selectivity: medians."""

    case: str
    dynamic: float
    default: float
    best: float
    best_alpha: float
    grid_best: float
    grid_alpha: float
    last_alpha: float

    @property
    def to_default(self) -> float:
        """Ratio of dynamic to the default alpha."""
        return _ratio(self.dynamic, self.default)

    @property
    def to_best(self) -> float:
        """Ratio of dynamic to the best of the paper's alphas, known afterwards only."""
        return _ratio(self.dynamic, self.best)

    @property
    def to_grid(self) -> float:
        """Ratio of dynamic to the best of the alphas that it chooses from."""
        return _ratio(self.dynamic, self.grid_best)


def dynamic_alphas(findings: Findings, window: float) -> list[DynamicAlpha]:
    """At all nine selectivities."""
    dynamic = []
    reading = Reading(window, "minmax", "online")
    variant = Variant("LRU.F+", BUDGET, alpha="dynamic", mode="minmax")
    for place in (Place(f"DS{selectivity}") for selectivity in TENS):
        static = {
            alpha: findings.proposed("LRU.F+", reading, place, alpha).median
            for alpha in (*ALPHAS, *GRID)
        }
        best, of_grid = (min(alphas, key=lambda a: static[a]) for alphas in (ALPHAS, GRID))
        last = findings.results.alphas[window, place.case, variant]
        dynamic.append(
            DynamicAlpha(
                place.case,
                findings.box(window, place, variant).median,
                static[ALPHA],
                static[best],
                best,
                static[of_grid],
                of_grid,
                sum(last.values()) / len(last),
            )
        )
    return dynamic


def _ratio(one: float, other: float) -> float:
    return one / other if other else 1.0 if not one else float("inf")
