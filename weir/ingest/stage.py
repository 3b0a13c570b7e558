"""Ingest: every pending change set of every source becomes an epoch.

It is one of `quads` and `triples`, or of `streams/<name>` if the source is a stream. Change sets
are taken in batches, each with one commit per table. A source that cannot continue stops where it
is; the others continue. A stream without input gets epochs in which only time passes.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from weir.errors import EXIT_QUALITY, WeirError
from weir.ingest import clock
from weir.ingest.batch import BatchResult, Examiner, ingest_batch
from weir.ingest.changesets import SourcePosition
from weir.ingest.endings import settle_owners, stays, undeclared_sources, what_to_do
from weir.ingest.epochs import Transaction
from weir.ingest.journal import JOB, unfinished
from weir.ingest.pending import (
    PendingChangeSets,
    next_batch,
    pending_change_sets,
    positions_after,
    source_positions,
)
from weir.ingest.run import Ingest, ingesting, streams
from weir.ingest.source_files import SourceFile, changed_files, read_twice, record_changes
from weir.ingest.sources.all_sources import all_sources
from weir.ingest.sources.errors import SourceError
from weir.ingest.sources.source import Source
from weir.ingest.stopped_sources import StoppedSource, permits, record_stopped
from weir.ingest.ticks import due_ticks, tick
from weir.lake.counted import counted
from weir.lake.lake import Lake
from weir.project import Project
from weir.stage import Progress, StageResult, silent


@dataclass(frozen=True, slots=True)
class SourceResult:
    """What one source gave; `error` is why it gave no more, `waiting` why a later run goes on."""

    name: str
    epochs: int
    inserted: int
    deleted: int
    rejected: int
    position: str | None
    error: WeirError | None
    waiting: str | None = None


@dataclass(frozen=True, slots=True)
class IngestResult(StageResult):
    """What a run ingested: the epochs (from_epoch, to_epoch], and each source's part in them.

    recovered: how many of them a run that died had begun to commit. changed: files that were read,
    and found changed by this run. undeclared: by name, how many quads stay of each source that is
    declared no longer. unread: by name, how many files of a source are not read, and why. missing:
    by name, which change sets of a source seem to be missing. twice: by name, which change set
    seems to have been read before.
    """

    from_epoch: int
    to_epoch: int
    recovered: int
    sources: tuple[SourceResult, ...]
    changed: tuple[SourceFile, ...] = ()
    undeclared: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    twice: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether no source had anything new."""
        return self.to_epoch == self.from_epoch

    @property
    def did_something(self) -> bool:
        """Whether there are new epochs."""
        return not self.is_empty

    @property
    def is_worth_reporting(self) -> bool:
        """Whether there are, or a file was changed after it was read."""
        return self.did_something or bool(self.changed)

    @property
    def summary(self) -> str:
        """How many epochs there are, and how much was rejected."""
        epochs = self.to_epoch - self.from_epoch
        rejected = sum(source.rejected for source in self.sources)
        summary = "nothing new"
        if epochs:
            summary = f"{counted(epochs, 'epoch')}, the newest is {self.to_epoch}"
        return f"{summary}; {rejected:,} rejected" if rejected else summary

    @property
    def errors(self) -> tuple[WeirError, ...]:
        """Why sources stopped."""
        return tuple(source.error for source in self.sources if source.error is not None)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What does not fail a run, but should be known: which input was not used, or not yet."""
        rejected = [
            f"source {source.name}: {source.rejected:,} rejected;"
            " the table `rejected` has the reasons"
            for source in self.sources
            if source.rejected
        ]
        waiting = [
            f"source {source.name} waits: {source.waiting}"
            for source in self.sources
            if source.waiting
        ]
        changed = [
            f"source {file.source}: {file.path} was changed after it was read; its changes were not"
            " read: give them as a new version or change set, or restore the file"
            for file in self.changed
        ]
        undeclared = [
            f"source {name}: {stays(quads)}: {what_to_do(name)}"
            for name, quads in self.undeclared.items()
        ]
        notes = [
            f"source {name}: {what}"
            for notes in (self.unread, self.missing, self.twice)
            for name, what in notes.items()
        ]
        return (*rejected, *waiting, *changed, *undeclared, *notes)


def ingest_changes(
    project: Project,
    run_id: str,
    progress: Progress = silent,
    *,
    accept: Collection[str] = (),
    examiner: Examiner | None = None,
) -> IngestResult:
    """Ingest the change sets of every source after its position.

    Args:
        project: whose sources are read.
        run_id: of this run in the ledger.
        progress: receives a line per step.
        accept: names of sources that an earlier run stopped at a change set beyond their guards:
            that change set is taken, if it is as it was then.
        examiner: of change sets, for what they would do to the graph.

    Raises:
        BusyError: another ingest is in progress.
        ConfigurationError: sources.yml or remotes.yml is wrong, or names no such source.
    """
    with ingesting(project, run_id, progress) as ingest:
        lake, sources, journal = project.lake, ingest.sources, ingest.journal
        recovered = ingest.recover()
        consumed = source_positions(lake)
        settle_owners(lake, consumed, run_id, journal.head())
        allowed = permits(lake, accept, [source.name for source in sources], run_id)
        done, operations, ended = _ingest_all(ingest, consumed, allowed, examiner)
        end = journal.head()
        record_stopped(lake, run_id, clock.now(), end, ended.errors, ended.waiting)
        written = sum(t.inserted + t.deleted for t in (*recovered, *done))
        ingest.run.totals |= {"rows_in": operations, "rows_out": written}
        changed = changed_files(lake, sources)
        record_changes(lake, changed, journal.metadata(end))
        consumed = positions_after(consumed, done)
        return IngestResult(
            ingest.start,
            end,
            len(recovered),
            tuple(_source_result(source, done, consumed, ended) for source in sources),
            changed.reported,
            undeclared_sources(lake, consumed, [source.name for source in sources]),
            ended.unread,
            ended.missing,
            dict(_read_twice(lake, sources, done)),
        )


def _ingest_all(
    ingest: Ingest,
    consumed: Mapping[str, SourcePosition],
    allowed: Mapping[str, StoppedSource],
    examiner: Examiner | None,
) -> tuple[list[Transaction], int, PendingChangeSets]:
    """Ingest batch after batch.

    Returns:
        The transactions, how many operations were read, and what is still pending: why sources
        stopped, and what others wait for.
    """
    project, sources = ingest.project, ingest.sources
    lake = project.lake
    ingest.progress(f"looking for new change sets of {counted(len(sources), 'source')}")
    pending = pending_change_sets(project, sources, consumed)
    queue, errors, waiting = pending.change_sets, pending.errors, pending.waiting
    busy = {change_set.source.name for change_set in queue}
    done: list[Transaction] = []
    operations = 0
    while queue:
        batch, queue = next_batch(queue, project.settings.limits)
        began = time.monotonic()
        names = ", ".join(dict.fromkeys(change_set.source.name for change_set in batch))
        ingest.progress(f"reading {counted(len(batch), 'change set')} of {names}")
        with project.engine(JOB, progress=ingest.progress) as engine:
            result = ingest_batch(
                engine, project, ingest.journal, batch, consumed, allowed, examiner
            )
        done += result.transactions
        operations += result.operations
        errors |= result.stopped
        waiting |= result.waiting
        consumed = positions_after(consumed, result.transactions)
        queue = [later for later in queue if later.source.name not in result.ended]
        if result.transactions:
            ingest.progress(_summary(result, time.monotonic() - began))
    for source in due_ticks(lake, sources, consumed, {*busy, *errors}, clock.now()):
        done.append(tick(ingest.journal, source))
        ingest.progress(f"epoch {done[-1].epoch}: time passed in the stream {source.name}")
    waiting = {name: why for name, why in waiting.items() if name not in errors}
    left = PendingChangeSets(queue, errors, waiting, pending.unread, pending.missing)
    return done, operations, left


def is_anything_pending(project: Project) -> bool:
    """Whether an ingest would have something to do; needs no Spark.

    Raises:
        ConfigurationError: sources.yml or remotes.yml is wrong.
    """
    lake = project.lake
    consumed = source_positions(lake)
    sources = all_sources(project.settings)
    pending = pending_change_sets(project, sources, consumed)
    if pending.change_sets or pending.errors or due_ticks(lake, sources, consumed, (), clock.now()):
        return True
    if next(unfinished(lake, streams(sources)), None) is not None:
        return True
    return bool(changed_files(lake, sources).new)


def _source_result(
    source: Source,
    done: Sequence[Transaction],
    consumed: Mapping[str, SourcePosition],
    pending: PendingChangeSets,
) -> SourceResult:
    of_source = [transaction for transaction in done if transaction.source == source.name]
    return SourceResult(
        source.name,
        epochs=len(of_source),
        inserted=sum(transaction.inserted for transaction in of_source),
        deleted=sum(transaction.deleted for transaction in of_source),
        rejected=sum(transaction.rejected for transaction in of_source),
        position=consumed[source.name].last,
        error=pending.errors.get(source.name),
        waiting=pending.waiting[source.name].reason if source.name in pending.waiting else None,
    )


def _read_twice(
    lake: Lake, sources: Sequence[Source], done: Sequence[Transaction]
) -> Iterator[tuple[str, str]]:
    """By source of changes, that one of its change sets was read under another name before."""
    for source in sources:
        positions = {
            transaction.position for transaction in done if transaction.source == source.name
        }
        if not source.is_chain or not positions:
            continue
        for now, before in read_twice(lake, source, [*filter(None, positions)])[:1]:
            yield (
                source.name,
                f"{now} has the content of {before}, which was read before and is gone: if it was"
                " renamed, its changes were applied twice; correct that by a later one",
            )


def _summary(result: BatchResult, seconds: float) -> str:
    transactions = result.transactions
    first, last = transactions[0].epoch, transactions[-1].epoch
    rejected = sum(transaction.rejected for transaction in transactions)
    return (
        f"epochs {first}..{last}: {result.what}"
        f"{f', {rejected:,} rejected' if rejected else ''}, {seconds:.1f} s"
    )


def ingest_or_fail(
    project: Project,
    run_id: str,
    progress: Progress = silent,
    *,
    accept: Collection[str] = (),
    examiner: Examiner | None = None,
) -> IngestResult:
    """Ingest, report what was rejected, and fail at the end if a source had to stop.

    Raises:
        SourceError: why sources stopped, all of them; with the exit code of a failed check if they
            are all beyond their guards.
    """
    result = ingest_changes(project, run_id, progress, accept=accept, examiner=examiner)
    for warning in result.warnings:
        progress(f"WARNING: {warning}")
    if result.errors:
        first, *others = result.errors
        if others:
            stopped = f"{counted(len(result.errors), 'source')} stopped:"
            failure = SourceError(stopped, parts=map(str, result.errors))
        else:
            failure = SourceError(first.what, first.where, first.hint)
        if all(error.exit_code == EXIT_QUALITY for error in result.errors):
            failure.exit_code = EXIT_QUALITY
        raise failure
    return result
