"""The end of a source's name: its quads are retracted as an epoch, or a new name goes on with them.

The file of sources decides what is read; these follow what a person changed there. Both hold the
claim of ingest. Killed at any point, either nothing was done, or the next ingest finishes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from weir.errors import ConfigurationError
from weir.ingest import clock
from weir.ingest.batch import ingest_batch
from weir.ingest.changesets import SourcePosition
from weir.ingest.endings import Retraction, renamed_from, settle_owners, undeclared_sources
from weir.ingest.journal import JOB, Journal, Transaction
from weir.ingest.pending import source_positions
from weir.ingest.source_files import copy_files
from weir.ingest.sources.all_sources import all_sources
from weir.ingest.sources.source import Source
from weir.ingest.stage import recover
from weir.ingest.stream_journal import StreamJournal
from weir.lake.lake import Lake
from weir.lake.names import Name
from weir.project import Project
from weir.settings import Settings
from weir.stage import Progress, claimed, silent
from weir.text.near import meant


@dataclass(frozen=True, slots=True)
class _Ingest:
    """An ingest in progress, which has finished what a run that died had begun."""

    journal: Journal
    lake: Lake
    positions: Mapping[str, SourcePosition]
    declared: Mapping[str, Source]


def quads_to_retract(project: Project, name: Name) -> int:
    """How many quads stay of a source that is declared no longer.

    Raises:
        ConfigurationError: it is declared, or none of its quads are in the graph.
    """
    lake = project.open_lake()
    return _quads_of(lake, source_positions(lake), _declared(project.settings), name)


def drop_source(
    project: Project, run_id: str, progress: Progress = silent, *, name: Name
) -> Transaction:
    """Retract all quads of a source that is declared no longer, as an epoch.

    The name cannot be declared again: what was read of it would not be read again.

    Raises:
        BusyError: an ingest is in progress.
        ConfigurationError: the source is declared, or none of its quads are in the graph.
    """
    with _ingesting(project, run_id, progress) as ingest:
        quads = _quads_of(ingest.lake, ingest.positions, ingest.declared, name)
        progress(f"retracting {quads:,} quads of {name}")
        source = Retraction(name=name, location=project.settings.lake)
        source = source.called_first(ingest.positions[name].first_name)
        with project.engine(JOB) as engine:
            result = ingest_batch(
                engine, project, ingest.journal, [source.change_set], ingest.positions, {}
            )
        for error in result.stopped.values():
            raise error
        settle_owners(ingest.lake, source_positions(ingest.lake), run_id, ingest.journal.head())
        return result.transactions[0]


def rename_source(
    project: Project,
    run_id: str,
    progress: Progress = silent,
    *,
    old: Name,
    new: Name,
) -> Transaction:
    """Go on with what was ingested of a source under another name, as an epoch without changes.

    Its quads stay in the graph in which they are, and later ones come there.

    Raises:
        BusyError: an ingest is in progress.
        ConfigurationError: the old name is declared, the new one is not or was ingested already.
    """
    with _ingesting(project, run_id, progress) as ingest:
        _quads_of(ingest.lake, ingest.positions, ingest.declared, old)
        source, known = ingest.declared.get(new), ingest.positions[new]
        if source is None or source.stream is not None or source.replica is not None:
            raise ConfigurationError(
                f"no source {new} is declared that changes the graph",
                str(project.settings.sources),
                f"Declare it as {old} was, under its new name.",
            )
        if known.positions:
            raise ConfigurationError(
                f"the source {new} was ingested itself", "", "Give the source another new name."
            )
        epoch = ingest.journal.head() + 1
        copy_files(ingest.lake, old, new, ingest.journal.metadata(epoch))
        transaction = Transaction(
            epoch=epoch,
            source=new,
            position=renamed_from(old, epoch),
            change_id=None,
            event_time=None,
            ingested_at=clock.now(),
            inserted=0,
            deleted=0,
            rejected=0,
            run_id=run_id,
        )
        ingest.journal.conclude([transaction])
        settle_owners(ingest.lake, source_positions(ingest.lake), run_id, epoch)
        return transaction


@contextmanager
def _ingesting(project: Project, run_id: str, progress: Progress) -> Iterator[_Ingest]:
    lake, settings = project.open_lake(), project.settings
    declared = _declared(settings)
    with claimed(lake, JOB, run_id, settings.limits.lease_seconds) as run:
        journal = Journal(lake, run_id, settings.limits.literal_predicates)
        start, streams = journal.head(), StreamJournal(lake, journal)
        recover(project, journal, streams, [*declared.values()], progress)
        yield _Ingest(journal, lake, source_positions(lake), declared)
        run.totals |= {"from_epoch": start, "to_epoch": journal.head()}


def _declared(settings: Settings) -> Mapping[str, Source]:
    return {each.name: each for each in all_sources(settings)}


def _quads_of(
    lake: Lake,
    positions: Mapping[str, SourcePosition],
    declared: Mapping[str, Source],
    name: Name,
) -> int:
    if name in declared:
        raise ConfigurationError(
            f"the source {name} is declared: the next run would go on with it",
            "",
            "Remove it from the file of sources first.",
        )
    known = undeclared_sources(lake, positions, declared)
    if name not in known:
        listed = ", ".join(known) or "there are none"
        raise ConfigurationError(
            f"no quads of a source {name} are in the graph",
            "",
            f"{meant(name, known)}Sources that are declared no longer and have quads: {listed}.",
        )
    return known[name]
