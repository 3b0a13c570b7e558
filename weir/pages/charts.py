"""The charts of the page about freshness: from rows to SVG, pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby, pairwise
from typing import Any, Final

from weir.pages.svg import COLOURS, Frame, Point, dot, path, rectangle
from weir.remotes.states import age_text

Row = Mapping[str, Any]

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
_QUARTERS: Final = ((0.0, "0%"), (0.25, "25%"), (0.5, "50%"), (0.75, "75%"), (1.0, "100%"))
_AGES: Final = ("oldest", "p95", "median")


def age_chart(rows: Sequence[Row], warn_after: float | None, error_after: float | None) -> str:
    """The oldest age, its 95th percentile and the median, over time.

    Args:
        rows: evaluation, oldest_seconds, p95_seconds, median_seconds; in order, one each.
        warn_after: drawn as a line, in seconds.
        error_after: the same way.
    """
    limits = [seconds for seconds in (warn_after, error_after) if seconds is not None]
    ages = [row[f"{name}_seconds"] for row in rows for name in _AGES]
    top = max([*(age for age in ages if age is not None), *limits, 1.0])
    marks = [(top * step / 4, age_text(top * step / 4)) for step in range(5)]
    frame = _over_time("Age over time", rows, top, marks)
    parts = [
        part
        for name, colour in zip(_AGES, COLOURS, strict=False)
        for part in _lines(frame, rows, f"{name}_seconds", colour)
    ]
    for limit, colour in ((warn_after, "#d08a1e"), (error_after, "#a3132b")):
        if limit is not None:
            parts.append(frame.level(limit, colour))
    return frame.figure(parts, [*zip(_AGES, COLOURS, strict=False)])


def ccdf_chart(quantiles: Sequence[float]) -> str:
    """Which share of the keys is older than an age.

    Args:
        quantiles: ages in seconds, of equally distant shares from the youngest to the oldest.
    """
    top = max(quantiles, default=0.0)
    marks = [(top * step / 4, age_text(top * step / 4)) for step in range(5)] if top else []
    frame = Frame("Share of the keys that is older (CCDF)", (0.0, top), 1.0, marks, _QUARTERS)
    steps: list[Point] = [(frame.x(0.0), frame.y(1.0))]
    last = len(quantiles) - 1
    for place, age in enumerate(quantiles):
        steps.append((frame.x(age), steps[-1][1]))
        steps.append((frame.x(age), frame.y(1 - place / last if last else 0.0)))
    return frame.figure([path(steps, COLOURS[2])] if quantiles else [])


def staleness_chart(rows: Sequence[Row]) -> str:
    """The share of the budget that was used, beside the expected and the sampled stale share.

    Args:
        rows: evaluation, used_share, expected_share, sampled_share; in order, any may be null.
    """
    names = ("budget used", "expected stale", "sampled stale")
    colours = (COLOURS[6], COLOURS[1], COLOURS[2])
    frame = _by_evaluation("Budget and staleness", rows, 1.0, _QUARTERS)
    parts = []
    for start, end, column_rows in _columns(rows):
        used = _mean(row["used_share"] for row in column_rows)
        if used is not None:
            parts.append(_bar(frame, (start, end), (0.0, used), colours[0]))
    parts += _lines(frame, rows, "expected_share", colours[1], _middle)
    for place, row in enumerate(rows):
        if row["sampled_share"] is not None:
            at = (frame.x(_middle(place, row)), frame.y(row["sampled_share"]))
            parts.append(dot(at, colours[2]))
    return frame.figure(parts, [*zip(names, colours, strict=True)])


def outcome_chart(rows: Sequence[Row]) -> str:
    """What became of the elected keys, per evaluation, one above the other.

    Args:
        rows: evaluation and `OUTCOMES`; in order.
    """
    bars = [
        (
            start,
            end,
            {name: sum(row[name] or 0 for row in column_rows) for name in OUTCOMES},
            column_rows,
        )
        for start, end, column_rows in _columns(rows)
    ]
    top = float(max((sum(counts.values()) for _, _, counts, _ in bars), default=0) or 1)
    marks = [(top * step / 4, f"{top * step / 4:g}") for step in range(5)]
    frame = _by_evaluation("Outcomes", rows, top, marks)
    parts = []
    for start, end, counts, bar_rows in bars:
        below = 0.0
        for name, colour in zip(OUTCOMES, COLOURS, strict=True):
            if counts[name]:
                title = f"{bar_rows[0]['evaluation']:%Y-%m-%d %H:%M} {name}: {counts[name]}"
                high = below + counts[name]
                parts.append(_bar(frame, (start, end), (below, high), colour, title))
                below = high
    return frame.figure(parts, [*zip(OUTCOMES, COLOURS, strict=True)])


def heat_map(times: Sequence[datetime], bounds: Sequence[float], cells: Sequence[Row]) -> str:
    """How old the keys were over time: a column per time, a row per range of ages.

    Args:
        times: of the columns, in order.
        bounds: the upper bounds of the ranges in seconds, ascending; the last one has none.
        cells: place (of the time), bucket (of the range), keys; without those that are empty.
    """
    labels = [f"< {age_text(bound)}" for bound in bounds] + [
        f">= {age_text(bounds[-1])}" if bounds else "all"
    ]
    rows, columns = len(labels), max(len(times), 1)
    marks = [(row + 0.5, label) for row, label in enumerate(labels)]
    across = [(place + 0.5, _label(times[place])) for place in _some(len(times))]
    frame = Frame("Heat map of age", (0.0, float(columns)), float(rows), across, marks)
    totals: dict[int, int] = {}
    for cell in cells:
        totals[cell["place"]] = totals.get(cell["place"], 0) + cell["keys"]
    parts = []
    for cell in cells:
        place, bucket, share = cell["place"], cell["bucket"], cell["keys"] / totals[cell["place"]]
        corner = (frame.x(place), frame.y(bucket + 1))
        wide, tall = frame.x(1) - frame.x(0), frame.y(0) - frame.y(1)
        title = f"{times[place]:%Y-%m-%d %H:%M}, {labels[bucket]}: {cell['keys']:,} keys"
        parts.append(rectangle(corner, wide, tall, COLOURS[1], opacity=share, title=title))
    return frame.figure(parts)


def _over_time(
    title: str, rows: Sequence[Row], top: float, marks: Sequence[tuple[float, str]]
) -> Frame:
    """A frame whose horizontal axis is the time."""
    times = [row["evaluation"] for row in rows]
    if not times:
        return Frame(title, (0.0, 1.0), top, (), marks)
    across = [(times[place].timestamp(), _label(times[place])) for place in _some(len(times))]
    return Frame(title, (times[0].timestamp(), times[-1].timestamp()), top, across, marks)


def _by_evaluation(
    title: str, rows: Sequence[Row], top: float, marks: Sequence[tuple[float, str]]
) -> Frame:
    """A frame whose horizontal axis counts the evaluations."""
    across = [
        (_middle(place, rows[place]), _label(rows[place]["evaluation"]))
        for place in _some(len(rows))
    ]
    return Frame(title, (0.0, float(max(len(rows), 1))), top, across, marks)


def _label(time: datetime) -> str:
    return f"{time:%m-%d %H:%M}"


def _middle(place: int, row: Row) -> float:
    """Where an evaluation is on an axis that counts them."""
    del row
    return place + 0.5


def _instant(place: int, row: Row) -> float:
    """Where an evaluation is on an axis of time."""
    del place
    at: datetime = row["evaluation"]
    return at.timestamp()


def _some(number: int) -> list[int]:
    """At most five places that are spread over so many."""
    return sorted({(number - 1) * step // 4 for step in range(5)}) if number else []


def _lines(
    frame: Frame,
    rows: Sequence[Row],
    name: str,
    colour: str,
    where: Callable[[int, Row], float] = _instant,
) -> list[str]:
    """A line through the values of a column, interrupted where it is null."""
    parts = []
    for is_known, run in groupby(
        enumerate(rows), key=lambda numbered: numbered[1][name] is not None
    ):
        if is_known:
            points = [(frame.x(where(place, row)), frame.y(row[name])) for place, row in run]
            parts.append(path(points, colour) if len(points) > 1 else dot(points[0], colour))
    return parts


def _columns(rows: Sequence[Row]) -> list[tuple[int, int, Sequence[Row]]]:
    """The rows in at most `COLUMNS` groups, each with its first place and that after its last."""
    number = min(len(rows), COLUMNS)
    cuts = [place * len(rows) // number for place in range(number + 1)] if number else [0]
    return [(start, end, rows[start:end]) for start, end in pairwise(cuts)]


def _bar(
    frame: Frame,
    across: tuple[float, float],
    up: tuple[float, float],
    colour: str,
    title: str = "",
) -> str:
    """A rectangle between values of the axes."""
    left, right = (frame.x(value) for value in across)
    low, high = (frame.y(value) for value in up)
    return rectangle((left, high), right - left, low - high, colour, title=title)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
