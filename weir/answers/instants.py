"""Instants as the command line reads them."""

from __future__ import annotations

from datetime import datetime

from weir.errors import ConfigurationError
from weir.lake.instants import microseconds

_EXAMPLE = "2026-01-01T00:00:00Z"


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
