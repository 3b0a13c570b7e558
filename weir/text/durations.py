"""Durations as people write them, `10m` or `PT10M` as in XML Schema, and as they are printed."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

HINT = "Write PT10M or 10m; the units are ms, s, m (minutes), h and d."

_NUMBER = "[0-9]{1,12}"
_DAY_TIME = re.compile(
    rf"P(?=[0-9T])(?:({_NUMBER})D)?"
    rf"(?:T(?=[0-9])(?:({_NUMBER})H)?(?:({_NUMBER})M)?(?:({_NUMBER}(?:\.[0-9]{{1,12}})?)S)?)?"
)
_YEAR_MONTH = re.compile(r"P[0-9]+[YM].*")
_WITH_UNIT = re.compile(rf"({_NUMBER}(?:\.[0-9]{{1,12}})?)(ms|s|m|h|d)")
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_DAY_TIME_UNITS = (_DAY, 3_600 * _SECOND, 60 * _SECOND, _SECOND)
_UNITS = {
    "ms": 1_000,
    **dict(zip(("d", "h", "m", "s"), _DAY_TIME_UNITS, strict=True)),
}
_MOST_DAYS = 100_000


class CalendarDuration(ValueError):  # noqa: N818  the name says what was found
    """A duration of months or years, whose length depends on when it begins."""


@lru_cache(256)
def parse_duration(text: str) -> int:
    """The microseconds of a duration; it may be zero.

    Raises:
        CalendarDuration: it has months or years.
        ValueError: it is malformed, has fractions of a microsecond, or is too long. The message is
            the reason, as a clause.
    """
    if _YEAR_MONTH.fullmatch(text):
        raise CalendarDuration("months and years have no fixed length")
    if match := _WITH_UNIT.fullmatch(text):
        length = Fraction(match[1]) * _UNITS[match[2]]
    elif match := _DAY_TIME.fullmatch(text):
        parts = zip(match.groups(default="0"), _DAY_TIME_UNITS, strict=True)
        length = sum((Fraction(part) * unit for part, unit in parts), Fraction(0))
    else:
        raise ValueError("it is not a duration such as PT10M or 10m")
    if length.denominator != 1:
        raise ValueError("a duration is a whole number of microseconds")
    if length > _MOST_DAYS * _DAY:
        raise ValueError(f"it is longer than {_MOST_DAYS:,} days")
    return int(length)


def duration_seconds(text: str | None) -> float | None:
    """The seconds of a duration that may be missing.

    Raises:
        ValueError: as `parse_duration`.
    """
    return None if text is None else parse_duration(text) / _SECOND


def duration_text(length: int) -> str:
    """A duration in microseconds, as XML Schema writes it: `PT10S`."""
    days, rest = divmod(length, _DAY)
    parts = []
    for unit, size in (("H", 3_600 * _SECOND), ("M", 60 * _SECOND)):
        count, rest = divmod(rest, size)
        parts += [f"{count}{unit}"] if count else []
    if rest or not (days or parts):
        seconds, fraction = divmod(rest, _SECOND)
        parts.append(f"{seconds}.{fraction:06}".rstrip("0").rstrip(".") + "S")
    return f"P{f'{days}D' if days else ''}{'T' if parts else ''}{''.join(parts)}"


def age_text(seconds: float) -> str:
    """An age as people read it: 45s, 12m, 3h, 2d; one digit after the point where it matters."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f}".removesuffix(".0") + unit
    return f"{seconds:.0f}s"
