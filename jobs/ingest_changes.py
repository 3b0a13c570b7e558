"""Ingest: every pending change set of every source becomes an epoch of `quads` and `triples`.

Change sets are taken in batches, each with one commit per table. A source that cannot go on stops
where it is; the others go on.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from jobs.engine.spark import SparkEngine
from jobs.errors import WeirError
from jobs.ingest.batch import take_in
from jobs.ingest.bench import Bench
from jobs.ingest.changesets import ChangeSet, Consumed, SourceError, pending
from jobs.ingest.journal import JOB, Journal, Transaction
from jobs.settings import Settings
from jobs.sources import Source, load_sources
from jobs.stage import Claim, Progress, claimed, run_stage, silent
from lake.reader import last_metadata, open_table
from lake.staging import remove, staging_folder
from lake.tables import QUADS, TRANSACTIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class SourceResult:
    """What one source gave; `error` tells why it gave no more."""

    name: str
    epochs: int
    inserted: int
    deleted: int
    rejected: int
    position: str | None
    error: WeirError | None


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What a run took in: the epochs (from_epoch, to_epoch], and each source's part in them.

    recovered: epochs among them that a run that died had committed to `quads`.
    """

    from_epoch: int
    to_epoch: int
    recovered: int
    sources: tuple[SourceResult, ...]

    @property
    def errors(self) -> tuple[WeirError, ...]:
        """Why sources stopped."""
        return tuple(source.error for source in self.sources if source.error is not None)


def ingest_changes(
    spark: SparkSession, settings: Settings, run_id: str, progress: Progress = silent
) -> IngestResult:
    """Take in what every source has to offer after its own position.

    Args:
        spark: the session.
        settings: where the lake and the declared sources are.
        run_id: of this run in the ledger.
        progress: told what is going on.

    Raises:
        BusyError: another ingest is going on.
        ConfigurationError: sources.yml is wrong.
    """
    sources = load_sources(settings.sources)
    with claimed(settings, JOB, run_id) as run:
        engine = SparkEngine(spark)
        staging = staging_folder(settings.lake, JOB)
        # A run that died may have left something.
        remove(spark, staging)
        try:
            return _ingest(engine, settings, sources, run, progress)
        finally:
            engine.release()
            remove(spark, staging)


def _ingest(
    engine: SparkEngine,
    settings: Settings,
    sources: Sequence[Source],
    run: Claim,
    progress: Progress,
) -> IngestResult:
    journal = Journal(engine, settings, run.run_id)
    start = journal.head()
    recovered = journal.recover()
    if recovered:
        progress(f"finished {recovered} epochs that an earlier run had begun to commit")
    consumed = consumed_positions(settings)
    queue, errors = pending_change_sets(settings, sources, consumed)
    done: list[Transaction] = []
    operations = 0
    while queue:
        batch = queue[: settings.limits.batch_epochs]
        began = time.monotonic()
        bench = Bench(
            engine,
            settings,
            f"ingest_{uuid4().hex[:8]}",
            f"{staging_folder(settings.lake, JOB)}/{len(queue)}",
        )
        outcome = take_in(bench, journal, batch, consumed)
        engine.release()
        errors |= outcome.stopped
        operations += outcome.operations
        done += outcome.transactions
        consumed = consumed_positions(settings)
        queue = [each for each in queue[len(batch) :] if each.source.name not in outcome.stopped]
        if outcome.transactions:
            progress(_told(outcome.transactions, time.monotonic() - began))
    end = journal.head()
    changed = sum(each.inserted + each.deleted for each in done)
    run.totals |= {
        "from_epoch": start,
        "to_epoch": end,
        "rows_in": operations,
        "rows_out": changed,
    }
    results = tuple(_source_result(source, done, consumed, errors) for source in sources)
    return IngestResult(start, end, recovered, results)


def consumed_positions(settings: Settings) -> Mapping[str, Consumed]:
    """What of each source is in, as `transactions` tells; empty for a source that is not in it."""
    found: dict[str, Consumed] = defaultdict(Consumed)
    table = open_table(settings.lake, TRANSACTIONS.name, settings.storage_options or None)
    if table is None:
        return found
    columns = ["epoch", "source", "position", "change_id"]
    rows = table.to_pyarrow_table(columns=columns).sort_by("epoch")
    positions: dict[str, list[str]] = defaultdict(list)
    last_ids: dict[str, str | None] = {}
    for row in rows.to_pylist():
        positions[row["source"]].append(row["position"])
        last_ids[row["source"]] = row["change_id"]
    for name, known in positions.items():
        found[name] = Consumed(tuple(known), last_ids[name])
    return found


def pending_change_sets(
    settings: Settings, sources: Sequence[Source], consumed: Mapping[str, Consumed]
) -> tuple[list[ChangeSet], dict[str, WeirError]]:
    """What the sources have to offer, source by source, and why some have nothing to offer."""
    queue: list[ChangeSet] = []
    errors: dict[str, WeirError] = {}
    for source in sources:
        try:
            queue += pending(source, consumed[source.name], settings.storage_options)
        except WeirError as error:
            errors[source.name] = error
    return queue, errors


def is_anything_pending(settings: Settings) -> bool:
    """Whether an ingest would have something to do; needs no Spark.

    Raises:
        ConfigurationError: sources.yml is wrong.
    """
    consumed = consumed_positions(settings)
    queue, errors = pending_change_sets(settings, load_sources(settings.sources), consumed)
    options = settings.storage_options or None
    begun = last_metadata(settings.lake, QUADS.name, options, job=JOB)
    done = last_metadata(settings.lake, TRANSACTIONS.name, options, job=JOB)
    unfinished = begun is not None and (done is None or done[1].watermark < begun[1].watermark)
    return bool(queue or errors or unfinished)


def _source_result(
    source: Source,
    done: Sequence[Transaction],
    consumed: Mapping[str, Consumed],
    errors: Mapping[str, WeirError],
) -> SourceResult:
    of_source = [each for each in done if each.source == source.name]
    return SourceResult(
        source.name,
        epochs=len(of_source),
        inserted=sum(each.inserted for each in of_source),
        deleted=sum(each.deleted for each in of_source),
        rejected=sum(each.rejected for each in of_source),
        position=consumed[source.name].last,
        error=errors.get(source.name),
    )


def _told(transactions: Sequence[Transaction], seconds: float) -> str:
    first, last = transactions[0].epoch, transactions[-1].epoch
    inserted = sum(each.inserted for each in transactions)
    deleted = sum(each.deleted for each in transactions)
    rejected = sum(each.rejected for each in transactions)
    return (
        f"epochs {first}..{last}: +{inserted:,} -{deleted:,} quads"
        f"{f', {rejected:,} rejected' if rejected else ''}, {seconds:.1f} s"
    )


def _all_or_fail(
    spark: SparkSession, settings: Settings, run_id: str, progress: Progress = silent
) -> IngestResult:
    """Ingest, and fail at the end if a source had to stop."""
    result = ingest_changes(spark, settings, run_id, progress)
    if result.errors:
        raise SourceError("; ".join(str(error) for error in result.errors))
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """The entry point under spark-submit; returns the exit code of `jobs.errors`."""
    return run_stage(_all_or_fail, JOB, __doc__, argv)


if __name__ == "__main__":
    sys.exit(main())
