"""The box plots of the paper's Figures 3 to 6, of these runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from bench.replicas.boxes import Box
from bench.replicas.drawing import Group, box_plot
from bench.replicas.findings import BUDGET_PLACES, PROPOSED, Findings, Place, Reading
from bench.replicas.parameters import ALPHAS, DS, TRENDS
from bench.replicas.replay import RateFrom

_Column = tuple[str, Callable[[Place], Box]]


def figures(findings: Findings, windows: Sequence[float]) -> Iterator[tuple[str, str]]:
    """File names and SVG: by selectivity (3, 4) and by budget (5, 6)."""
    real = [Place(case) for case in DS]
    trends = [Place(case) for case in TRENDS]
    budgets = [place for place in BUDGET_PLACES if place.case not in TRENDS]
    trend_budgets = [place for place in BUDGET_PLACES if place.case in TRENDS]
    for window in windows:
        for text in PROPOSED:
            rates: tuple[RateFrom, ...] = ("online",)
            if text.startswith("WBM"):
                rates = ("oracle", "online")
            for rate in rates:
                reading = Reading(window, "minmax", rate)
                columns = _columns(findings, text, reading)
                plain = text.replace("+", "plus").replace("*", "star")
                for figure, title, places in (
                    ("3", "trends, budget 3", trends),
                    ("4", "by selectivity, budget 3", real),
                    ("5", "trends, by budget", trend_budgets),
                    ("6", "DS75, by budget", budgets),
                ):
                    groups = [
                        Group(_short(place, figure), [of(place) for _, of in columns])
                        for place in places
                    ]
                    names = [name for name, _ in columns]
                    name = f"figure{figure}-{plain}-{window:g}s-{rate}.svg"
                    yield name, box_plot(f"{text}, {title} ({reading})", names, groups)


def _short(place: Place, figure: str) -> str:
    if figure == "6":
        return str(place.budget)
    return f"{place.case}/{place.budget}" if figure == "5" else place.case


def _columns(findings: Findings, text: str, reading: Reading) -> list[_Column]:
    acqua, window, rate = text[:3], reading.window, reading.rate

    def of_alpha(alpha: float) -> Callable[[Place], Box]:
        return lambda place: findings.proposed(text, reading, place, alpha)

    return [
        ("Filter", lambda place: findings.single("Filter", window, place)),
        (acqua, lambda place: findings.single(acqua, window, place, rate)),
        (f"{acqua}.F, best band", lambda place: findings.best_band(acqua, window, place, rate)),
        *((f"{text} {alpha:g}", of_alpha(alpha)) for alpha in ALPHAS),
    ]
