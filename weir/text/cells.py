"""Values as the cells of tables that people read."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any


class Seconds(float):
    """How long something took: a cell has one decimal."""


def cell_text(value: Any) -> str:
    """A value as the cell of a table."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return f"{value:%Y-%m-%d %H:%M:%S}"
        case timedelta():
            return str(timedelta(seconds=round(value.total_seconds())))
        case Seconds():
            return f"{value:.1f}"
        case float():
            # What a double surely has; small ones must not look like 0.
            return f"{value:.15g}"
        case _:
            return str(value)


def finite(value: Any) -> Any:
    """The value, as text if it is an infinite number or none: JSON has neither."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
