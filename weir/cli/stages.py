"""`weir ingest`, `weir run`: run the stages in one process, and print what they did."""

from __future__ import annotations

from typing import Annotated

import typer

from weir.cli.accepted import AcceptAny, AcceptSource
from weir.cli.listing import Exclude, Select
from weir.cli.options import Options, declared_names, named
from weir.cli.progress import progress
from weir.errors import ConfigurationError
from weir.lake.names import Name
from weir.text.durations import parse_duration


def ingest(context: typer.Context, accept: AcceptSource = None) -> None:
    """Ingest the new change sets of all sources into the graph."""
    options = Options.of(context)
    from weir.cli.run_output import print_run
    from weir.pipeline import RunOptions, run_ingest
    from weir.requested_run import Accepted
    from weir.stage import new_run_id

    run_id = new_run_id("run")
    with options.project() as project:
        accepted = Accepted.of_sources(project.settings, accept or ())
        wanted = RunOptions(accept_sources=accepted.sources)
        stages = [run_ingest(project, run_id, wanted, progress)]
        print_run(options, project, run_id, stages, accepted.without_effect)


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
            autocompletion=declared_names,
            metavar="QUERY",
            help="A query to try at once though it took more than a limit.",
        ),
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask the remotes that are due before publishing.")
    ] = False,
    accept: AcceptAny = None,
    select: Select = None,
    exclude: Exclude = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run and why, and do nothing.")
    ] = False,
) -> None:
    """Ingest, maintain, validate and publish: bring all answers up to date.

    Running again is safe: completed work is not repeated. A source or query that fails does not
    keep the later stages from processing the others.
    """
    options = Options.of(context)
    if dry_run:
        if every is not None or retry or accept:
            raise ConfigurationError(
                "--dry-run changes nothing, and --every, --retry and --accept are for what does",
                "",
                "Leave them out.",
            )
        from weir.cli.dry_run import print_dry_run
        from weir.pending import Pending
        from weir.requested_run import RequestedRun

        with options.project() as project:
            pending = Pending(project)
            only = RequestedRun(select=select or (), exclude=exclude or ()).selection(pending)
            print_dry_run(options, project, pending, refresh=refresh, only=only)
        return
    if every is not None:
        if accept:
            raise ConfigurationError(
                "--accept is for what one run found, and --every runs again and again",
                "",
                "Run `weir run --accept` beside it.",
            )
        if retry or select or exclude:
            what = "--retry" if retry else "a selection"
            raise ConfigurationError(f"{what} is for one run", "--every", "Give one of the two.")
        from weir.cli.resident import run_every

        run_every(options, period(every), refresh=refresh)
        return
    from weir.cli.run_output import print_run
    from weir.expectations.run import import_ahead
    from weir.pending import Pending
    from weir.pipeline import run_pipeline
    from weir.requested_run import RequestedRun
    from weir.stage import new_run_id

    run_id = new_run_id("run")
    with options.project() as project:
        pending = Pending(project)
        if pending.ingest or pending.answers:
            # Validate needs it; imported while ingest and maintain wait for files and DuckDB.
            import_ahead()
        requested = RequestedRun(
            refresh=refresh,
            accept=accept or (),
            retry=retry or (),
            select=select or (),
            exclude=exclude or (),
        )
        wanted, without_effect = requested.options(project, pending)
        stages = [*run_pipeline(project, run_id, wanted, progress, pending)]
        print_run(options, project, run_id, stages, without_effect)


def period(text: str) -> float:
    """The seconds of `--every`.

    Raises:
        ConfigurationError: it is no duration, or zero.
    """
    try:
        seconds = parse_duration(text.strip()) / 1_000_000
    except ValueError as error:
        reason = str(error)
    else:
        if seconds:
            return seconds
        reason = "it is zero"
    raise ConfigurationError(
        f"{text!r}: {reason}", "--every", "Write a number and a unit: 500ms, 5s, 2m, 1h."
    )
