"""The charts of pages: which rows they have, and that Vega-Lite draws them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import vl_convert

from weir.pages.charts import (
    COLUMNS,
    OUTCOMES,
    Chart,
    age_chart,
    ccdf_chart,
    changes_chart,
    graph_chart,
    heat_map,
    outcome_chart,
    rows_chart,
    staleness_chart,
)

START = datetime(2026, 1, 1, tzinfo=UTC)


def figure(chart: Chart) -> ET.Element:
    """The figure that Vega-Lite draws: it reports what is wrong with a specification."""
    return ET.fromstring(vl_convert.vegalite_to_svg(chart))


def values(chart: Chart, layer: int = 0) -> list[dict[str, Any]]:
    """The rows of a layer."""
    rows: list[dict[str, Any]] = chart["layer"][layer]["data"]["values"]
    return rows


def lines(chart: Chart) -> list[int]:
    """Of each line that is drawn, its number of pieces."""
    return [
        mark.get("d", "").count("M")
        for mark in figure(chart).iter()
        if mark.get("aria-roledescription") == "line mark"
    ]


def evaluations(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    """Evaluations ten minutes apart."""
    nothing = dict.fromkeys(
        ("oldest_seconds", "p95_seconds", "median_seconds", *OUTCOMES)
    ) | dict.fromkeys(("used_share", "expected_share", "sampled_share"))
    return [
        {**nothing, "evaluation": START + timedelta(minutes=10 * place), **row}
        for place, row in enumerate(rows)
    ]


def test_ages_are_lines_over_time_which_a_gap_interrupts() -> None:
    ages = (10.0, 20.0, None, 40.0, 80.0)
    chart = age_chart(evaluations(*({"oldest_seconds": age} for age in ages)), None, None)
    assert [row["seconds"] for row in values(chart) if row["age"] == "oldest"] == [*ages]
    assert max(lines(chart)) == 2


def test_an_age_between_two_gaps_is_a_point() -> None:
    ages = (10.0, None, 30.0, None, 50.0, 60.0)
    chart = age_chart(evaluations(*({"p95_seconds": age} for age in ages)), None, None)
    assert [(row["age"], row["seconds"]) for row in values(chart, 1)] == [("p95", 10), ("p95", 30)]


def test_the_limits_of_age_are_dashed_lines() -> None:
    chart = age_chart(evaluations({"oldest_seconds": 1.0}), 50.0, 100.0)
    dashed = [mark for mark in figure(chart).iter() if mark.get("stroke-dasharray")]
    assert len(dashed) == 2
    titles = [row["title"] for row in values(chart, 2)]
    assert titles == ["warn_after: 50s", "error_after: 1.7m"]


def test_the_ccdf_falls_from_all_keys_to_none() -> None:
    steps = [(row["age"], row["share"]) for row in values(ccdf_chart([0.0, 10.0, 100.0]))]
    assert steps == [(0.0, 1.0), (0.0, 1.0), (10.0, 0.5), (100.0, 0.0)]


@pytest.mark.parametrize("quantiles", [[], [0.0], [5.0], [0.0] * 101])
def test_the_ccdf_of_no_key_or_of_equal_ages_is_a_figure(quantiles: list[float]) -> None:
    assert figure(ccdf_chart(quantiles)).tag.endswith("svg")


def test_the_bars_of_outcomes_have_the_keys_of_each_outcome_in_order() -> None:
    chart = outcome_chart(evaluations({"changed": 1, "unchanged": 3}, {"failed": 2}))
    assert [(row["at"][14:16], row["outcome"], row["keys"]) for row in values(chart)] == [
        ("00", "unchanged", 3),
        ("00", "changed", 1),
        ("10", "failed", 2),
    ]
    assert "2026-01-01 00:10 failed: 2" in [row["title"] for row in values(chart)]


def test_many_evaluations_share_a_bounded_number_of_bars() -> None:
    rows = evaluations(*({"unchanged": 1} for _ in range(1000)))
    bars = values(outcome_chart(rows))
    assert len(bars) == COLUMNS
    assert sum(bar["keys"] for bar in bars) == 1000


def test_the_chart_of_staleness_shows_use_expectation_and_sample() -> None:
    rows = evaluations(
        {"used_share": 0.5, "expected_share": 0.2, "sampled_share": 0.1},
        {"used_share": 2.0, "expected_share": 0.4},
    )
    chart = staleness_chart(rows)
    shares = [[row["value"] for row in values(chart, layer)] for layer in range(3)]
    assert shares == [[0.5, 2.0], [0.2, 0.4], [0.1]]
    assert chart["layer"][0]["encoding"]["y"]["scale"]["clamp"], "more than all is cut off"


def test_the_heat_map_has_the_share_of_the_keys_of_its_time() -> None:
    cells = [
        {"place": 0, "bucket": 0, "keys": 4},
        {"place": 1, "bucket": 0, "keys": 1},
        {"place": 1, "bucket": 1, "keys": 3},
    ]
    chart = heat_map([START, START + timedelta(hours=1)], [60.0], cells)
    assert [row["share"] for row in values(chart)] == [1.0, 0.25, 0.75]
    assert values(chart)[2]["title"] == "2026-01-01 01:00, >= 1m: 3 keys"


@pytest.mark.parametrize("number", [0, 1])
def test_charts_of_few_evaluations_are_figures(number: int) -> None:
    rows = evaluations(*({"oldest_seconds": 0.0} for _ in range(number)))
    for chart in (age_chart(rows, None, None), outcome_chart(rows), staleness_chart(rows)):
        assert figure(chart).tag.endswith("svg")
    assert figure(heat_map([], [], [])).tag.endswith("svg")


COUNTS = [
    {"epoch": 1, "at": "2026-01-01T00:00:00Z", "rows": 60, "appeared": 0, "vanished": 0},
    {"epoch": 2, "at": "2026-01-02T00:00:00Z", "rows": 61, "appeared": 2, "vanished": -1},
]


def marks(chart: Chart, kind: str) -> int:
    """How many marks of a kind are drawn."""
    kinds = [mark.get("aria-roledescription") for mark in figure(chart).iter()]
    return kinds.count(kind)


def test_rows_over_time_are_a_line_with_a_point_per_epoch() -> None:
    assert marks(rows_chart(COUNTS), "line mark") == 1
    assert marks(rows_chart(COUNTS), "point") == 2


def test_rows_that_appeared_and_vanished_are_bars_on_both_sides() -> None:
    assert marks(changes_chart(COUNTS), "bar") == 4


def test_the_size_of_a_graph_is_an_area_over_time() -> None:
    rows = [{**row, "change": 0, "change_set": "register: 1.ttl"} for row in COUNTS]
    assert marks(graph_chart(rows), "area mark") == 1
