"""The report as Markdown: the paper's tables and claims beside what the runs gave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from bench.replicas.claims import CLAIMS, verdicts
from bench.replicas.differences import differences
from bench.replicas.findings import (
    BUDGET_PLACES,
    PROPOSED,
    SELECTIVITY_PLACES,
    Findings,
    Place,
    Reading,
    dynamic_alphas,
)
from bench.replicas.parameters import (
    ALPHAS,
    BANDS,
    PAPER,
    TENS,
    TRENDS,
)
from bench.replicas.replay import RateFrom
from weir.remotes.policies.policies import Mode

MODES: tuple[Mode, ...] = ("minmax", "positions")
RATES: tuple[RateFrom, ...] = ("oracle", "online")
MOST = 1.15
"""Times the static distance that a dynamic alpha may have."""


def report(findings: Findings, data: str, about: Sequence[str], windows: Sequence[float]) -> str:
    """The whole report."""
    parts = [
        "# Refresh policies beside the paper\n",
        f"Over {data}; cumulative Jaccard distance, lower is better; median [quartiles] of the "
        "data sets of a test case. *Comparable*: the interquartile boxes overlap.\n",
        "".join(f"- {line}\n" for line in about),
        *_what_must_hold(findings, windows),
        *_table1(findings, windows),
        *_table2(findings, windows),
        *_claims(findings, windows),
        *_selectivities(findings, windows),
        *differences(findings, windows),
    ]
    return "\n".join(parts)


def requirements(
    findings: Findings, windows: Sequence[float]
) -> Iterator[tuple[str, bool, list[tuple[str, ...]]]]:
    """What must hold, whether it does, and the table that shows it (the first row is its head)."""
    for window in windows:
        reading = Reading(window, "minmax", "online")
        rows: list[tuple[str, ...]] = [("selectivity, %", "LRU.F, best band", "LRU.F+", "")]
        fulfilled = True
        for selectivity in TENS:
            place = Place(f"DS{selectivity}")
            verdict = findings.against_band("LRU.F+", reading, place)
            fulfilled &= verdict != "worse"
            rows.append(
                (
                    str(selectivity),
                    str(findings.best_band("LRU", window, place, "online")),
                    str(findings.proposed("LRU.F+", reading, place, place.alpha)),
                    verdict,
                )
            )
        yield (
            f"{window:g} s: LRU.F+ (minmax, alpha 0.167 on the ACQUA ranking) is no worse than "
            "LRU.F with its best band at every selectivity",
            fulfilled,
            rows,
        )
        rows = [
            (
                *("selectivity, %", "alpha 0.2", "best of the paper's alphas", "dynamic"),
                *("best of its grid", "to 0.2", "to best", "to grid", "last alpha"),
            )
        ]
        fulfilled = True
        for dynamic_alpha in dynamic_alphas(findings, window):
            fulfilled &= max(dynamic_alpha.to_default, dynamic_alpha.to_best) <= MOST
            rows.append(
                (
                    *(dynamic_alpha.case.removeprefix("DS"), f"{dynamic_alpha.default:.2f}"),
                    *(
                        f"{dynamic_alpha.best:.2f} ({dynamic_alpha.best_alpha:g})",
                        f"{dynamic_alpha.dynamic:.2f}",
                    ),
                    f"{dynamic_alpha.grid_best:.2f} ({dynamic_alpha.grid_alpha:g})",
                    *(
                        f"{dynamic_alpha.to_default:.2f}",
                        f"{dynamic_alpha.to_best:.2f}",
                        f"{dynamic_alpha.to_grid:.2f}",
                    ),
                    f"{dynamic_alpha.last_alpha:.3f}",
                )
            )
        yield (
            f"{window:g} s: LRU.F+ with dynamic alpha has at most {MOST} times the distance of the "
            "default alpha, and of the best of the paper's alphas, at every selectivity",
            fulfilled,
            rows,
        )


def _what_must_hold(findings: Findings, windows: Sequence[float]) -> Iterator[str]:
    yield "## What must hold\n"
    for text, fulfilled, rows in requirements(findings, windows):
        yield f"**{'Holds' if fulfilled else 'Does not hold'}**: {text}.\n"
        yield _table(rows)


def _table1(findings: Findings, windows: Sequence[float]) -> Iterator[str]:
    yield "## Table 1: the band with the least distance, budget 3\n"
    yield (
        "In brackets: how many of the "
        f"{len(BANDS)} bands from {BANDS[0]} to {BANDS[-1]} are comparable with it.\n"
    )
    rows: list[tuple[str, ...]] = [("policy", "window, rate", *TRENDS)]
    for policy in ("LRU.F", "WBM.F"):
        rows.append((policy, "paper", *(str(fdt) for fdt in PAPER["best FDT"][policy])))
        for window in windows:
            for rate in RATES if policy == "WBM.F" else RATES[1:]:
                cells = [_best_band(findings, policy[:3], window, case, rate) for case in TRENDS]
                named = f", {rate}" if policy == "WBM.F" else ""
                rows.append((policy, f"{window:g} s{named}", *cells))
    yield _table(rows)


def _best_band(findings: Findings, acqua: str, window: float, case: str, rate: RateFrom) -> str:
    place = Place(case)
    best = findings.best_fdt(acqua, window, place, rate)
    like = findings.comparable_bands(acqua, window, place, rate)
    return f"{best} ({like})"


def _table2(findings: Findings, windows: Sequence[float]) -> Iterator[str]:
    yield "## Table 2: the hypotheses\n"
    yield (
        "Hp.1: no worse than ACQUA.F with the best band at every selectivity (DS10 to DS90 and "
        "6 trends); Hp.3: at every budget (1 to 7 on DS75, 3 and 5 on three trends). Hp.2 and "
        "Hp.4: all alphas from 0.167 to 0.5 comparable with the best of them; in brackets: all "
        "six.\n"
    )
    readings = [
        Reading(window, mode, rate) for window in windows for mode in MODES for rate in RATES
    ]
    rows: list[tuple[str, ...]] = [("", "policy", "paper", *(str(reading) for reading in readings))]
    for hypothesis in ("Hp.1", "Hp.2", "Hp.3", "Hp.4"):
        places = SELECTIVITY_PLACES if hypothesis in ("Hp.1", "Hp.2") else BUDGET_PLACES
        for policy in PROPOSED:
            cells = [
                _verified(findings, hypothesis, policy, reading, places) for reading in readings
            ]
            rows.append((hypothesis, policy, PAPER["Table 2"][hypothesis][policy], *cells))
    yield _table(rows)


def _verified(
    findings: Findings,
    hypothesis: str,
    policy: str,
    reading: Reading,
    places: Sequence[Place],
) -> str:
    if hypothesis in ("Hp.1", "Hp.3"):
        return _of(len(findings.as_accurate(policy, reading, places)), len(places))
    acceptable = len(findings.insensitive(policy, reading, places))
    every = len(findings.insensitive(policy, reading, places, ALPHAS))
    return f"{_of(acceptable, len(places))} ({_of(every, len(places))})"


def _of(count: int, among: int) -> str:
    return "yes" if count == among else f"{count} of {among}" if count else "no"


def _claims(findings: Findings, windows: Sequence[float]) -> Iterator[str]:
    yield "## The claims in the text\n"
    yield "Reading: minmax, alpha on the ACQUA ranking.\n"
    for claim in CLAIMS:
        yield f"- **{claim.section}** {claim.text}."
        for window in windows:
            texts = {
                rate: claim.measured(findings, Reading(window, "minmax", rate)) for rate in RATES
            }
            if len({*texts.values()}) == 1:
                yield f"  - {window:g} s: {texts['oracle']}."
            else:
                for rate, text in texts.items():
                    yield f"  - {window:g} s, {rate}: {text}."
    yield ""


def _selectivities(findings: Findings, windows: Sequence[float]) -> Iterator[str]:
    yield "## Distances by selectivity, budget 3\n"
    columns: tuple[tuple[str, Literal["single", "band", "proposed"], str], ...] = (
        *((text, "single", text) for text in ("WST", "RND", "LRU", "Filter", "WBM")),
        *((f"{acqua}.F", "band", acqua) for acqua in ("LRU", "WBM")),
        *((text, "proposed", text) for text in PROPOSED),
    )
    for window in windows:
        for rate in RATES:
            yield f"Window {window:g} s, {rate} rates, minmax, the paper's alpha; medians.\n"
            rows: list[tuple[str, ...]] = [("case", *(name for name, _, _ in columns))]
            for place in SELECTIVITY_PLACES:
                cells = []
                for _, kind, text in columns:
                    match kind:
                        case "single":
                            box = findings.single(text, window, place, rate)
                        case "band":
                            box = findings.best_band(text, window, place, rate)
                        case "proposed":
                            reading = Reading(window, "minmax", rate)
                            box = findings.proposed(text, reading, place, place.alpha)
                    cells.append(f"{box.median:.2f}")
                rows.append((place.case, *cells))
            yield _table(rows)


def summary(findings: Findings, windows: Sequence[float]) -> str:
    """A line per requirement, and where LRU.F+ stands."""
    lines = [
        f"{'holds' if fulfilled else 'DOES NOT HOLD'}: {text}"
        for text, fulfilled, _ in requirements(findings, windows)
    ]
    for window in windows:
        for mode in MODES:
            reading = Reading(window, mode, "online")
            outcomes = [
                findings.against_band("LRU.F+", reading, place) for place in SELECTIVITY_PLACES
            ]
            lines.append(f"{reading}: LRU.F+ against LRU.F: {verdicts(outcomes)}")
    return "\n".join(lines)


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
