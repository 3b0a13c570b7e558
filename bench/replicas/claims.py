"""The paper's comparative claims (fixture 003-6), each beside what the runs give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bench.replicas.boxes import Box, compared
from bench.replicas.findings import BUDGET_PLACES, Findings, Place, Reading
from bench.replicas.parameters import ACCEPTABLE, BUDGET, BUDGETS, TENS, TRENDS, Variant

_DS = tuple(Place(f"DS{x}") for x in TENS)
_LOW, _HIGH = _DS[:5], _DS[5:]
_TREND = tuple(Place(case) for case in TRENDS)
_TREND_BUDGETS = tuple(place for place in BUDGET_PLACES if place.case in TRENDS)
_DS_BUDGETS = tuple(place for place in BUDGET_PLACES if place.case not in TRENDS)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, as short as it can be said, and what measures it."""

    section: str
    text: str
    measured: Callable[[Findings, Reading], str]


def _filter_is_best(findings: Findings, reading: Reading) -> str:
    curves = {
        text: findings.results.curves(
            reading.window,
            "DS75",
            Variant(text, BUDGET, reading.rate if text == "WBM" else "online"),
        )
        for text in ("Filter", "WBM", "LRU")
    }
    best = curves["Filter"] <= np.minimum(curves["WBM"], curves["LRU"])
    return f"at {np.count_nonzero(best)} of {len(best)} evaluations"


def _accuracy(text: str, places: Sequence[Place]) -> Callable[[Findings, Reading], str]:
    def measured(findings: Findings, reading: Reading) -> str:
        return verdicts([findings.against_band(text, reading, place) for place in places])

    return measured


def verdicts(words: Sequence[str]) -> str:
    """How often comparable, better, worse."""
    counts = [(word, words.count(word)) for word in ("comparable", "better", "worse")]
    return ", ".join(f"{count} {word}" for word, count in counts if count)


def _each(*parts: tuple[str, Callable[[Findings, Reading], str]]) -> Callable[..., str]:
    def measured(findings: Findings, reading: Reading) -> str:
        return "; ".join(f"{name}: {part(findings, reading)}" for name, part in parts)

    return measured


def _lower(
    one: Callable[[Findings, Reading, Place], Box],
    other: Callable[[Findings, Reading, Place], Box],
    places: Sequence[Place],
) -> Callable[[Findings, Reading], str]:
    """At how many places the median of one is lower than that of the other."""

    def measured(findings: Findings, reading: Reading) -> str:
        count = sum(
            one(findings, reading, place).median < other(findings, reading, place).median
            for place in places
        )
        return f"{count} of {len(places)}"

    return measured


def _proposed(text: str, alpha: float | None = None) -> Callable[[Findings, Reading, Place], Box]:
    return lambda findings, reading, place: findings.proposed(
        text, reading, place, place.alpha if alpha is None else alpha
    )


def _single(text: str) -> Callable[[Findings, Reading, Place], Box]:
    return lambda findings, reading, place: findings.single(
        text, reading.window, place, reading.rate
    )


def _band(acqua: str) -> Callable[[Findings, Reading, Place], Box]:
    return lambda findings, reading, place: findings.best_band(
        acqua, reading.window, place, reading.rate
    )


def _insensitive(text: str, places: Sequence[Place]) -> Callable[[Findings, Reading], str]:
    def measured(findings: Findings, reading: Reading) -> str:
        count = len(findings.insensitive(text, reading, places, ACCEPTABLE))
        return f"{count} of {len(places)}"

    return measured


def _gain(text: str, places: tuple[Place, Place]) -> Callable[[Findings, Reading], str]:
    """What more budget does."""

    def measured(findings: Findings, reading: Reading) -> str:
        less, more = (findings.proposed(text, reading, place, place.alpha) for place in places)
        change = f"{less.median:.2f} to {more.median:.2f}"
        return f"{change}, {compared(more, less)}"

    return measured


