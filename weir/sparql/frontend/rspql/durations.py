"""Durations: `PnDTnHnMn.nS` as in XML Schema, or a number with a unit, `10m`."""

from __future__ import annotations

import re
from fractions import Fraction

HINT = "Write PT10M or 10m; the units are ms, s, m (minutes), h and d."

_NUMBER = "[0-9]{1,12}"
_DAY_TIME = re.compile(
    rf"P(?=[0-9T])(?:({_NUMBER})D)?"
    rf"(?:T(?=[0-9])(?:({_NUMBER})H)?(?:({_NUMBER})M)?(?:({_NUMBER}(?:\.[0-9]{{1,12}})?)S)?)?"
)
_YEAR_MONTH = re.compile(r"P[0-9]+[YM].*")
_WITH_UNIT = re.compile(rf"({_NUMBER})(ms|s|m|h|d)")
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
