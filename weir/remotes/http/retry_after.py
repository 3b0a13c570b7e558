"""The `Retry-After` header: seconds, or a date in one of HTTP's three forms.

https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

LONGEST_SECONDS = 3600.0
"""A server that asks for more gets one hour: a mistake there must not stop a remote for years."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = f"(?P<month>{'|'.join(_MONTHS)})"
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_WEEKDAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_FORMS = (
    re.compile(rf"{_WEEKDAY}, (?P<day>[0-9]{{2}}) {_MONTH} (?P<year>[0-9]{{4}}) {_TIME} GMT"),
    re.compile(
        r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, "
        rf"(?P<day>[0-9]{{2}})-{_MONTH}-(?P<year>[0-9]{{2}}) {_TIME} GMT"
    ),
    re.compile(rf"{_WEEKDAY} {_MONTH} (?P<day>[0-9]{{2}}| [0-9]) {_TIME} (?P<year>[0-9]{{4}})"),
)


def retry_after(value: str, now: datetime) -> float | None:
    """Seconds from `now`, between 0 and 3,600; None if the header says nothing usable."""
    value = value.strip(" \t")
    if re.fullmatch(r"[0-9]+", value):
        return LONGEST_SECONDS if len(value) > 6 else min(float(value), LONGEST_SECONDS)
    moment = http_date(value, now)
    if moment is None:
        return None
    return min(max((moment - now).total_seconds(), 0.0), LONGEST_SECONDS)


def http_date(value: str, now: datetime) -> datetime | None:
    """A date of HTTP, in UTC; two digits of a year are at most 50 years ahead of `now`."""
    for form in _FORMS:
        match = form.fullmatch(value)
        if match is None:
            continue
        year = int(match["year"])
        if len(match["year"]) == 2:
            year += now.year - now.year % 100
            year -= 100 if year > now.year + 50 else 0
        second = min(int(match["second"]), 59)  # 60 is a leap second
        try:
            return datetime(
                year,
                _MONTHS.index(match["month"]) + 1,
                int(match["day"]),
                int(match["hour"]),
                int(match["minute"]),
                second,
                tzinfo=UTC,
            )
        except ValueError:
            return None
    return None
