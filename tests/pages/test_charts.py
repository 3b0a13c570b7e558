"""The charts of the page about freshness: what is drawn where, and that texts are escaped."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from weir.pages.charts import (
    COLUMNS,
    OUTCOMES,
    age_chart,
    ccdf_chart,
    heat_map,
    outcome_chart,
    staleness_chart,
)
from weir.pages.svg import Frame

START = datetime(2026, 1, 1, tzinfo=UTC)
SVG = re.compile(r"<svg.*</svg>", re.DOTALL)


def parsed(svg: str) -> ET.Element:
    """The figure, which has to be XML."""
    return ET.fromstring(svg)


def points(svg: str) -> list[list[tuple[float, float]]]:
    """The points of each line through points."""
    found = []
    for each in parsed(svg).iter("polyline"):
        pairs = (pair.split(",") for pair in each.get("points", "").split())
        found.append([(float(x), float(y)) for x, y in pairs])
    return found


def bars(svg: str) -> list[tuple[float, float, float, float]]:
    """x, y, width and height of each rectangle."""

    def number(each: ET.Element, name: str) -> float:
        return float(each.get(name, "nan"))

    return [
        (number(each, "x"), number(each, "y"), number(each, "width"), number(each, "height"))
        for each in parsed(svg).iter("rect")
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


def test_ages_rise_with_time_and_a_gap_interrupts_the_line() -> None:
    ages = (10.0, 20.0, None, 40.0, 80.0)
    rows = evaluations(*({"oldest_seconds": age} for age in ages))
    svg = age_chart(rows, None, None)
    first, second = points(svg)
    assert [len(first), len(second)] == [2, 2]
    assert first[0][0] < first[1][0] < second[0][0] < second[1][0]
    assert first[0][1] > first[1][1] > second[0][1] > second[1][1]


def test_the_limits_of_age_are_lines_within_the_figure() -> None:
    svg = age_chart(evaluations({"oldest_seconds": 1.0}, {"oldest_seconds": 1.0}), 50.0, 100.0)
    dashed = [each for each in parsed(svg).iter("line") if each.get("stroke-dasharray")]
    high = [float(each.get("y1", "nan")) for each in dashed]
    assert len(high) == 2
    assert high[1] < high[0], "the larger limit is above"


def test_the_ccdf_falls_from_all_keys_to_none() -> None:
    ((first, *_, last),) = points(ccdf_chart([0.0, 10.0, 100.0]))
    frame = Frame("", (0.0, 100.0), 1.0)
    assert first == pytest.approx((frame.x(0), frame.y(1)), abs=0.1)
    assert last == pytest.approx((frame.x(100), frame.y(0)), abs=0.1)


@pytest.mark.parametrize("quantiles", [[], [0.0], [5.0], [0.0] * 101])
def test_the_ccdf_of_no_key_or_of_equal_ages_is_a_figure(quantiles: list[float]) -> None:
    assert parsed(ccdf_chart(quantiles)).tag == "svg"


def test_the_bars_of_outcomes_stand_on_each_other() -> None:
    rows = evaluations({"unchanged": 3, "changed": 1}, {"failed": 2})
    (x, low, wide, tall), (x2, high, _, short), (x3, other, _, third) = bars(outcome_chart(rows))
    assert x == x2 < x3 == pytest.approx(x + wide, abs=0.2)
    assert tall == pytest.approx(3 * short, abs=0.3)
    assert high + short == pytest.approx(low, abs=0.2)
    assert other + third == pytest.approx(low + tall, abs=0.2), "on the axis"


def test_many_evaluations_share_a_bounded_number_of_bars() -> None:
    rows = evaluations(*({"unchanged": 1} for _ in range(1000)))
    found = bars(outcome_chart(rows))
    assert len(found) == COLUMNS
    assert len({tall for *_, tall in found}) == 1


def test_the_chart_of_staleness_shows_use_expectation_and_sample() -> None:
    rows = evaluations(
        {"used_share": 0.5, "expected_share": 0.2, "sampled_share": 0.1},
        {"used_share": 2.0, "expected_share": 0.4},
    )
    svg = staleness_chart(rows)
    half, whole = bars(svg)
    assert whole[3] == pytest.approx(2 * half[3], abs=0.2), "more than all is cut off"
    ((before, after),) = points(svg)
    assert after[1] < before[1]
    assert len([*parsed(svg).iter("circle")]) == 1


def test_the_heat_map_has_the_share_of_the_keys_of_its_time() -> None:
    cells = [
        {"place": 0, "bucket": 0, "keys": 4},
        {"place": 1, "bucket": 0, "keys": 1},
        {"place": 1, "bucket": 1, "keys": 3},
    ]
    svg = heat_map([START, START + timedelta(hours=1)], [60.0], cells)
    shares = [float(each.get("fill-opacity", "nan")) for each in parsed(svg).iter("rect")]
    assert shares == [1.0, 0.25, 0.75]
    (first, low, high) = bars(svg)
    assert first[0] < low[0] == high[0]
    assert high[1] < low[1]
    titles = [each.text for each in parsed(svg).iter("title")]
    assert titles[2] == "2026-01-01 01:00, >= 1m: 3 keys"


@pytest.mark.parametrize("number", [0, 1])
def test_charts_of_few_evaluations_are_figures(number: int) -> None:
    rows = evaluations(*({"oldest_seconds": 0.0} for _ in range(number)))
    for svg in (age_chart(rows, None, None), outcome_chart(rows), staleness_chart(rows)):
        assert parsed(svg).tag == "svg"
    assert parsed(heat_map([], [], [])).tag == "svg"


def test_every_text_of_a_figure_is_escaped() -> None:
    svg = Frame('<a title="x">&', (0, 1), 1, [(0, "</svg>")], [(0, "<b>")]).figure(
        [], [("<i>", "#000")]
    )
    texts = {each.text for each in parsed(svg).iter("text")}
    assert texts == {'<a title="x">&', "</svg>", "<b>", "<i>"}
