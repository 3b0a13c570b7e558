"""`weir status`, `weir explain`, `weir report`: the state and the plan of queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobs.cli.options import Options, Output
from jobs.cli.output import print_json, print_line, print_rows
from lake.whole_files import write_whole

if TYPE_CHECKING:
    from jobs.catalog.maintained import Maintained
    from jobs.settings import Settings

_FINAL = ("query", "final_to", "held_back_by")
_NARROW = ("query", "state", "watermark", "lag_epochs", "lag", "rows", "mode")
"""The columns of `weir status` as a table, which fit into 80 characters; JSON has all."""


def status(
    context: typer.Context,
    streams: Annotated[
        bool, typer.Option("--streams", help="Only how far each stream is complete.")
    ] = False,
) -> None:
    """Print how far each query is maintained and published, and how far each stream is complete."""
    from jobs.cli.query_status import QueryStatus, query_statuses

    options = Options.of(context)
    settings = options.settings()
    if streams:
        otherwise = "No stream is declared: give a source the key `stream`."
        _print_streams(options, settings, otherwise=otherwise)
        return
    rows = [asdict(each) for each in query_statuses(settings)]
    if options.output is Output.json:
        print_rows(options.output, tuple(QueryStatus.__dataclass_fields__), rows, title="")
        return
    if rows:
        print_rows(options.output, _NARROW, rows, title="")
    else:
        print_line("No query is registered: write one into the folder `queries`.")
    for row in rows:
        if row["reason"]:
            print_line(f"{row['query']}: {row['reason']}")
    _print_wrong_sources(settings)
    _print_sources(settings)
    over_streams = [_with_times(row) for row in rows if row["held_back_by"] or row["final_to"]]
    if over_streams:
        print_rows(options.output, _FINAL, over_streams, title="Queries over streams")
    _print_streams(options, settings, otherwise="")


def _print_wrong_sources(settings: Settings) -> None:
    """Print what is wrong with the declared sources: nothing is ingested until it is corrected."""
    from jobs.errors import ConfigurationError
    from jobs.ingest.sources.all_sources import all_sources

    if not settings.sources.exists():
        return
    try:
        all_sources(settings)
    except ConfigurationError as error:
        print_line(f"Nothing is ingested: {error}")


def _print_sources(settings: Settings) -> None:
    """Print which sources are stopped or wait, and of which input was rejected."""
    from jobs.cli.source_status import source_notes

    for note in source_notes(settings.open_lake()):
        print_line(note)


def _print_streams(options: Options, settings: Settings, *, otherwise: str) -> None:
    """Print how far each stream is; if there is none, `otherwise` for people."""
    from jobs.cli.stream_status import StreamStatus, stream_statuses

    rows = [asdict(each) for each in stream_statuses(settings)]
    columns = tuple(StreamStatus.__dataclass_fields__)
    if options.output is not Output.json and not any(row["deleted_before"] for row in rows):
        columns = tuple(name for name in columns if name != "deleted_before")
    if options.output is Output.json:
        print_rows(options.output, columns, rows, title="")
    elif rows:
        print_rows(options.output, columns, [*map(_with_times, rows)], title="Streams")
    elif otherwise:
        print_line(otherwise)


def _with_times(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose times have all digits and the zone."""
    from lake.instants import time_text

    return {
        name: time_text(cell) if isinstance(cell, datetime) else cell for name, cell in row.items()
    }


def explain(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="Name of a query.", show_default=False)],
    with_sql: Annotated[bool, typer.Option("--sql", help="Print the SQL of one run, too.")] = False,
) -> None:
    """Print how a query is maintained: the class of each part, the plan, which nodes are stored."""
    from jobs.catalog.catalog import Catalog
    from jobs.errors import ConfigurationError

    options = Options.of(context)
    settings = options.settings()
    catalog = Catalog.of(settings)
    try:
        found = catalog.member(query)
    except KeyError:
        known = ", ".join(catalog.names) or "none yet"
        raise ConfigurationError(
            f"there is no query {query}", str(settings.queries), f"Registered: {known}."
        ) from None
    _check_remotes(settings, found)
    starts = _first_instants(settings, found)
    kept_from = _kept_from(settings, starts)
    explanation = _explanation(found, starts, kept_from, with_sql=with_sql)
    if options.output is Output.json:
        print_json({"query": query, "explanation": explanation})
    else:
        print_line(explanation)


def _explanation(
    found: Maintained,
    starts: dict[str, int | None],
    kept_from: dict[str, int],
    *,
    with_sql: bool,
) -> str:
    """The explanation of a definition of any kind.

    Raises:
        ConfigurationError: the SQL of a program, whose statements depend on what rules derive.
    """
    from jobs.catalog.queries import RegisteredQuery
    from jobs.errors import ConfigurationError

    if isinstance(found, RegisteredQuery):
        from jobs.cli.explanation import explain_query

        return explain_query(found, sql=with_sql, starts=starts, kept_from=kept_from)
    from jobs.catalog.programs import RegisteredProgram
    from jobs.cli.program_explanation import explain_program

    assert isinstance(found, RegisteredProgram), "there is no other kind"
    if with_sql:
        raise ConfigurationError(
            "the SQL of a program is not printed: which statements run depends on what is derived",
            str(found.file),
            "Leave --sql out.",
        )
    return explain_program(found, starts=starts, kept_from=kept_from)


def _first_instants(settings: Settings, query: Maintained) -> dict[str, int | None]:
    """The first instants of the streams that a query reads.

    Raises:
        ConfigurationError: a stream that no source gives.
    """
    if query.windowing is None:
        return {}
    from jobs.ingest.sources.declared import load_sources
    from jobs.ingest.stream_readers import undeclared_stream
    from jobs.progress.streams import first_instant
    from jobs.streams.stream_names import streams_of

    error = undeclared_stream(query, load_sources(settings.sources))
    if error is not None:
        raise error
    lake = settings.open_lake()
    return {name: first_instant(lake, name) for name in streams_of(query.windowing)}


def _check_remotes(settings: Settings, query: Maintained) -> None:
    """Check that the remotes of a query are declared.

    Raises:
        ConfigurationError: one is not.
    """
    if not query.services.remotes:
        return
    from jobs.ingest.undeclared import undeclared_remote
    from jobs.replicas.remotes import load_remotes

    error = undeclared_remote(query, load_remotes(settings.remotes))
    if error is not None:
        raise error


def _kept_from(settings: Settings, streams: Iterable[str]) -> dict[str, int]:
    """The first instant whose events are kept, of those streams of which others were deleted."""
    from jobs.progress.streams import deleted_events

    lake = settings.open_lake()
    deleted = {name: deleted_events(lake, name) for name in streams}
    return {name: each.before for name, each in deleted.items() if each is not None}


def report(
    context: typer.Context,
    file: Annotated[Path, typer.Option("--to", help="The page to write.")] = Path("weir.html"),
) -> None:
    """Write one HTML page, which works offline: queries, changes per epoch, runs, checks.

    If remotes are declared, their freshness is written to another page, in the lake.
    """
    from jobs.cli.report_page import report_page
    from jobs.freshness.current import current_states
    from jobs.freshness.written_page import write_page

    settings = Options.of(context).settings()
    write_whole(file, report_page(settings))
    print_line(f"Wrote {file}.")
    now = datetime.now(UTC)
    page = write_page(settings, current_states(settings, now), now)
    if page is not None:
        print_line(f"Wrote {page}.")
