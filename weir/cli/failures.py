"""Reports errors on standard error: what, where, what to do next."""

from __future__ import annotations

import sys
import traceback

from weir.errors import EXIT_FAILED, WeirError
from weir.lake.damage.spark_errors import messages_of
from weir.process.address_space import limit, suspicion_text
from weir.text.printable import printable_lines


def report_failure(error: Exception, *, debug: bool) -> int:
    """Print an error to standard error and return its exit code; `debug`: with the traceback."""
    from weir.expected_errors import as_user_error, print_error

    if debug:
        print(printable_lines("".join(traceback.format_exception(error))), file=sys.stderr, end="")
    match as_user_error(error) or error:
        case WeirError() as expected:
            print_error(expected)
            return expected.exit_code
        case _:
            # The message of a Spark error is often only in its cause.
            message = "\n".join(messages_of(error)) or "no message"
            _print("error", f"{type(error).__name__}: {message}")
            if limit() is not None:
                what, hint = suspicion_text()
                print_error(WeirError(what, "", hint))
            elif not debug:
                _print("next", "Unexpected error. Re-run with --debug for the traceback.")
            return EXIT_FAILED


def _print(label: str, text: str) -> None:
    print(f"{label}: {printable_lines(text)}", file=sys.stderr)
