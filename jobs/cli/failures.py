"""Errors for people: what, where, what next; a traceback only on request."""

from __future__ import annotations

import sys
import traceback

from jobs.errors import EXIT_FAILED, WeirError

INTERRUPTED = 130


def report_failure(error: BaseException, *, debug: bool) -> int:
    """Print an error to standard error and return the exit code that it stands for."""
    from jobs.expected_errors import as_user_error

    if debug:
        traceback.print_exception(error)
    match as_user_error(error) or error:
        case WeirError() as told:
            _print("error", told.what)
            _print("where", told.where)
            _print("next", told.instead)
            return told.exit_code
        case KeyboardInterrupt():
            _print("interrupted", "what was committed stays; run again to go on")
            return INTERRUPTED
        case _:
            _print("error", f"{type(error).__name__}: {str(error).strip() or 'no message'}")
            if not debug:
                _print("next", "This was not foreseen. The same command with --debug tells more.")
            return EXIT_FAILED


def _print(label: str, text: str) -> None:
    if text:
        print(f"{label}: {text}", file=sys.stderr)
