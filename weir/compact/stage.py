"""Maintenance: merge small files, consolidate the graph, delete old events, files and commits.

A log is consolidated up to the slowest watermark of all embedding tables, but never within the
newest `limits.keep_epochs` epochs. So no change is lost that a query still needs, even if the query
is removed or broken for a while; `weir drop` ends this. The same holds for the events of streams
(`weir.compact.old_events`).

Other stages can run meanwhile: the claim of ingest is held for single commits only. If a merge of
small files overtakes a consolidation, it is tried once more while the claim is held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

from weir.compact.old_events import (
    OldEvents,
    Reader,
    StreamRule,
    old_events,
    stored_over_streams_without_file,
)
from weir.definitions.catalog import Catalog
from weir.engine.relations import BEFORE_ALL
from weir.errors import BusyError, ConfigurationError
from weir.ingest.older_tables import refuse_older_tables
from weir.ingest.pending import source_positions
from weir.ingest.sources.declared import load_sources
from weir.lake.counted import counted
from weir.lake.delta.file_commits import Overtaken
from weir.lake.delta.metadata import Metadata
from weir.lake.instants import instant_text
from weir.lake.lake import Lake
from weir.lake.tables import (
    ANSWERS,
    CURRENT,
    DOCUMENT_SUMMARIES,
    DOCUMENTS,
    EMBEDDINGS,
    LEDGER_SUMMARY,
    QUADS,
    REPLICA_SUMMARIES,
    REPLICAS,
    SHARED_TABLES,
    STREAMS,
    TRIPLES,
    Table,
    document_summary,
    replica_summary,
)
from weir.lake.upkeep.earlier_rows import delete_earlier_rows, earlier_rows, may_have_earlier_rows
from weir.lake.upkeep.maintenance import (
    Consolidated,
    compact_files,
    consolidate,
    keep_feed,
    keeps_feed,
    vacuum,
)
from weir.lake.upkeep.old_commits import delete_old_commits
from weir.maintain.derived_graphs import DerivedGraph
from weir.maintain.emitted_streams import OutputStream
from weir.maintain.tasks import tasks_behind
from weir.progress.completion import Completion
from weir.progress.streams import DeletedEvents, deleted_events, stream_names
from weir.progress.watermarks import head
from weir.project import Project
from weir.remotes.checks.rounds import delete_old_rounds
from weir.remotes.replica_inbox import inbox_names, replica_inbox
from weir.settings import Settings
from weir.stage import Progress, claimed, silent
from weir.traversals.inbox import document_inbox
from weir.traversals.names import traversal_names

_PATIENCE = 60.0
"""Seconds to wait for an ingest to end."""


@dataclass(frozen=True, slots=True)
class DeletedOfStream:
    """The old events of a stream, and how many of them were deleted.

    deleted: the number of deleted events, all before the instant `old.before`.
    """

    old: OldEvents
    deleted: int


@dataclass(frozen=True, slots=True)
class CompactResult:
    """The number of rows of each log before and after consolidation, and the deleted events.

    consolidated_until: the epoch up to which the logs are consolidated; 0 if none was.
    """

    consolidated: dict[str, Consolidated]
    consolidated_until: int
    events: tuple[DeletedOfStream, ...]


def compact_lake(project: Project, run_id: str, progress: Progress = silent) -> CompactResult:
    """Do the upkeep of every table of the lake.

    Raises:
        BusyError: another compaction is in progress.
        DamagedTable: a table is older than the others.
    """
    lake, settings = project.open_lake(), project.settings
    limits = settings.limits
    with claimed(lake, "compact", run_id, limits.lease_seconds) as run:
        # A commit to an outdated table would get the version of a later commit.
        refuse_older_tables(lake)
        until, consolidated = _consolidate(project, run_id, progress)
        events = tuple(_delete_events(project, run_id, progress))
        # Merging takes long: queries may have been maintained or dropped meanwhile.
        lake.refresh()
        names = [table.name for table in (*SHARED_TABLES, LEDGER_SUMMARY)]
        names += [STREAMS.name(name) for name in stream_names(lake)]
        for name in inbox_names(lake):
            names += [REPLICAS.name(name), REPLICA_SUMMARIES.name(name)]
        traversals = traversal_names(settings.traversals)
        for name in traversals:
            if lake.exists(DOCUMENTS.name(name)):
                names += [DOCUMENTS.name(name), DOCUMENT_SUMMARIES.name(name)]
        for query in Catalog.of(settings).members:
            names += [EMBEDDINGS.name(query.name), ANSWERS.name(query.name)]
            output = OutputStream.of(query) or DerivedGraph.of(query)
            names += [output.table.name] if output is not None else []
        _keep_feeds(project, run_id, progress)
        progress(f"merging and deleting files of {counted(len(names), 'table')}")
        fewer = {name: compact_files(lake, name, limits.file_bytes) for name in names}
        # Publish merges the files of these, by the hashes of their rows.
        names += [CURRENT.name(name) for name in lake.owners(CURRENT)]
        deleted = {name: vacuum(lake, name) for name in names}
        delete_commits(lake, traversals)
        for name in names:
            less = fewer.get(name, 0)
            if less or deleted[name]:
                progress(f"{name}: {counted(less, 'file')} fewer, {deleted[name]} deleted")
        run.totals |= {
            "to_epoch": until,
            "rows_in": sum(log.before for log in consolidated.values()),
            "rows_out": sum(log.after for log in consolidated.values()),
        }
        return CompactResult(consolidated, until, events)


def needed_after(settings: Settings, lake: Lake) -> int:
    """The epoch up to which single changes are no longer needed."""
    completion, catalog = Completion.read(lake), Catalog.of(settings)
    slowest, members = completion.graph_validated_to, catalog.members
    if any(query.axis.windows and query.reads for query in members):
        # Beside windows, the graph is read as of instants: the changes of all epochs are needed.
        return 0
    if any(stored_over_streams_without_file(completion, catalog)):
        # Such a query may read the graph; only its file says whether.
        return 0
    wants_all = {query.name: query.history == "full" for query in members}
    for name in {*wants_all, *completion.last_maintenance}:
        known = completion.maintained(name)
        if known is not None:
            slowest = min(slowest, known.epoch)
        elif wants_all.get(name):
            slowest = 0
    return max(0, min(slowest, completion.head - settings.limits.keep_epochs))


def delete_commits(lake: Lake, traversals: Sequence[str]) -> None:
    """Delete the commits that nothing reads any more, also in an object store.

    Args:
        lake: has the tables.
        traversals: the names of those that are declared.
    """
    remotes = inbox_names(lake)
    summaries = (*map(replica_summary, remotes), *map(document_summary, traversals))
    for table in (*SHARED_TABLES, LEDGER_SUMMARY, *summaries):
        version = lake.version(table.name)
        if table.log_commits is not None and version is not None:
            delete_old_commits(lake, table.name, version - table.log_commits)
    positions = source_positions(lake)
    for name in remotes:
        delete_old_rounds(lake, replica_inbox(name), positions[name].round)
    for name in traversals:
        # Where each document is an epoch, the newest round may be ingested in part.
        delete_old_rounds(lake, document_inbox(name), positions[name].round - 1)


@contextmanager
def _alone(project: Project, run_id: str, *, brief: bool = True) -> Iterator[None]:
    """Hold the claim of ingest; `brief`: for one commit, else for rewriting a log."""
    lake, lease = project.lake, project.settings.limits.lease_seconds
    with claimed(lake, "ingest", run_id, lease, brief=brief, patience=_PATIENCE) as run:
        run.totals |= {"from_epoch": head(lake), "to_epoch": head(lake)}
        yield


def _consolidate(
    project: Project, run_id: str, progress: Progress
) -> tuple[int, dict[str, Consolidated]]:
    """Consolidate the logs, unless ingest stays busy; gives the epoch up to which, and the logs."""
    until = needed_after(project.settings, project.lake)
    consolidated: dict[str, Consolidated] = {}
    for table in (QUADS, TRIPLES) if until else ():
        progress(f"consolidating {table.name}")
        try:
            result = _consolidate_log(project, table, until, run_id)
        except BusyError as busy:
            progress(f"{table.name} is left as it is: {busy}")
            break
        consolidated[table.name] = result
        if result.after < result.before:
            progress(f"{table.name}: {counted(result.before, 'row')} to {result.after:,}")
    return until, consolidated


def _consolidate_log(project: Project, table: Table, until: int, run_id: str) -> Consolidated:
    lake, limits = project.lake, project.settings.limits
    values = table, until, limits.consolidate_share, limits.rows_per_file
    try:
        alone = partial(_alone, project, run_id)
        return consolidate(project.session(), lake, *values, noting=alone)
    except Overtaken:
        with _alone(project, run_id, brief=False):
            return consolidate(project.session(), lake, *values, noting=nullcontext)


def _keep_feeds(project: Project, run_id: str, progress: Progress) -> None:
    """Set how long the logs keep their commits and removed files, to what the limits say."""
    lake, limits = project.lake, project.settings.limits
    days = limits.feed_log_days, limits.feed_file_days
    changed = [table for table in (QUADS, TRIPLES) if not keeps_feed(lake, table, *days)]
    if not changed:
        return
    try:
        with _alone(project, run_id):
            for table in changed:
                keep_feed(lake, table, *days)
                progress(f"{table.name}: commits are kept {days[0]} days, removed files {days[1]}")
    except BusyError as busy:
        progress(f"how long the logs are kept is left as it is: {busy}")


def _delete_events(project: Project, run_id: str, progress: Progress) -> Iterator[DeletedOfStream]:
    """Delete the events of streams that are older than `keep` and not needed."""
    lake, settings = project.lake, project.settings
    try:
        sources = load_sources(settings.sources)
    except ConfigurationError as error:
        progress(f"events are left as they are: {error}")
        return
    rules = {
        source.name: StreamRule(source.stream.keep, source.stream.lateness)
        for source in sources
        if source.stream is not None
    }
    progress("looking for events that nothing needs")
    completion, catalog = Completion.read(lake), Catalog.of(settings)
    over_streams = [query for query in catalog.members if query.axis.windows]
    due = {task.name: task.stored for task in tasks_behind(completion, over_streams)}
    readers = [
        Reader(query, due[query.name] if query.name in due else completion.maintained(query.name))
        for query in over_streams
    ]
    with project.engine("compact") as engine:
        events = old_events(engine, completion, catalog, readers, rules)
    for old in events:
        deleted = _delete_events_of(project, old, run_id, progress)
        table = STREAMS.name(old.stream)
        if deleted:
            progress(
                f"{table}: {counted(deleted, 'event')} before {instant_text(old.before)} deleted"
            )
        if old.held_by and may_have_earlier_rows(lake, table, "instant", old.older_than):
            which = "all" if old.before == BEFORE_ALL else f"those since {instant_text(old.before)}"
            progress(
                f"{table}: of the events before {instant_text(old.older_than)}, which `keep` lets"
                f" go, {which} stay for {old.held_by}"
            )
        yield DeletedOfStream(old, deleted)


def _delete_events_of(project: Project, old: OldEvents, run_id: str, progress: Progress) -> int:
    """Delete the old events of a stream, if they are a large enough share; gives their number."""
    lake, table = project.lake, STREAMS.name(old.stream)
    least_share = project.settings.limits.consolidate_share
    deletable = earlier_rows(lake, table, "instant", old.before)
    if not deletable.rows or deletable.share < least_share:
        return 0
    try:
        # Alone, as the deletion continues the metadata of the newest commit.
        with _alone(project, run_id):
            return _delete_events_before(lake, old, run_id)
    except BusyError as busy:
        progress(f"{table} is left as it is: {busy}")
        return 0


def _delete_events_before(lake: Lake, old: OldEvents, run_id: str) -> int:
    table = STREAMS.name(old.stream)
    last = lake.last_metadata(table)
    assert last is not None, "there are events"
    deletable = earlier_rows(lake, table, "instant", old.before)
    # There are events before `old.before`, so it is later than the last deletion.
    earlier = deleted_events(lake, old.stream)
    rows = deletable.rows + (0 if earlier is None else earlier.rows)
    extra = DeletedEvents(old.before, rows).to_json()
    metadata = Metadata(run_id, "compact", last[1].watermark, extra=extra)
    delete_earlier_rows(lake, table, "instant", old.before, metadata)
    return deletable.rows
