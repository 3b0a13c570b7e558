"""The command line `weir`.

Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 a data-quality check failed, 4 another run
is in progress, 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext

from weir.errors import EXIT_FAILED
from weir.lake.interrupts import is_requested
from weir.process.interrupts import INTERRUPTED, Watch, ignore_interrupts, report_interrupt
from weir.process.leaving import collect_rarely, hide_pandas
from weir.process.native_messages import without_panics
from weir.process.standard_streams import output_failure, run_process


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without `arguments`, those of the process.

    Ctrl-C ends the process at the next checkpoint, or after two seconds.
    """
    if arguments is not None:
        return _end(_run(arguments), report_interrupt)
    hide_pandas()
    collect_rarely()
    return run_process(_main)


def _main() -> int:
    arguments, report = sys.argv[1:], report_interrupt
    try:
        report = Watch.start().report
        with nullcontext() if "--debug" in arguments else without_panics():
            code = _written(_end(_run(arguments), report))
        ignore_interrupts()
    except KeyboardInterrupt:
        return _end(INTERRUPTED, report)
    return code


def _written(code: int) -> int:
    """The exit code once all output is written; writing fails if a disk is full."""
    failure = output_failure()
    if failure is None:
        return code
    print(f"error: the output cannot be written: {failure.strerror}", file=sys.stderr)
    return code or EXIT_FAILED


def _end(code: int, report: Callable[[], None]) -> int:
    """The exit code; an interrupt is reported first, also if a library made an error of it."""
    if code != INTERRUPTED and not is_requested():
        return code
    report()
    return INTERRUPTED


def _run(arguments: Sequence[str]) -> int:
    # Imported here, so that an interrupt during the imports is reported like any other.
    from weir.cli.app import command_line
    from weir.cli.failures import report_failure
    from weir.cli.options import global_options_first

    try:
        command_line()(global_options_first(arguments), prog_name="weir")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  (reported to the user; with --debug, in full)
        if is_requested():
            return INTERRUPTED
        return report_failure(error, debug="--debug" in arguments)
    return 0
