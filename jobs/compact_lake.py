"""Maintenance: merge small files, consolidate the logs of quads and triples, delete old files.

A log is consolidated up to the slowest watermark of all embedding tables, but never within the
newest `limits.keep_epochs` epochs: no change that a query still needs is lost, be it out of the
registry or its file broken for a while. `weir drop` ends this for a query that is gone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobs.catalog.catalog import Catalog
from jobs.errors import BusyError
from jobs.maintain.output_streams import OutputStream
from jobs.progress.completion import Completion
from jobs.progress.streams import stream_names
from jobs.progress.watermarks import head
from jobs.settings import Settings
from jobs.stage import Progress, claimed, run_stage, silent
from lake.lake import Lake
from lake.maintenance import Consolidated, compact_files, consolidate, keep_feed, vacuum
from lake.tables import LEDGER_SUMMARY, QUADS, SHARED_TABLES, TRIPLES, stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class CompactResult:
    """What was consolidated: the rows of each log before and after.

    consolidated_until: the epoch up to which the logs are states; 0 if no log was looked at.
    """

    consolidated: dict[str, Consolidated]
    consolidated_until: int


def compact_lake(
    spark: SparkSession, settings: Settings, run_id: str, progress: Progress = silent
) -> CompactResult:
    """Do the upkeep of every table of the lake.

    Raises:
        BusyError: another compaction is in progress.
    """
    lake, limits = settings.open_lake(), settings.limits
    with claimed(lake, "compact", run_id, limits.lease_seconds) as run:
        until, consolidated = _consolidate(spark, settings, lake, run_id, progress)
        # Merging takes long: queries may have been maintained or dropped meanwhile.
        lake.refresh()
        names = [table.name for table in (*SHARED_TABLES, LEDGER_SUMMARY)]
        names += [stream(name).name for name in stream_names(lake)]
        for query in Catalog.of(settings).members:
            names += [f"embeddings/{query.name}", f"answers/{query.name}"]
            output = OutputStream.of(query)
            names += [output.table.name] if output is not None else []
        for table in (QUADS, TRIPLES):
            days = limits.feed_log_days, limits.feed_file_days
            if keep_feed(lake, table, *days):
                progress(f"{table.name}: commits are kept {days[0]} days, removed files {days[1]}")
        fewer = {name: compact_files(lake, name, limits.file_bytes) for name in names}
        deleted = {name: vacuum(lake, name) for name in names}
        for name in names:
            if fewer[name] or deleted[name]:
                progress(f"{name}: {fewer[name]} files fewer, {deleted[name]} deleted")
        run.totals |= {
            "to_epoch": until,
            "rows_in": sum(each.before for each in consolidated.values()),
            "rows_out": sum(each.after for each in consolidated.values()),
        }
        return CompactResult(consolidated, until)


def needed_after(settings: Settings, lake: Lake) -> int:
    """The epoch up to which single changes are no longer needed."""
    completion = Completion.read(lake)
    slowest = completion.graph_validated_to
    members = Catalog.of(settings).members
    if any(query.windowing is not None and query.reads for query in members):
        # Beside windows, the graph is read as of instants: of every epoch its time is needed.
        return 0
    wants_all = {query.name: query.history == "full" for query in members}
    for name in {*wants_all, *completion.last_maintenance}:
        known = completion.maintained(name)
        if known is not None:
            slowest = min(slowest, known.epoch)
        elif wants_all.get(name):
            slowest = 0
    return max(0, min(slowest, completion.head - settings.limits.keep_epochs))


def _consolidate(
    spark: SparkSession, settings: Settings, lake: Lake, run_id: str, progress: Progress
) -> tuple[int, dict[str, Consolidated]]:
    """Consolidate the logs; not while an ingest is appending to them."""
    try:
        with claimed(lake, "ingest", run_id, settings.limits.lease_seconds) as run:
            until = needed_after(settings, lake)
            run.totals |= {"from_epoch": head(lake), "to_epoch": head(lake)}
            found = {}
            limits = settings.limits
            for table in (QUADS, TRIPLES) if until else ():
                found[table.name] = result = consolidate(
                    spark,
                    lake,
                    table,
                    until,
                    limits.consolidate_share,
                    limits.rows_per_file,
                )
                if result.after < result.before:
                    progress(f"{table.name}: {result.before:,} rows to {result.after:,}")
            return until, found
    except BusyError as busy:
        progress(f"logs are left as they are: {busy}")
        return 0, {}


def main(argv: Sequence[str] | None = None) -> int:
    """The entry point under spark-submit."""
    return run_stage(compact_lake, "compact", __doc__, argv)


if __name__ == "__main__":
    sys.exit(main())
