"""How far a project is: its queries, sources, streams and remotes, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

from weir.definitions.catalog import Catalog
from weir.errors import ConfigurationError
from weir.pending import Pending
from weir.progress.completion import FailedRun
from weir.progress.notifications import Notifications, Undelivered
from weir.project import Project
from weir.refresh.current import current_states
from weir.remotes.freshness import RemoteState
from weir.selection import names_of, queries_of
from weir.settings import Settings
from weir.status.queries import QueryStatus, query_statuses
from weir.status.sources import SourceStatus, SourceStatuses, source_statuses
from weir.status.streams import StreamStatus, stream_statuses

FAULTS: Final = ("held", "behind", "stopped", "stale", "rejected", "undelivered")
"""What can be wrong with a query, source, remote or channel."""


@dataclass(frozen=True, slots=True)
class Status:
    """How far a project is, and what is wrong with it.

    Attributes:
        queries: of each its state.
        sources: of each its state.
        streams: how far each is complete.
        remotes: how fresh each is.
        failed_run: the last run that failed, if none of its job succeeded since; of stages that
            failed one after the other, the first.
        undelivered: messages of channels.
        channels: why channels are notified of no answer, by name.
        is_selection: whether some queries may be left out.
    """

    queries: Sequence[QueryStatus]
    sources: SourceStatuses
    streams: Sequence[StreamStatus]
    remotes: Sequence[RemoteState]
    failed_run: FailedRun | None
    undelivered: Sequence[Undelivered]
    channels: Mapping[str, str]
    is_selection: bool = False

    @classmethod
    def of(
        cls,
        project: Project,
        select: Sequence[str] = (),
        exclude: Sequence[str] = (),
        pending: Pending | None = None,
    ) -> Status:
        """The status of a project, of all queries or of a selection.

        Args:
            project: the project.
            select: only these queries.
            exclude: without these.
            pending: what is to do in it, if that was read already.

        Raises:
            ConfigurationError: a criterion cannot be understood, or nothing is like it.
        """
        try:
            remotes = current_states(project.settings, datetime.now(UTC))
        except ConfigurationError:
            # The status of the sources reports it.
            remotes = []
        pending, sources = pending or Pending(project), source_statuses(project)
        queries = query_statuses(pending)
        is_selection = bool(select or exclude)
        if is_selection:
            states = {query.query: query.state for query in queries}
            names = {*names_of(pending, states, select, exclude)}
            queries = [query for query in queries if query.query in names]
        failed = _cause(pending.completion.failed_runs)
        streams = stream_statuses(project.settings)
        waiting = Notifications.read(project.lake).undelivered()
        undelivered = [m for m in waiting if m.channel in project.settings.notify]
        channels = dict(_of_no_answer(project.settings, pending.catalog))
        return cls(queries, sources, streams, remotes, failed, undelivered, channels, is_selection)

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """What is wrong: one of `FAULTS`; the query, source, remote or channel; and why."""
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
            if rejected := rejected_last(source):
                yield "rejected", source.source, rejected
        for remote in self.remotes:
            if remote.state == "error":
                yield "stale", remote.remote.name, remote.reason or ""

        for message in self.undelivered:
            yield "undelivered", message.channel, message.reason or "the next run delivers it"

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
            "undelivered": [asdict(message) for message in self.undelivered],
            "channels": [
                {"channel": name, "warning": reason} for name, reason in self.channels.items()
            ],
            "faults": [
                {"fault": fault, "of": of, "reason": reason} for fault, of, reason in self.faults()
            ],
        }


def _cause(failed: Sequence[FailedRun]) -> FailedRun | None:
    """The newest failure; instead of one of publish that of validate, without which it fails."""
    newest = next(iter(failed), None)
    if newest is None or newest.job != "publish":
        return newest
    return next((run for run in failed if run.job == "validate"), newest)


def _of_no_answer(settings: Settings, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """The channels that select no answer, and why."""
    for channel, declared in settings.notify.items():
        try:
            names = queries_of(channel, settings, catalog)
        except ConfigurationError as error:
            yield channel, error.what
            continue
        if declared.select and not names:
            yield channel, f"nothing meets {', '.join(declared.select)}"


def rejected_last(source: SourceStatus) -> str:
    """What was rejected in the last change set of a declared source; empty if nothing was."""
    if not source.rejected_last or source.state == "removed":
        return ""
    return (
        f"{source.rejected_last:,} rejected in {source.position}, its last change set; the table"
        " `rejected` has the reasons"
    )
