"""Expected errors, which are shown without a traceback; all others are bugs."""

from __future__ import annotations

from jobs.errors import ConfigurationError, WeirError
from lake.names import InvalidNameError
from lake.storage_errors import StorageError, storage_error


def as_user_error(error: BaseException) -> WeirError | None:
    """The error as one that a user can act on, or None if it is a bug."""
    match error:
        case WeirError():
            return error
        case InvalidNameError():
            return ConfigurationError(str(error))
        case StorageError():
            return WeirError(error.what, error.where, error.hint)
        case _:
            found = storage_error(error)
            return None if found is None else as_user_error(found)
