"""`weir ingest`, `weir run`: run the stages in one process, and print what they did."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.accepted import AcceptAny, Accepted, AcceptSource
from weir.cli.durations import seconds_of
from weir.cli.failures import report_failure
from weir.cli.options import Options, Output, named
from weir.cli.output import print_json, print_line, print_rows
from weir.cli.progress import progress
from weir.errors import ConfigurationError
from weir.lake.names import Name

if TYPE_CHECKING:
    from weir.pipeline import StageRun
    from weir.project import Project
    from weir.settings import Settings

_SHOWN = 5
"""How many rejected lines are printed one by one."""


def ingest(context: typer.Context, accept: AcceptSource = None) -> None:
    """Ingest the new change sets of all sources into the graph."""
    options = Options.of(context)
    from weir.pipeline import RunOptions, run_ingest
    from weir.stage import new_run_id

    run_id = new_run_id("run")
    with options.project() as project:
        accepted = Accepted.of_sources(project.settings, accept or ())
        wanted = RunOptions(accept_sources=accepted.sources)
        stages = [run_ingest(project, run_id, wanted, progress)]
        _end(options, project, run_id, stages, accepted.without_effect)


def run(
    context: typer.Context,
    every: Annotated[
        str | None,
        typer.Option(help="Run again and again, so long after each start: 5s, 2m, 1h."),
    ] = None,
    retry: Annotated[
        list[Name] | None,
        typer.Option(
            parser=named,
            metavar="QUERY",
            help="A query to try at once though it took more than a limit.",
        ),
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask the remotes that are due before publishing.")
    ] = False,
    accept: AcceptAny = None,
) -> None:
    """Ingest, maintain, validate and publish: bring all answers up to date.

    Running again is safe: completed work is not repeated. A source or query that fails does not
    keep the later stages from processing the others.
    """
    options = Options.of(context)
    if every is not None:
        if accept:
            raise ConfigurationError(
                "--accept is for what one run found, and --every runs again and again",
                "",
                "Run `weir run --accept` beside it.",
            )
        if retry:
            raise ConfigurationError("--retry is for one run", "--every", "Give one of the two.")
        from weir.cli.resident import run_every

        run_every(options, seconds_of(every), refresh=refresh)
        return
    from weir.expectations.run import import_ahead
    from weir.pending import Pending
    from weir.pipeline import RunOptions, run_pipeline
    from weir.stage import new_run_id

    # Imports and statements allocate hundreds of thousands of objects that live to the end; a
    # garbage collection at every 700 new ones costs a fifth of the time of the imports.
    gc.set_threshold(50_000)
    run_id, around = new_run_id("run"), None
    with options.project() as project:
        pending = Pending(project)
        if pending.ingest or pending.answers:
            # Validate needs it; imported while ingest and maintain wait for files and DuckDB.
            import_ahead()
        if refresh:
            from weir.refresh.stage import Surroundings

            around = Surroundings()
        _check_queries(project.settings, retry or ())
        accepted = Accepted.of(project.settings, accept or ())
        wanted = RunOptions(around, accepted.sources, accepted.queries, retry or ())
        stages = [*run_pipeline(project, run_id, wanted, progress)]
        _end(options, project, run_id, stages, accepted.without_effect)


def _check_queries(settings: Settings, names: Sequence[str]) -> None:
    """Check that queries of these names are declared.

    Raises:
        ConfigurationError: one is not.
    """
    from weir.definitions.names import declarations, folders_of
    from weir.text.near import meant

    if not names:
        return
    known = [declaration.name for declaration in declarations(folders_of(settings))]
    for name in names:
        if name not in known:
            raise ConfigurationError(
                f"there is no query {name}",
                str(settings.queries),
                f"{meant(name, known)}`weir status` lists them.",
            )


def _end(
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
    from weir.pipeline import errors_of, ingest_result, worst_of

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
    from weir.pipeline import errors_of, warnings_of

    rows, queries = stage_rows(stages), answer_rows(stages)
    if options.output is Output.json:
        errors = [str(error) for error in errors_of(stages)]
        result = {"run_id": run_id, "stages": rows, "queries": queries, "errors": errors}
        print_json(result | {"warnings": [*warnings_of(stages), *notes]})
        return
    print_rows(options.output, ("stage", "seconds", "result"), rows, title=f"Run {run_id}")
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
    from weir.pipeline import publish_result

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
    from weir.pipeline import ingest_result, warnings_of

    for warning in warnings_of(stages):
        print_line(f"warning: {warning}")
    ingested = ingest_result(stages)
    if ingested is not None and any(source.rejected for source in ingested.sources):
        print_rejected(project, run_id)


def print_rejected(project: Project, run_id: str) -> None:
    """Print where the first rejected lines of a run are, and how they can be corrected."""
    from weir.lake.tables import REJECTED

    table = project.open_lake().open(REJECTED.name)
    if table is None:
        return
    rows = table.to_pyarrow_table(
        columns=["source", "position", "file", "line", "column", "reason"],
        filters=[("run_id", "=", run_id)],
    ).to_pylist()
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
