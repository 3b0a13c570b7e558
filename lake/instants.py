"""Instants: microseconds since 1970-01-01T00:00:00Z, as tables hold the times of events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

INSTANT_0 = datetime(1970, 1, 1, tzinfo=UTC)
FIRST = (datetime(1, 1, 1, tzinfo=UTC) - INSTANT_0) // timedelta(microseconds=1)
LAST = (datetime(9999, 12, 31, tzinfo=UTC) - INSTANT_0) // timedelta(microseconds=1) + (
    24 * 3_600_000_000 - 1
)
"""The first and the last instant of the years 1 to 9999; Python has no other times."""


def microseconds(time: datetime) -> int:
    """The instant of a time with a zone."""
    return (time - INSTANT_0) // timedelta(microseconds=1)


def time_at(instant: int) -> datetime:
    """The time of an instant, clipped to the range from `FIRST` to `LAST`.

    No event is outside of it, but the frontier of a stream may be.
    """
    return INSTANT_0 + timedelta(microseconds=min(max(instant, FIRST), LAST))


def seconds_since_1970(time: datetime) -> float:
    """The instant of a time in seconds; a time without a zone, as Spark returns it, is local."""
    return time.astimezone(UTC).timestamp()


def time_text(time: datetime) -> str:
    """A time with a zone as ISO 8601 text in UTC: 2026-01-01T00:00:00Z."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def instant_text(instant: int) -> str:
    """The time of an instant as ISO 8601 text in UTC."""
    return time_text(time_at(instant))
