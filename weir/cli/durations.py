"""Durations as options give them: `5s`, `2m`."""

from __future__ import annotations

import re

from weir.errors import ConfigurationError

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST = 1e9
_FORM = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")


def seconds_of(text: str) -> float:
    """The seconds of a duration: a number and its unit, `500ms`, `5s`, `2m`, `1h`.

    Raises:
        ConfigurationError: it is not of this form, or not positive.
    """
    match = _FORM.fullmatch(text.strip())
    seconds = 0.0 if match is None else float(match[1]) * _SECONDS[match[2]]
    if not 0 < seconds < _LONGEST:
        raise ConfigurationError(
            f"{text!r} is no duration", "--every", "Write a number and a unit: 500ms, 5s, 2m, 1h."
        )
    return seconds
