"""What the programs in `jobs/` share: two options, a log of their steps, and exit codes."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Literal

from weir.errors import WeirError, worst_of
from weir.expected_errors import as_user_error, print_error
from weir.lake.names import InvalidNameError, Name
from weir.process.native_messages import without_panics
from weir.project import Project
from weir.stage import Job, Progress, StageResult, new_run_id
from weir.text.printable import printable
from weir.text.step_lines import StepLines, reminding


def arg_parser(job: Job | Literal["documents"], description: str | None) -> argparse.ArgumentParser:
    """The options that every stage has."""
    parser = argparse.ArgumentParser(prog=job, description=description)
    parser.add_argument("--config", type=Path, help="configuration file (default: weir.toml)")
    parser.add_argument("--run-id", help="id of this run in the ledger (default: a new one)")
    parser.add_argument("--page", help="address of the site, for the last lines of the log")
    return parser


def named(text: str) -> Name:
    """Parse the value of an option as a name.

    Raises:
        argparse.ArgumentTypeError: it cannot be one.
    """
    try:
        return Name(text)
    except InvalidNameError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def named_list(text: str) -> tuple[Name, ...]:
    """Parse the value of an option as names separated by commas; it may be empty."""
    return tuple(named(part.strip()) for part in text.split(",") if part.strip())


def run_stage(
    parser: argparse.ArgumentParser,
    stage: Callable[..., object],
    argv: Sequence[str] | None,
    *,
    on_spark: bool = True,
) -> int:
    """Parse the options and run a stage; returns the exit code.

    Args:
        parser: has the options; its name is that of the stage.
        stage: is called with the project, the run id, a function that receives its steps, and the
            further options as keyword arguments.
        argv: the arguments; None for those of the process.
        on_spark: whether the program was submitted to Spark; then the session is started first.
    """
    options, job = vars(parser.parse_args(argv)), parser.prog
    config, run_id = options.pop("config"), options.pop("run_id") or new_run_id(job)
    page, summary, start = options.pop("page"), "", time.monotonic()

    def work() -> int:
        nonlocal summary
        with Project.load(config, f"weir {job}") as project, progress_log(job) as progress:
            if on_spark:
                progress("starting Spark")
                project.session()
            result = stage(project, run_id, progress, **options)
        if not isinstance(result, StageResult):
            return 0
        summary = result.summary
        for warning in result.warnings:
            print(printable(f"warning: {warning}"), file=sys.stderr)
        return reported(result.errors)

    with nullcontext() if argv is not None else without_panics():
        code = exit_code_of(work)
    end = f"failed with exit code {code}" if code else "done"
    _print(f"{job}: {end} after {time.monotonic() - start:.1f} s, run {run_id}")
    for line in filter(None, (summary, page)):
        _print(f"  {line}")
    return code


def reported(errors: Sequence[WeirError]) -> int:
    """Print the errors of a stage that came to its end; the exit code of the worst, 0 if none."""
    for error in errors:
        print_error(error)
    return worst_of(errors).exit_code if errors else 0


def exit_code_of(work: Callable[[], int | None]) -> int:
    """Call `work`; an error that a user can act on is printed, not raised.

    Returns:
        What `work` returns, 0 for None; or the exit code of the error.

    Raises:
        Exception: any other error.
    """
    try:
        return work() or 0
    except Exception as error:
        expected = as_user_error(error)
        if expected is None:
            raise
        print_error(expected)
        return expected.exit_code


@contextmanager
def progress_log(job: str) -> Iterator[Progress]:
    """Gives a function that prints each step of a stage as a line; a long step has several."""
    lines = StepLines(job, _print, every_step=True)
    lines.announce()
    with reminding(lines):
        yield lines.begin


def _print(line: str) -> None:
    # Flushed, so that a log shows it at once.
    print(printable(line), flush=True)
