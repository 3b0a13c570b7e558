"""Charts of pages: Vega-Lite specifications with their rows inside, which a browser draws.

A row's `title` is shown where the pointer is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from weir.text.durations import age_text

Row = Mapping[str, Any]
Chart = dict[str, Any]
"""A Vega-Lite specification."""

COLUMNS: Final = 100
"""Most columns of a chart: more evaluations are drawn together."""
OUTCOMES: Final = (
    "unchanged",
    "changed",
    "gone",
    "suspect",
    "failed",
    "too_large",
    "not_asked",
)
_COLOURS: Final = ("#2a7f62", "#b3344d", "#3b6ea8", "#d08a1e", "#7a5aa6", "#6b6b6b", "#b5b5b5")
_AGES: Final = ("oldest", "p95", "median")
_SHARES: Final = {
    "type": "quantitative",
    "title": None,
    "scale": {"domain": [0, 1], "clamp": True},
    "axis": {"format": ".0%", "tickCount": 5},
}
# Vega-Lite has no format for an age.
_AGE_LABEL: Final = " : ".join(
    [
        *(
            f"datum.value >= {size} ? format(datum.value / {size}, '.3~r') + '{unit}'"
            for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60))
        ),
        "format(datum.value, '.3~r') + 's'",
    ]
)
_AGE: Final = {"type": "quantitative", "title": None, "axis": {"labelExpr": _AGE_LABEL}}
_TIME: Final = {
    "field": "at",
    "type": "temporal",
    "title": None,
    "scale": {"type": "utc"},
    "axis": {"format": "%m-%d %H:%M", "labelOverlap": True, "tickCount": 5},
}
# Evaluations stand side by side, however much time is between them.
_EVALUATION: Final = {
    "field": "at",
    "type": "ordinal",
    "title": None,
    "axis": {
        "labelExpr": "replace(slice(datum.label, 5, 16), 'T', ' ')",
        "labelAngle": 0,
        "labelOverlap": True,
    },
}
_AT: Final = {"field": "at", "type": "temporal", "title": None}
_COUNT: Final = {"type": "quantitative", "axis": {"tickMinStep": 1, "tickCount": 4, "format": ",d"}}
_COUNTED: Final = [
    {"field": "at", "type": "temporal", "title": "ingested", "format": "%Y-%m-%d %H:%M"},
    *(
        {"field": field, "type": "quantitative", "format": ","}
        for field in ("epoch", "rows", "appeared", "vanished")
    ),
]


def age_chart(rows: Sequence[Row], warn_after: float | None, error_after: float | None) -> Chart:
    """The oldest age, its 95th percentile and the median, over time.

    Args:
        rows: evaluation, oldest_seconds, p95_seconds, median_seconds; in order, one each.
        warn_after: drawn as a line, in seconds.
        error_after: the same way.
    """
    ages = [
        {"at": _instant(row), "age": name, "seconds": row[f"{name}_seconds"]}
        for name in _AGES
        for row in rows
    ]
    limits = [
        {"seconds": seconds, "colour": colour, "title": f"{name}: {age_text(seconds)}"}
        for name, seconds, colour in (
            ("warn_after", warn_after, "#d08a1e"),
            ("error_after", error_after, "#a3132b"),
        )
        if seconds is not None
    ]
    y = {**_AGE, "field": "seconds"}
    of_limits = {
        "y": y,
        "color": {"field": "colour", "type": "nominal", "scale": None},
        "tooltip": {"field": "title"},
    }
    return _chart(
        "Age over time",
        [
            {
                "data": {"values": ages},
                "mark": {"type": "line", "strokeWidth": 1.5, "invalid": "break-paths-show-domains"},
                "encoding": {"x": _TIME, "y": y, "color": _colours("age", _AGES)},
            },
            {
                "data": {"values": _alone(ages)},
                "mark": {"type": "point", "filled": True, "size": 20},
                "encoding": {"x": _TIME, "y": y, "color": _colours("age", _AGES)},
            },
            {
                "data": {"values": limits},
                "mark": {"type": "rule", "strokeDash": [4, 3]},
                "encoding": of_limits,
            },
        ],
    )


def ccdf_chart(quantiles: Sequence[float]) -> Chart:
    """Which share of the keys is older than an age.

    Args:
        quantiles: ages in seconds, of equally distant shares from the youngest to the oldest.
    """
    last = len(quantiles) - 1
    steps = [{"place": -1, "age": 0.0, "share": 1.0}] if quantiles else []
    for place, age in enumerate(quantiles):
        steps.append({"place": place, "age": age, "share": 1 - place / last if last else 0.0})
    line = {
        "data": {"values": steps},
        "mark": {"type": "line", "interpolate": "step-after", "color": _COLOURS[2]},
        "encoding": {
            "x": {**_AGE, "field": "age"},
            "y": {**_SHARES, "field": "share"},
            "order": {"field": "place"},
        },
    }
    return _chart("Share of the keys that is older (CCDF)", [line])


def staleness_chart(rows: Sequence[Row]) -> Chart:
    """The share of the budget that was used, beside the expected and the sampled stale share.

    Args:
        rows: evaluation, used_share, expected_share, sampled_share; in order, any may be null.
    """
    names = {
        "used_share": "budget used",
        "expected_share": "expected stale",
        "sampled_share": "sampled stale",
    }
    marks = {"used_share": "bar", "expected_share": "line", "sampled_share": "point"}
    range_of = _colours("share", [*names.values()], (_COLOURS[6], _COLOURS[1], _COLOURS[2]))
    columns = _columns(rows)
    layers = []
    for column, name in names.items():
        values = [
            {"at": _instant(together[0]), "share": name, "value": mean}
            for together in columns
            if (mean := _mean(row[column] for row in together)) is not None
        ]
        encoding = {"x": _EVALUATION, "y": {**_SHARES, "field": "value"}, "color": range_of}
        layers.append(
            {"data": {"values": values}, "mark": {"type": marks[column]}, "encoding": encoding}
        )
    return _chart("Budget and staleness", layers)


def outcome_chart(rows: Sequence[Row]) -> Chart:
    """What became of the elected keys, per evaluation, one above the other.

    Args:
        rows: evaluation and `OUTCOMES`; in order.
    """
    counts = []
    for together in _columns(rows):
        at, time = _instant(together[0]), together[0]["evaluation"]
        for place, name in enumerate(OUTCOMES):
            keys = sum(row[name] or 0 for row in together)
            title = f"{time:%Y-%m-%d %H:%M} {name}: {keys:,}"
            if keys:
                counts.append(
                    {"at": at, "outcome": name, "place": place, "keys": keys, "title": title}
                )
    bars = {
        "data": {"values": counts},
        "mark": "bar",
        "encoding": {
            "x": _EVALUATION,
            "y": {"field": "keys", "type": "quantitative", "title": None},
            "color": _colours("outcome", OUTCOMES),
            "order": {"field": "place"},
            "tooltip": {"field": "title"},
        },
    }
    return _chart("Outcomes", [bars])


def heat_map(times: Sequence[datetime], bounds: Sequence[float], cells: Sequence[Row]) -> Chart:
    """How old the keys were over time: a column per time, a row per range of ages.

    Args:
        times: of the columns, in order.
        bounds: the upper bounds of the ranges in seconds, ascending; the last one has none.
        cells: place (of the time), bucket (of the range), keys; without those that are empty.
    """
    labels = [f"< {age_text(bound)}" for bound in bounds] + [
        f">= {age_text(bounds[-1])}" if bounds else "all"
    ]
    totals: dict[int, int] = {}
    for cell in cells:
        totals[cell["place"]] = totals.get(cell["place"], 0) + cell["keys"]
    values = [
        {
            "at": _text(times[cell["place"]]),
            "age": labels[cell["bucket"]],
            "share": cell["keys"] / totals[cell["place"]],
            "title": f"{times[cell['place']]:%Y-%m-%d %H:%M}, {labels[cell['bucket']]}:"
            f" {cell['keys']:,} keys",
        }
        for cell in cells
    ]
    y = {"field": "age", "type": "ordinal", "title": None, "scale": {"domain": labels[::-1]}}
    rectangles = {
        "data": {"values": values},
        "mark": {"type": "rect", "color": _COLOURS[1]},
        "encoding": {
            "x": _EVALUATION,
            "y": y,
            "opacity": {
                "field": "share",
                "type": "quantitative",
                "scale": {"domain": [0, 1], "range": [0, 1]},
                "legend": None,
            },
            "tooltip": {"field": "title"},
        },
    }
    return _chart("Heat map of age", [rectangles])


def rows_chart(counts: Sequence[Row]) -> Chart:
    """How many rows an answer has over time.

    Args:
        counts: epoch, at, rows, appeared, vanished (negative); in order.
    """
    return {
        **_over_time(counts, 120),
        "mark": {"type": "line", "interpolate": "step-after", "point": {"size": 24}},
        "encoding": {
            "x": _AT,
            "y": {**_COUNT, "field": "rows", "title": "rows", "scale": {"zero": False}},
            "color": {"value": _COLOURS[2]},
            "tooltip": _COUNTED,
        },
    }


def changes_chart(counts: Sequence[Row]) -> Chart:
    """How many rows appeared, upwards, and vanished, downwards, over time.

    Args:
        counts: as of `rows_chart`.
    """
    bars = [
        {
            "mark": {"type": "bar", "width": 5, "color": colour},
            "encoding": {
                "x": _AT,
                "y": {**_COUNT, "field": field, "title": "changes"},
                "tooltip": _COUNTED,
            },
        }
        for field, colour in (("appeared", _COLOURS[0]), ("vanished", _COLOURS[1]))
    ]
    return {**_over_time(counts, 90), "layer": bars}


def graph_chart(counts: Sequence[Row]) -> Chart:
    """How many quads a graph has over time.

    Args:
        counts: epoch, at, rows, change, change_set; in order.
    """
    tooltip = [*_COUNTED[:2], {**_COUNTED[2], "title": "quads"}]
    tooltip.append({"field": "change_set", "type": "nominal", "title": "from"})
    return {
        **_over_time(counts, 180),
        "mark": {"type": "area", "interpolate": "step-after", "line": True, "opacity": 0.25},
        "encoding": {
            "x": _AT,
            "y": {**_COUNT, "field": "rows", "title": "quads"},
            "color": {"value": _COLOURS[2]},
            "tooltip": tooltip,
        },
    }


def terms_chart(counts: Sequence[Row], terms: Sequence[str]) -> Chart:
    """How many triples or instances some predicates or classes have over time, on a scale that
    shows small ones beside large ones.

    Args:
        counts: epoch, at, term, rows; in order.
        terms: their names, the largest first.
    """
    return {
        **_over_time(counts, 180),
        "mark": {"type": "line", "interpolate": "step-after", "point": {"size": 16}},
        "encoding": {
            "x": _AT,
            "y": {
                "field": "rows",
                "type": "quantitative",
                "title": None,
                "scale": {"type": "symlog"},
                "axis": {"format": ",d", "tickCount": 5},
            },
            # Names are long: two fit beside each other on a phone.
            "color": {
                **_colours("term", terms),
                "legend": {"title": None, "orient": "top", "columns": 2, "labelLimit": 140},
            },
            "tooltip": [{"field": "term", "type": "nominal"}, *_COUNTED[:3]],
        },
    }


def _over_time(counts: Sequence[Row], height: int) -> Chart:
    return {"width": "container", "height": height, "data": {"values": [*counts]}}


def _chart(title: str, layers: Sequence[Chart]) -> Chart:
    return {
        "title": {"text": title, "anchor": "start", "fontSize": 12},
        "width": "container",
        "height": 160,
        "layer": [*layers],
    }


def _colours(field: str, names: Sequence[str], colours: Sequence[str] = _COLOURS) -> Chart:
    return {
        "field": field,
        "type": "nominal",
        "scale": {"domain": [*names], "range": [*colours[: len(names)]]},
        "legend": {"title": None, "orient": "top", "columns": len(names)},
    }


def _alone(ages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The values that no line shows, as those before and after them are null."""
    known = [None, *(age if age["seconds"] is not None else None for age in ages), None]
    alone = []
    for place, value in enumerate(known):
        if value is not None:
            beside = (known[place - 1], known[place + 1])
            if not any(other is not None and other["age"] == value["age"] for other in beside):
                alone.append(value)
    return alone


def _columns(rows: Sequence[Row]) -> list[Sequence[Row]]:
    """The rows in at most `COLUMNS` groups, in order."""
    number = min(len(rows), COLUMNS)
    cuts = [place * len(rows) // number for place in range(number + 1)] if number else [0]
    return [rows[start:end] for start, end in pairwise(cuts)]


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _instant(row: Row) -> str:
    return _text(row["evaluation"])


def _text(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%S.%f}Z"
