"""Expected errors, which are shown without a traceback; all others are bugs."""

from __future__ import annotations

import sys

from weir.errors import ConfigurationError, WeirError
from weir.lake.damage.storage_errors import StorageError, storage_error
from weir.lake.names import InvalidNameError
from weir.process.address_space import is_refusal, refusal_text
from weir.text.printable import printable_lines


def as_user_error(error: BaseException) -> WeirError | None:
    """The error as one that a user can act on, with it as its cause; None if it is a bug."""
    user_error = _as_user_error(error)
    if user_error is not None and user_error is not error and user_error.__cause__ is None:
        user_error.__cause__ = error
    return user_error


def _as_user_error(error: BaseException) -> WeirError | None:
    match error:
        case WeirError():
            return error
        case InvalidNameError():
            return ConfigurationError(str(error))
        case StorageError():
            return WeirError(error.what, error.where, error.hint)
        case _:
            if is_refusal(error):
                what, hint = refusal_text()
                return WeirError(what, "", hint)
            storage_failure = storage_error(error)
            return None if storage_failure is None else _as_user_error(storage_failure)


def print_error(error: WeirError) -> None:
    """Print to standard error what went wrong, where, and what to do next."""
    print(printable_lines("\n".join(error.lines())), file=sys.stderr)
