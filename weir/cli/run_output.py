"""What a run did, as it is printed: its stages, its answers, its warnings and its errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weir.cli.failures import report_failure
from weir.cli.options import Options, Output
from weir.cli.output import print_json, print_line, print_rows
from weir.errors import worst_of
from weir.lake.tables import REJECTED
from weir.pipeline import (
    StageRun,
    errors_of,
    ingest_result,
    publish_result,
    warnings_of,
)
from weir.project import Project
from weir.text.cells import Seconds

_SHOWN = 5
"""How many rejected lines are printed one by one."""


def print_run(
    options: Options,
    project: Project,
    run_id: str,
    stages: Sequence[StageRun],
    without_effect: Sequence[str],
) -> None:
    """Print the results.

    Args:
        options: of the command line.
        project: that was run.
        run_id: of the run.
        stages: of the run.
        without_effect: names given by `--accept` whose source was not stopped or answer not held.

    Raises:
        WeirError: a stage, a source or a query failed.
    """
    ingested = ingest_result(stages)
    # If ingest failed as a whole, its error is all there is to report.
    notes = [] if ingested is None else [_nothing_accepted(name) for name in without_effect]
    _print(options, run_id, stages, notes)
    if options.output is Output.table:
        if ingested is not None and not ingested.sources:
            print_line(f"No source is declared in {project.settings.sources}.")
        for note in notes:
            print_line(note)
        print_warnings(project, run_id, stages)
    errors = errors_of(stages)
    if not errors:
        return
    worst = worst_of(errors)
    for error in errors:
        if error is not worst:
            report_failure(error, debug=options.debug)
    raise worst


def _nothing_accepted(name: str) -> str:
    return f"{name}: nothing was stopped, so nothing was accepted"


def _print(options: Options, run_id: str, stages: Sequence[StageRun], notes: Sequence[str]) -> None:
    rows, queries = stage_rows(stages), answer_rows(stages)
    if options.output is Output.json:
        errors = [str(error) for error in errors_of(stages)]
        result = {"run_id": run_id, "stages": rows, "queries": queries, "errors": errors}
        print_json(result | {"warnings": [*warnings_of(stages), *notes]})
        return
    # A stage that took 2.0 seconds is not one of 2.
    timed = [{**row, "seconds": Seconds(row["seconds"])} for row in rows]
    print_rows(options.output, ("stage", "seconds", "result"), timed, title=f"Run {run_id}")
    if queries:
        columns = ("query", "mode", "rows", "to_epoch")
        print_rows(options.output, columns, queries, title="Answers")
    elif len(stages) == 1 and not stages[0].errors and not stages[0].did_something:
        print_line("Nothing new.")


def stage_rows(stages: Sequence[StageRun]) -> list[dict[str, Any]]:
    """What each stage did and how long it took."""
    return [
        {"stage": stage.stage, "seconds": round(stage.seconds, 2), "result": stage.summary}
        for stage in stages
    ]


def answer_rows(stages: Sequence[StageRun]) -> list[dict[str, Any]]:
    """The publications of a run, also of answers that were held; unchanged ones are left out."""
    published = publish_result(stages)
    return [
        {
            "query": p.query,
            "mode": p.mode,
            "rows": p.rows,
            "to_epoch": p.to_epoch,
            "reason": p.reason or None,
        }
        for p in (published.changed_or_not_published if published is not None else ())
    ]


def print_warnings(project: Project, run_id: str, stages: Sequence[StageRun]) -> None:
    """Print the warnings of a run, and which lines of sources were rejected."""
    for warning in warnings_of(stages):
        print_line(f"warning: {warning}")
    ingested = ingest_result(stages)
    if ingested is not None and any(source.rejected for source in ingested.sources):
        print_rejected(project, run_id)


def print_rejected(project: Project, run_id: str) -> None:
    """Print where the first rejected lines of a run are, and how they can be corrected."""
    table = project.open_lake().open(REJECTED.name)
    if table is None:
        return
    names = ["source", "position", "file", "line", "column", "reason"]
    rows = table.rows(names, [("run_id", "=", run_id)]).to_pylist()
    for row in rows[:_SHOWN]:
        file = row["file"] or row["position"]
        where = f"{row['source']}: {file}:{row['line']}:{row['column']}"
        print_line(f"rejected: {where}: {row['reason']}")
    if len(rows) > _SHOWN:
        print_line(f"rejected: {len(rows) - _SHOWN:,} more; weir sql 'SELECT * FROM rejected'")
    print_line(
        "What is rejected is left out; a broken document that was accepted has its last good"
        " content. Files that were ingested are read once: add a corrected one under a later name."
        " Of a source that was stopped, correct the file itself."
    )
