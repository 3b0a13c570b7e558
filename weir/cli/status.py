"""`weir status`: how far queries, sources and streams are, and whether anything is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.listing import Exclude, Select, names_of
from weir.cli.options import Options, Output
from weir.cli.output import print_json, print_line, print_rows

if TYPE_CHECKING:
    from weir.cli.query_status import QueryStatus
    from weir.cli.source_status import SourceStatus, SourceStatuses
    from weir.cli.stream_status import StreamStatus
    from weir.progress.completion import FailedRun
    from weir.project import Project
    from weir.remotes.freshness import RemoteState

FAULTS = ("held", "behind", "stopped", "stale", "rejected")
"""What `--fail-on` may name."""
_QUERIES = ("query", "state", "watermark", "lag_epochs", "lag", "rows", "mode")
_SOURCES = ("source", "state", "epoch", "age", "pending", "rejected", "position")
"""The columns as tables, which fit into 80 characters; JSON has all."""
_FINAL = ("query", "final_to", "decided_by")


@dataclass(frozen=True, slots=True)
class Status:
    """What `weir status` prints.

    is_selection: whether some queries may be left out.
    """

    queries: Sequence[QueryStatus]
    sources: SourceStatuses
    streams: Sequence[StreamStatus]
    remotes: Sequence[RemoteState]
    failed_run: FailedRun | None
    is_selection: bool = False

    @classmethod
    def of(
        cls, project: Project, select: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> Status:
        """The status of a project, of all queries or of a selection.

        Raises:
            ConfigurationError: a criterion cannot be understood, or nothing is like it.
        """
        from weir.cli.query_status import query_statuses
        from weir.cli.source_status import source_statuses
        from weir.cli.stream_status import stream_statuses
        from weir.errors import ConfigurationError
        from weir.pending import Pending
        from weir.progress.completion import Completion
        from weir.refresh.current import current_states

        try:
            remotes = current_states(project.settings, datetime.now(UTC))
        except ConfigurationError:
            # The status of the sources reports it.
            remotes = []
        pending, sources = Pending(project), source_statuses(project)
        queries = query_statuses(pending)
        is_selection = bool(select or exclude)
        if is_selection:
            states = {query.query: query.state for query in queries}
            names = {*names_of(pending, states, select, exclude)}
            queries = [query for query in queries if query.query in names]
        failed = next(iter(Completion.read(project.lake).failed_runs), None)
        streams = stream_statuses(project.settings)
        return cls(queries, sources, streams, remotes, failed, is_selection)

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """What is wrong: one of `FAULTS`; the query, source or remote; and why."""
        for query in self.queries:
            match query.state:
                case "held":
                    yield "held", query.query, query.reason or ""
                case "behind" | "new" | "waiting":
                    yield "behind", query.query, query.reason or "the next run publishes more"
                case "broken":
                    yield "stopped", query.query, query.reason or ""
        if self.sources.error is not None:
            yield "stopped", "all sources", self.sources.error
        for source in self.sources.sources:
            if source.state == "stopped":
                yield "stopped", source.source, source.reason or ""
            elif source.state == "behind":
                yield "behind", source.source, "the next run ingests more"
            if rejected := _rejected_last(source):
                yield "rejected", source.source, rejected
        for remote in self.remotes:
            if remote.state == "error":
                yield "stale", remote.remote.name, remote.reason or ""

    def to_json(self) -> dict[str, Any]:
        """The status as JSON."""
        remotes = [
            {"remote": remote.remote.name, "state": remote.state, "reason": remote.reason}
            for remote in self.remotes
        ]
        return {
            "queries": [asdict(query) for query in self.queries],
            "sources": [asdict(source) for source in self.sources.sources],
            "sources_error": self.sources.error,
            "streams": [asdict(stream) for stream in self.streams],
            "remotes": remotes,
            "failed_run": None if self.failed_run is None else asdict(self.failed_run),
            "faults": [
                {"fault": fault, "of": of, "reason": reason} for fault, of, reason in self.faults()
            ],
        }


def status(
    context: typer.Context,
    streams: Annotated[
        bool, typer.Option("--streams", help="Only how far each stream is complete.")
    ] = False,
    fail_on: Annotated[
        str | None,
        typer.Option(
            metavar="FAULTS",
            help="Exit with 3 if anything is one of: held,behind,stopped,stale,rejected.",
        ),
    ] = None,
    select: Select = None,
    exclude: Exclude = None,
) -> None:
    """Print how far each query, source and stream is, and what is wrong with it."""
    from weir.cli.stream_status import stream_statuses
    from weir.errors import ConfigurationError

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
        if rejected := _rejected_last(source):
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
    if now.failed_run is not None:
        print_line(failed_run_text(now.failed_run))


def _rejected_last(source: SourceStatus) -> str:
    """What was rejected in the last change set of a declared source; empty if nothing was."""
    if not source.rejected_last or source.state == "removed":
        return ""
    return (
        f"{source.rejected_last:,} rejected in {source.position}, its last change set; the table"
        " `rejected` has the reasons"
    )


def _print_streams(options: Options, streams: Sequence[StreamStatus]) -> None:
    """Print how far each stream is."""
    from weir.cli.stream_status import StreamStatus

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
