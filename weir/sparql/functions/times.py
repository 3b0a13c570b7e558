"""Functions on dates and times.

https://www.w3.org/TR/sparql11-query/#func-date-time. Each function also accepts dates without a
time if they have the part that it returns, which section 17.3.1 permits.
"""

from __future__ import annotations

from weir.sparql.functions.calendar import zone_duration
from weir.sparql.functions.values import (
    XSD,
    Date,
    DateTime,
    Opaque,
    Text,
    Value,
    datatype_of,
    decimal,
    integer,
)


def year(value: Value) -> Value | None:
    """YEAR."""
    return integer(value.moment.year) if isinstance(value, DateTime | Date) else None


def month(value: Value) -> Value | None:
    """MONTH."""
    if not isinstance(value, DateTime | Date) or datatype_of(value) == f"{XSD}gYear":
        return None
    return integer(value.moment.month)


def day(value: Value) -> Value | None:
    """DAY."""
    if not isinstance(value, DateTime | Date):
        return None
    has_day = datatype_of(value) in (f"{XSD}dateTime", f"{XSD}date")
    return integer(value.moment.day) if has_day else None


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
    if not isinstance(value, DateTime | Date) or value.moment.offset is None:
        return None
    return Opaque(zone_duration(value.moment.offset), f"{XSD}dayTimeDuration")


def tz(value: Value) -> Value | None:
    """TZ: the zone as it is written, empty without one."""
    if not isinstance(value, DateTime | Date):
        return None
    lexical = value.lexical
    if lexical.endswith("Z"):
        return Text("Z")
    return Text("" if value.moment.offset is None else lexical[-6:])
