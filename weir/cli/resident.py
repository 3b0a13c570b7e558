"""`weir run --every`: one process that runs again and again, and keeps warm what it needs."""

from __future__ import annotations

import gc
import sys
import time
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from weir.cli.failures import print_error
from weir.cli.options import Options, Output
from weir.cli.output import json_text, print_line
from weir.cli.progress import progress
from weir.cli.stages import answer_rows, print_warnings, stage_rows
from weir.expectations.run import import_ahead
from weir.pipeline import StageName, warnings_of
from weir.process.standard_streams import has_reader
from weir.project import Project
from weir.refresh.stage import Surroundings
from weir.resident.rounds import Round, Rounds
from weir.resident.stopping import StopRequest
from weir.settings import CONFIG_FILE
from weir.stage import Progress


def run_every(options: Options, seconds: float, *, refresh: bool) -> None:
    """Run all stages, the next time so long after the start of the last.

    Until a signal, or until nobody reads what it prints any more.

    Args:
        options: of the command line.
        seconds: from the start of a round to that of the next one.
        refresh: whether remotes are asked when they are due.

    Raises:
        ConfigurationError: the configuration is wrong at the start.
        Exception: an unexpected error ends it.
    """
    config = (options.config or Path(CONFIG_FILE)).absolute()
    gc.set_threshold(50_000)
    remotes = Surroundings() if refresh else None
    with (
        StopRequest() as stop,
        Rounds(options.settings, config, seconds, refresh=remotes, reporting=_reporting) as rounds,
    ):
        # Validate needs it, which takes seconds; it stays.
        import_ahead()
        try:
            while has_reader() and not stop.is_made:
                started = time.monotonic()
                found = rounds.next(stop)
                if found is not None:
                    _print(options, rounds.project, found)
                    _give_back()
                stop.wait(started + seconds - time.monotonic())
        finally:
            # DuckDB's bindings count what is left at the end.
            gc.unfreeze()


def _reporting(stage: StageName) -> AbstractContextManager[Progress]:
    return progress(stage, announce=False)


def _give_back() -> None:
    """Give back what the round needed."""
    gc.collect()
    if not gc.get_freeze_count():
        # Some hundred thousand objects of libraries, which stay, and are not looked at again.
        gc.freeze()
    pa.default_memory_pool().release_unused()


def _print(options: Options, project: Project, found: Round) -> None:
    """Print a round: one JSON object, or a line and what else there is to say."""
    if options.output is Output.json:
        line = {
            "run_id": found.run_id,
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "seconds": round(found.seconds, 3),
            "stages": stage_rows(found.done),
            "queries": answer_rows(found.done),
            "errors": [str(error) for error in found.began],
            "resolved": [str(error) for error in found.ended],
            "warnings": warnings_of(found.done),
        }
        print(json_text(line), flush=True)
        return
    if found.done:
        what = "; ".join(f"{each.stage}: {each.summary}" for each in found.done)
        at = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
        print_line(f"{at} {found.run_id}: {what} ({found.seconds:.1f} s)")
        print_warnings(project, found.run_id, found.done)
    for error in found.ended:
        print_line(f"resolved: {' '.join((error.what, *error.parts))}")
    sys.stdout.flush()
    for error in found.began:
        print_error(error)
    sys.stderr.flush()
