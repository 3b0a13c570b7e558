"""Dates and times of XML Schema: the proleptic Gregorian calendar with any year.

https://www.w3.org/TR/xmlschema11-2/#dateTime
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Context, Decimal

_YEAR = r"(-?(?:[1-9][0-9]{3,8}|0[0-9]{3}))"
_ZONE = r"(Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?"
_DATE_TIME = re.compile(
    rf"{_YEAR}-([0-9]{{2}})-([0-9]{{2}})T([0-9]{{2}}):([0-9]{{2}}):([0-9]{{2}}(?:\.[0-9]{{1,100}})?){_ZONE}"
)
_DATES = {
    "date": re.compile(rf"{_YEAR}-([0-9]{{2}})-([0-9]{{2}}){_ZONE}"),
    "gYearMonth": re.compile(rf"{_YEAR}-([0-9]{{2}})(){_ZONE}"),
    "gYear": re.compile(rf"{_YEAR}()(){_ZONE}"),
}
DATES = frozenset(_DATES)
"""The datatypes of `parse_date`, without `xsd:`."""
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FOURTEEN_HOURS = 14 * 3600
# Enough for the seconds of any year above and a fraction of 100 digits.
_EXACT = Context(prec=150)


@dataclass(frozen=True, slots=True)
class Moment:
    """A date and time as written; `offset` is the zone in minutes east of UTC, None without one."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: Decimal
    offset: int | None

    @property
    def seconds(self) -> Decimal:
        """Seconds since 1970-01-01T00:00:00: in UTC if it has a zone, else in local time."""
        minutes = _day_number(self.year, self.month, self.day) * 1440 + self.hour * 60 + self.minute
        whole = Decimal((minutes - (self.offset or 0)) * 60)
        return _EXACT.add(whole, self.second)


def order(left: Moment, right: Moment) -> int | None:
    """-1, 0 or 1 if `left` is before, at or after `right`; None if it is not determined.

    If one of the two has no zone, its zone may be any from -14:00 to +14:00:
    https://www.w3.org/TR/xmlschema-2/#dateTime-order
    """
    difference = _EXACT.subtract(left.seconds, right.seconds)
    one_zone = (left.offset is None) != (right.offset is None)
    if one_zone and -_FOURTEEN_HOURS <= difference <= _FOURTEEN_HOURS:
        return None
    return (difference > 0) - (difference < 0)


def parse_date_time(text: str) -> Moment | None:
    """The moment of an xsd:dateTime, or None if the text is not of the datatype."""
    match = _DATE_TIME.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute = map(int, match.groups()[:5])
    second, offset = Decimal(match[6]), _offset(match[7])
    if hour == 24 and minute == 0 and second == 0:
        # The end of a day is the beginning of the next.
        return _following(year, month, day, offset) if _is_day(year, month, day) else None
    if not _is_day(year, month, day) or hour > 23 or minute > 59 or second >= 60:
        return None
    return Moment(year, month, day, hour, minute, second, offset)


def parse_date(text: str, datatype: str) -> Moment | None:
    """The first moment of a date, month or year, or None if the text is not of the datatype."""
    match = _DATES[datatype].fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(part or "1") for part in match.groups()[:3])
    if not _is_day(year, month, day):
        return None
    return Moment(year, month, day, 0, 0, Decimal(0), _offset(match[4]))


def date_text(moment: Moment) -> str:
    """The day of a moment, as XPath writes it: `2000-01-01Z`."""
    year = f"{'-' if moment.year < 0 else ''}{abs(moment.year):04}"
    return f"{year}-{moment.month:02}-{moment.day:02}{zone_text(moment.offset)}"


def date_time_text(moment: Moment) -> str:
    """A moment as XPath writes it: `2000-01-01T12:00:00.5Z`.

    https://www.w3.org/TR/xpath-functions/#casting-to-string
    """
    second = format(moment.second, "f")
    if "." in second:
        second = second.rstrip("0").rstrip(".")
    whole, point, fraction = second.partition(".")
    day = date_text(replace(moment, offset=None))
    time = f"{moment.hour:02}:{moment.minute:02}:{int(whole):02}{point}{fraction}"
    return f"{day}T{time}{zone_text(moment.offset)}"


def zone_text(offset: int | None) -> str:
    """A zone as it is written: `Z`, `-08:00`, or nothing."""
    if offset is None:
        return ""
    if offset == 0:
        return "Z"
    return f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"


def zone_duration(offset: int) -> str:
    """A zone as an xsd:dayTimeDuration: `PT0S`, `-PT8H`."""
    hours, minutes = divmod(abs(offset), 60)
    parts = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
    return f"{'-' if offset < 0 else ''}PT{parts or '0S'}"


def _offset(zone: str | None) -> int | None:
    if zone is None:
        return None
    if zone == "Z":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[4:6])
    return -minutes if zone[0] == "-" else minutes


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _month_length(year: int, month: int) -> int:
    return 29 if month == 2 and _is_leap(year) else _DAYS[month - 1]


def _is_day(year: int, month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= _month_length(year, month)


def _following(year: int, month: int, day: int, offset: int | None) -> Moment:
    if day < _month_length(year, month):
        day += 1
    elif month < 12:
        month, day = month + 1, 1
    else:
        year, month, day = year + 1, 1, 1
    return Moment(year, month, day, 0, 0, Decimal(0), offset)


def _day_number(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01; a year begins in March here, so that the leap day is its last."""
    if month <= 2:
        year -= 1
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + day_of_year - 719_468
