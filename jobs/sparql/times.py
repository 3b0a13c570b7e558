"""Functions on dates and times.

https://www.w3.org/TR/sparql11-query/#func-date-time; an xsd:date is accepted where its parts
suffice, which 17.3.1 permits.
"""

from __future__ import annotations

from jobs.sparql.calendar import Moment, zone_duration
from jobs.sparql.values import XSD, Date, DateTime, Opaque, Text, Value, decimal, integer


def year(value: Value) -> Value | None:
    """YEAR."""
    moment = _day(value)
    return None if moment is None else integer(moment.year)


def month(value: Value) -> Value | None:
    """MONTH."""
    moment = _day(value)
    return None if moment is None else integer(moment.month)


def day(value: Value) -> Value | None:
    """DAY."""
    moment = _day(value)
    return None if moment is None else integer(moment.day)


def hours(value: Value) -> Value | None:
    """HOURS."""
    return integer(value.moment.hour) if isinstance(value, DateTime) else None


def minutes(value: Value) -> Value | None:
    """MINUTES."""
    return integer(value.moment.minute) if isinstance(value, DateTime) else None


def seconds(value: Value) -> Value | None:
    """SECONDS, a decimal."""
    return decimal(value.moment.second) if isinstance(value, DateTime) else None


def timezone(value: Value) -> Value | None:
    """TIMEZONE: an xsd:dayTimeDuration; an error without a zone."""
    moment = _day(value)
    if moment is None or moment.offset is None:
        return None
    return Opaque(zone_duration(moment.offset), f"{XSD}dayTimeDuration")


def tz(value: Value) -> Value | None:
    """TZ: the zone as it is written, empty without one."""
    if not isinstance(value, DateTime | Date):
        return None
    lexical = value.lexical
    if lexical.endswith("Z"):
        return Text("Z")
    return Text("" if value.moment.offset is None else lexical[-6:])


def _day(value: Value) -> Moment | None:
    return value.moment if isinstance(value, DateTime | Date) else None
