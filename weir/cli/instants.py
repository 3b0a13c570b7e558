"""Instants and durations as the command line reads and prints them: times in UTC, PT10S."""

from __future__ import annotations

from datetime import datetime

from weir.errors import ConfigurationError
from weir.lake.instants import microseconds

_EXAMPLE = "2026-01-01T00:00:00Z"
_UNITS = (("H", 3_600_000_000), ("M", 60_000_000))
_DAY, _SECOND = 86_400_000_000, 1_000_000


def instant_of(text: str, option: str) -> int:
    """The instant that an option names, in microseconds since 1970-01-01T00:00:00Z.

    Raises:
        ConfigurationError: it is not a time, or has no zone.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigurationError(
            f"{text!r} is neither a time nor an epoch", option, f"Write a time as {_EXAMPLE}."
        ) from None
    if time.tzinfo is None:
        raise ConfigurationError(
            f"the time {text} has no zone",
            option,
            f"Write {time.isoformat()}Z for UTC, or an offset such as +01:00.",
        )
    return microseconds(time)


def duration_text(length: int) -> str:
    """A duration in microseconds, as XML Schema writes it: `PT10S`."""
    days, rest = divmod(length, _DAY)
    parts = []
    for unit, size in _UNITS:
        count, rest = divmod(rest, size)
        parts += [f"{count}{unit}"] if count else []
    if rest or not (days or parts):
        seconds, fraction = divmod(rest, _SECOND)
        parts.append(f"{seconds}.{fraction:06}".rstrip("0").rstrip(".") + "S")
    return f"P{f'{days}D' if days else ''}{'T' if parts else ''}{''.join(parts)}"
