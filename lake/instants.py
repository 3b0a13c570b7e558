"""Instants: microseconds since 1970-01-01T00:00:00Z, as tables hold the times of events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

INSTANT_0 = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(time: datetime) -> int:
    """The instant of a time with a zone."""
    return (time - INSTANT_0) // timedelta(microseconds=1)


def time_at(instant: int) -> datetime:
    """The time of an instant."""
    return INSTANT_0 + timedelta(microseconds=instant)
