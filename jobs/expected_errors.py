"""Which errors are told to people in their own words; all others are ours to mend."""

from __future__ import annotations

from jobs.errors import WeirError
from lake.lake import DamagedTable


def foreseen(error: BaseException) -> WeirError | None:
    """The error as one that says what to do; None if nobody thought of it."""
    match error:
        case WeirError():
            return error
        case DamagedTable():
            return WeirError(str(error))
        case _:
            return None
