"""The end of a source's name: its quads are retracted as an epoch, or a new name goes on with them.

The file of sources decides what is read; these follow what a person changed there. Both hold the
claim of ingest. Killed at any point, either nothing was done, or the next ingest finishes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir.errors import ConfigurationError
from weir.ingest import clock
from weir.ingest.batch import ingest_batch
from weir.ingest.changesets import SourcePosition
from weir.ingest.endings import Retraction, renamed_from, settle_owners, undeclared_sources
from weir.ingest.epochs import Transaction
from weir.ingest.journal import JOB
from weir.ingest.pending import source_positions
from weir.ingest.run import ingesting
from weir.ingest.source_files import copy_files
from weir.ingest.sources.all_sources import all_sources
from weir.ingest.sources.source import Source
from weir.lake.lake import Lake
from weir.lake.names import Name
from weir.project import Project
from weir.stage import Progress, silent
from weir.text.near import meant


def quads_to_retract(project: Project, name: Name) -> int:
    """How many quads stay of a source that is declared no longer.

    Raises:
        ConfigurationError: it is declared, or none of its quads are in the graph.
    """
    lake = project.open_lake()
    positions = source_positions(lake)
    return _quads_of(lake, positions, all_sources(project.settings), name)


def drop_source(
    project: Project, run_id: str, progress: Progress = silent, *, name: Name
) -> Transaction:
    """Retract all quads of a source that is declared no longer, as an epoch.

    The name cannot be declared again: what was read of it would not be read again.

    Raises:
        BusyError: an ingest is in progress.
        ConfigurationError: the source is declared, or none of its quads are in the graph.
    """
    with ingesting(project, run_id, progress) as ingest:
        ingest.recover()
        positions = source_positions(project.lake)
        quads = _quads_of(project.lake, positions, ingest.sources, name)
        progress(f"retracting {quads:,} quads of {name}")
        source = Retraction(name=name, location=project.settings.lake)
        source = source.called_first(positions[name].first_name)
        with project.engine(JOB) as engine:
            change_sets = [source.change_set]
            result = ingest_batch(engine, project, ingest.journal, change_sets, positions, {})
        for error in result.stopped.values():
            raise error
        settle_owners(project.lake, source_positions(project.lake), run_id, ingest.journal.head())
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
    with ingesting(project, run_id, progress) as ingest:
        ingest.recover()
        positions = source_positions(project.lake)
        _quads_of(project.lake, positions, ingest.sources, old)
        source = next((source for source in ingest.sources if source.name == new), None)
        if source is None or source.stream is not None or source.reserved is not None:
            raise ConfigurationError(
                f"no source {new} is declared that changes the graph",
                str(project.settings.sources),
                f"Declare it as {old} was, under its new name.",
            )
        if positions[new].positions:
            raise ConfigurationError(
                f"the source {new} was ingested itself", "", "Give the source another new name."
            )
        epoch = ingest.journal.head() + 1
        copy_files(project.lake, old, new, ingest.journal.metadata(epoch))
        transaction = Transaction(
            epoch=epoch,
            source=new,
            position=renamed_from(old, epoch),
            ingested_at=clock.now(),
            run_id=run_id,
        )
        ingest.journal.conclude([transaction])
        settle_owners(project.lake, source_positions(project.lake), run_id, epoch)
        return transaction


def _quads_of(
    lake: Lake,
    positions: Mapping[str, SourcePosition],
    sources: Sequence[Source],
    name: Name,
) -> int:
    declared = [source.name for source in sources]
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