CLAIMS = (
    Claim("5.2", "DS75, budget 3: Filter is best of WBM, LRU, Filter throughout", _filter_is_best),
    Claim("5.4", "trends: LRU.F+ comparable to LRU.F", _accuracy("LRU.F+", _TREND)),
    Claim(
        "5.4",
        "trends: WBM.F* comparable to WBM.F, WBM.F+ worse",
        _each(
            ("WBM.F*", _accuracy("WBM.F*", _TREND)),
            ("WBM.F+", _accuracy("WBM.F+", _TREND)),
        ),
    ),
    Claim(
        "5.4",
        "DS: LRU.F+ as accurate as LRU.F, better than Filter and LRU",
        _each(
            ("LRU.F", _accuracy("LRU.F+", _DS)),
            ("lower than Filter", _lower(_proposed("LRU.F+"), _single("Filter"), _DS)),
            ("lower than LRU", _lower(_proposed("LRU.F+"), _single("LRU"), _DS)),
        ),
    ),
    Claim(
        "5.4",
        "DS: LRU.F+ little sensitive to alpha from 0.167 to 0.5, worse for larger",
        _each(
            ("insensitive", _insensitive("LRU.F+", _DS)),
            (
                "0.833 higher than 0.167",
                _lower(_proposed("LRU.F+", 0.167), _proposed("LRU.F+", 0.833), _DS),
            ),
        ),
    ),
    Claim(
        "5.4",
        "DS: WBM.F+ less accurate than WBM.F and Filter",
        _each(
            ("WBM.F", _accuracy("WBM.F+", _DS)),
            ("higher than Filter", _lower(_single("Filter"), _proposed("WBM.F+"), _DS)),
        ),
    ),
    Claim(
        "5.4",
        "DS: WBM.F* as accurate as WBM.F below 60 %, always better than WBM",
        _each(
            ("10 to 50", _accuracy("WBM.F*", _LOW)),
            ("60 to 90", _accuracy("WBM.F*", _HIGH)),
            ("lower than WBM", _lower(_proposed("WBM.F*"), _single("WBM"), _DS)),
        ),
    ),
    Claim(
        "5.4",
        "advice: WBM.F* below 60 %, LRU.F+ from there",
        _each(
            (
                "10 to 50, WBM.F* lower",
                _lower(_proposed("WBM.F*"), _proposed("LRU.F+"), _LOW),
            ),
            (
                "60 to 90, LRU.F+ lower",
                _lower(_proposed("LRU.F+"), _proposed("WBM.F*"), _HIGH),
            ),
        ),
    ),
    Claim(
        "5.5",
        "trends at 70 %, budgets 3 and 5: LRU.F+ comparable, WBM.F+ and WBM.F* worse; "
        "WBM.F* gains nothing from budget 5",
        _each(
            ("LRU.F+", _accuracy("LRU.F+", _TREND_BUDGETS)),
            ("WBM.F+", _accuracy("WBM.F+", _TREND_BUDGETS)),
            ("WBM.F*", _accuracy("WBM.F*", _TREND_BUDGETS)),
            ("INC70 of 3 and 5", _gain("WBM.F*", (Place("INC70"), Place("INC70", 5)))),
        ),
    ),
    Claim(
        "5.5",
        "DS75, budgets 1 to 7: LRU.F+ comparable; WBM.F* cannot use more than 3; WBM.F+ comparable "
        "above 5",
        _each(
            ("LRU.F+", _accuracy("LRU.F+", _DS_BUDGETS)),
            ("WBM.F* of 3 and 7", _gain("WBM.F*", (Place("DS75"), Place("DS75", 7)))),
            ("WBM.F+, 1 to 5", _accuracy("WBM.F+", _DS_BUDGETS[:5])),
            ("WBM.F+, 6 and 7", _accuracy("WBM.F+", _DS_BUDGETS[5:])),
        ),
    ),
    Claim(
        "3.2",
        "Filter best of single policies above 60 %, at all budgets; LRU.F best above 40 %, WBM.F "
        "below",
        _each(
            (
                "Filter lower than WBM at DS70 to DS90",
                _lower(_single("Filter"), _single("WBM"), _HIGH[1:]),
            ),
            (
                f"at DS75, budgets 1 to {BUDGETS[-1]}",
                _lower(_single("Filter"), _single("WBM"), _DS_BUDGETS),
            ),
            ("LRU.F lower than WBM.F, 50 to 90", _lower(_band("LRU"), _band("WBM"), _DS[4:])),
            ("WBM.F lower, 10 to 40", _lower(_band("WBM"), _band("LRU"), _DS[:4])),
        ),
    ),
)
