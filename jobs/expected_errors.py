"""Expected errors, which are shown without a traceback; all others are bugs."""

from __future__ import annotations

from jobs.errors import WeirError
from lake.lake import DamagedTable


def as_user_error(error: BaseException) -> WeirError | None:
    """The error as one that a user can act on, or None if it is a bug."""
    match error:
        case WeirError():
            return error
        case DamagedTable():
            return WeirError(str(error))
        case _:
            return None
