"""`weir status`: how far queries, sources and streams are, and whether anything is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.listing import Exclude, Select
from weir.cli.options import Options, Output
from weir.cli.output import print_json, print_line, print_rows

if TYPE_CHECKING:
    from weir.status.status import Status
    from weir.status.streams import StreamStatus

_QUERIES = ("query", "state", "watermark", "lag_epochs", "lag", "rows", "mode")
_SOURCES = ("source", "state", "epoch", "age", "pending", "rejected", "position")
"""The columns as tables, which fit into 80 characters; JSON has all."""
_FINAL = ("query", "final_to", "decided_by")


def status(
    context: typer.Context,
    streams: Annotated[
        bool, typer.Option("--streams", help="Only how far each stream is complete.")
    ] = False,
    fail_on: Annotated[
        str | None,
        typer.Option(
            metavar="FAULTS",
            help="Exit with 3 if anything is one of: held,behind,stopped,stale,rejected,"
            "undelivered.",
        ),
    ] = None,
    select: Select = None,
    exclude: Exclude = None,
) -> None:
    """Print how far each query, source and stream is, and what is wrong with it."""
    from weir.errors import ConfigurationError
    from weir.status.status import Status
    from weir.status.streams import stream_statuses

    options = Options.of(context)
    watched = _watched(fail_on)
    settings = options.settings()
    if streams:
        if select or exclude:
            raise ConfigurationError(
                "--streams prints no queries, and --select and --exclude choose some",
                "",
                "Leave one of them out.",
            )
        if watched:
            raise ConfigurationError(
                "--streams prints no faults, and --fail-on names some", "", "Leave one of them out."
            )
        statuses = stream_statuses(settings)
        _print_streams(options, statuses)
        if not statuses and options.output is not Output.json:
            print_line("No stream is declared: give a source the key `stream`.")
        return
    with options.project() as project:
        now = Status.of(project, select or (), exclude or ())
    if options.output is Output.json:
        print_json(now.to_json())
    else:
        _print(options, now)
    _raise_for(now, watched)


def _watched(fail_on: str | None) -> frozenset[str]:
    from weir.errors import ConfigurationError
    from weir.status.status import FAULTS

    if fail_on is None:
        return frozenset()
    known = f"Known: {', '.join(FAULTS)}."
    names = [name.strip() for name in fail_on.split(",") if name.strip()]
    if not names:
        raise ConfigurationError("--fail-on: no fault is named", "", known)
    for name in names:
        if name not in FAULTS:
            raise ConfigurationError(f"--fail-on {name}: no such fault", "", known)
    return frozenset(names)


def _raise_for(now: Status, watched: frozenset[str]) -> None:
    from weir.errors import QualityError, listed
    from weir.lake.counted import counted

    faults = [fault for fault in now.faults() if fault[0] in watched]
    if faults:
        parts = listed((f"{fault} {of}", reason) for fault, of, reason in faults)
        raise QualityError(f"{counted(len(faults), 'fault')}:", parts=parts)


def _print(options: Options, now: Status) -> None:
    from weir.cli.failed_runs import failed_run_text
    from weir.status.status import rejected_last

    queries = [asdict(query) for query in now.queries]
    if queries:
        print_rows(options.output, _QUERIES, queries, title="")
    elif now.is_selection:
        print_line("No query is selected.")
    else:
        print_line("No query is registered: write one into the folder `queries`.")
    for query in now.queries:
        # The reason of a current query is why the last run chose its mode, which is no warning.
        if query.reason and query.state in ("held", "waiting", "new", "behind", "broken"):
            print_line(f"{query.query}: {query.reason}")
        if query.warning:
            print_line(f"{query.query}: warning: {query.warning}")
    sources = [asdict(source) for source in now.sources.sources]
    if sources:
        print_rows(options.output, _SOURCES, sources, title="Sources")
    if now.sources.error is not None:
        print_line(f"Nothing is ingested: {now.sources.error}")
    for source in now.sources.sources:
        if source.reason:
            since = f" since {source.since:%Y-%m-%d %H:%M:%S}" if source.since else ""
            print_line(f"{source.source}: {source.state}{since}, because {source.reason}")
        if rejected := rejected_last(source):
            print_line(f"{source.source}: {rejected}")
        for file in source.changed:
            print_line(f"{source.source}: {file} was changed after it was read")
        for note in (source.unread, source.missing):
            if note is not None:
                print_line(f"{source.source}: {note}")
    over_streams = [_with_times(row) for row in queries if row["decided_by"] or row["final_to"]]
    if over_streams:
        print_rows(options.output, _FINAL, over_streams, title="Queries over streams")
    if now.streams:
        _print_streams(options, now.streams)
    for remote in now.remotes:
        if remote.state in ("warn", "error") and remote.reason:
            print_line(f"remote {remote.remote.name}: {remote.reason}")
    for message in now.undelivered:
        print_line(
            f"notify {message.channel}: not delivered since {message.since:%Y-%m-%d %H:%M:%S}:"
            f" {message.reason or 'the next run delivers it'}"
        )
    for channel, reason in now.channels.items():
        print_line(f"notify {channel}: warning: it is notified of no answer: {reason}")
    if now.failed_run is not None:
        print_line(failed_run_text(now.failed_run))


def _print_streams(options: Options, streams: Sequence[StreamStatus]) -> None:
    """Print how far each stream is."""
    from weir.status.streams import StreamStatus

    rows = [asdict(stream) for stream in streams]
    columns = tuple(StreamStatus.__dataclass_fields__)
    if options.output is Output.json:
        print_rows(options.output, columns, rows, title="")
        return
    if not any(row["deleted_before"] for row in rows):
        columns = tuple(name for name in columns if name != "deleted_before")
    if rows:
        print_rows(options.output, columns, [*map(_with_times, rows)], title="Streams")


def _with_times(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its times as text, with all digits and the zone."""
    from weir.lake.instants import time_text

    return {
        name: time_text(cell) if isinstance(cell, datetime) else cell for name, cell in row.items()
    }
