"""`weir run --every`: one process that runs again and again and prints each round."""

from __future__ import annotations

import gc
import sys
import time
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from weir.cli.options import Options, Output
from weir.cli.output import json_text, print_line
from weir.cli.progress import progress
from weir.cli.run_output import answer_rows, print_warnings, stage_rows
from weir.expectations.run import import_ahead
from weir.expected_errors import print_error
from weir.pipeline import StageName, warnings_of
from weir.process.standard_streams import has_reader
from weir.project import Project
from weir.refresh.stage import Surroundings
from weir.resident.rounds import Round, Rounds
from weir.resident.stopping import StopRequest
from weir.settings import CONFIG_FILE
from weir.stage import Progress


def run_every(options: Options, seconds: float, *, refresh: bool) -> None:
    """Execute rounds, `seconds` from start to start, until a signal, or until the output is closed.

    Args:
        options: of the command line.
        seconds: from the start of a round to that of the next one.
        refresh: whether remotes are asked when they are due.

    Raises:
        ConfigurationError: the configuration is wrong at the start.
        Exception: an unexpected error, which ends the process.
    """
    config = (options.config or Path(CONFIG_FILE)).absolute()
    remotes = Surroundings() if refresh else None
    with (
        StopRequest() as stop,
        Rounds(options.settings, config, seconds, refresh=remotes, reporting=_reporting) as rounds,
    ):
        # Validate needs these libraries, whose import takes seconds.
        import_ahead()
        try:
            while has_reader() and not stop.is_made:
                started = time.monotonic()
                finished = rounds.next(stop)
                if finished is not None:
                    _print(options, rounds.project, finished)
                    _give_back()
                stop.wait(started + seconds - time.monotonic())
        finally:
            # DuckDB's bindings check at exit which objects are left.
            gc.unfreeze()


def _reporting(stage: StageName) -> AbstractContextManager[Progress]:
    return progress(stage, announce=False)


def _give_back() -> None:
    """Free the memory that the round needed."""
    gc.collect()
    if not gc.get_freeze_count():
        # The collector need not look again at the many objects of libraries, which stay.
        gc.freeze()
    pa.default_memory_pool().release_unused()


def _print(options: Options, project: Project, finished: Round) -> None:
    """Print a round: one JSON object; or a line, warnings and errors."""
    if options.output is Output.json:
        line = {
            "run_id": finished.run_id,
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "seconds": round(finished.seconds, 3),
            "stages": stage_rows(finished.done),
            "queries": answer_rows(finished.done),
            "errors": [str(error) for error in finished.began],
            "resolved": [str(error) for error in finished.ended],
            "warnings": warnings_of(finished.done),
        }
        print(json_text(line), flush=True)
        return
    if finished.done:
        what = "; ".join(f"{stage.stage}: {stage.summary}" for stage in finished.done)
        at = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
        print_line(f"{at} {finished.run_id}: {what} ({finished.seconds:.1f} s)")
        print_warnings(project, finished.run_id, finished.done)
    for error in finished.ended:
        print_line(f"resolved: {' '.join((error.what, *error.parts))}")
    sys.stdout.flush()
    for error in finished.began:
        print_error(error)
    sys.stderr.flush()
