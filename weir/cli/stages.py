"""`weir ingest`, `weir run`: run the stages in one process, and print what they did."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.accepted import AcceptAny, Accepted, AcceptSource
from weir.cli.listing import Exclude, Select, names_of
from weir.cli.options import Options, named
from weir.cli.progress import progress
from weir.errors import ConfigurationError
from weir.lake.names import Name
from weir.text.durations import parse_duration

if TYPE_CHECKING:
    from weir.pending import Pending
    from weir.settings import Settings


def ingest(context: typer.Context, accept: AcceptSource = None) -> None:
    """Ingest the new change sets of all sources into the graph."""
    options = Options.of(context)
    from weir.cli.run_output import print_run
    from weir.pipeline import RunOptions, run_ingest
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

        with options.project() as project:
            pending = Pending(project)
            only = _selected(pending, select, exclude)
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
        only = _selected(pending, select, exclude)
        wanted = RunOptions(around, accepted.sources, accepted.queries, retry or (), only)
        stages = [*run_pipeline(project, run_id, wanted, progress)]
        print_run(options, project, run_id, stages, accepted.without_effect)


def _selected(
    pending: Pending, select: Sequence[str] | None, exclude: Sequence[str] | None
) -> list[str] | None:
    """The names that a selection has; None without one.

    Raises:
        ConfigurationError: a criterion cannot be understood, or nothing is like it.
    """
    if not (select or exclude):
        return None
    states = {name: state.state for name, state in pending.definitions.items()}
    return names_of(pending, states, select or (), exclude or ())


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
