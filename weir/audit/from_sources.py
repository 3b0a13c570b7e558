"""Rebuilds the log of the graph from the sources: `quads`, and `triples`, which follows from it.

A graph belongs to one source, so the rows of a source follow from its change sets alone.

1. Each change set that still exists is ingested again, into a temporary lake (`replay`). Its rows
   get the epoch that `transactions` has for it.
2. For change sets that are gone, the rows of their epochs are taken over from the damaged log, as
   far as they can be read (`damaged_log`).
3. The rows of every epoch are counted (`epoch_counts`). If the numbers are those of `transactions`,
   the log is as it was. Otherwise it becomes one state at a new epoch, where queries publish the
   difference.
4. The new log replaces the damaged one (`replacement`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from sqlglot import exp

from weir.audit.damaged_log import DamagedLog
from weir.audit.epoch_counts import Counts, state_until
from weir.audit.graph import QUADS_ROWS, union_log
from weir.audit.rebuild_folders import discard, new_table, temporary_lake
from weir.audit.replay import Reading, Replay, replays_of
from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import coalesce, column, columns, left_join, rows_of, select
from weir.errors import WeirError
from weir.ingest import clock
from weir.ingest.epochs import Transaction
from weir.ingest.journal import JOB, Journal
from weir.ingest.netting import QUAD
from weir.ingest.source_files import read_otherwise
from weir.ingest.sources.all_sources import all_sources
from weir.lake.counted import counted
from weir.lake.delta.commit import create_if_missing, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import GRAPHS, QUADS, TRIPLES, Table
from weir.lake.upkeep.consolidated import note_consolidation
from weir.progress.watermarks import head
from weir.project import Project
from weir.settings import Settings
from weir.stage import Progress


@dataclass(frozen=True, slots=True)
class RebuiltSource:
    """How much of a source is rebuilt.

    Attributes:
        name: its name.
        held: the number of its quads before, by the counts in `transactions`.
        read: the number of its quads in the rebuilt log.
        why: what could not be read again; empty if all could.
    """

    name: str
    held: int
    read: int
    why: str

    def __str__(self) -> str:
        lost = self.held - self.read
        what = f"source {self.name}: {self.read:,} of {counted(self.held, 'quad')}"
        if lost > 0:
            what += f", {lost:,} are lost"
        return f"{what} ({self.why})" if self.why else what


@dataclass(frozen=True, slots=True)
class RebuiltGraph:
    """The rebuilt log, in a temporary lake.

    Attributes:
        temporary: the lake with the new tables.
        versions: by new table, the version of the commit that has all rows.
        head: the newest epoch.
        until: the epoch up to which the log is one state; 0 if it has the changes of every epoch.
        corrected: if the state differs from the ingested one: the source in whose name the state is
            added as a new epoch; else empty.
        sources: what was read of each.
    """

    temporary: Lake
    versions: Mapping[Table, int]
    head: int
    until: int
    corrected: str
    sources: tuple[RebuiltSource, ...]

    @property
    def what(self) -> str:
        """What is done, and what it changes in answers."""
        read = sum(source.read for source in self.sources)
        done = f"rebuilt from the sources, {counted(read, 'quad')}"
        if self.corrected:
            return (
                f"{done}, as epoch {self.until}: the next run publishes the difference to what was"
                " published; earlier epochs that were not published come with it"
            )
        if self.until:
            return f"{done}; changes before epoch {self.until} are a state from now on"
        return f"{done}, with every epoch: answers stay as they are"


def rebuilt_graph(project: Project, run_id: str, progress: Progress) -> RebuiltGraph:
    """Rebuild the log of the graph in a temporary lake; the lake is not changed.

    Raises:
        WeirError: the log cannot be rebuilt.
    """
    lake, settings = project.lake, project.settings
    temporary = temporary_lake(lake)
    if not lake.exists(GRAPHS.name):
        raise WeirError(
            "the log of the graph is not rebuilt without the table graphs, which is gone",
            lake.location(GRAPHS.name),
            "Restore it from a backup.",
        )
    discard(lake)
    newest = head(lake)
    journal = Journal(temporary, run_id, settings.limits.literal_predicates)
    write(temporary, GRAPHS, lake.rows(GRAPHS.name), journal.metadata(newest))
    damaged = DamagedLog.of(lake, temporary)
    replays = replays_of(project, damaged.consolidated_until)
    # In the temporary lake, new epochs are numbered after all known ones.
    now = clock.now()
    known = Transaction(epoch=newest, source="", position=None, ingested_at=now, run_id=run_id)
    journal.conclude([known])
    new_engine = partial(project.engine, JOB, temporary)
    epochs = Reading(project, new_engine, journal, damaged, progress).read(replays)
    with new_engine() as engine:
        _make_quads(engine, epochs)
        counts = Counts.of(engine)
        changed = _changed(settings, lake, temporary, replays)
        sources = _sources(counts, replays, changed)
        until, corrected = state_until(counts, lake, replays, newest), ""
        wrong = [source.name for source in sources if source.held != source.read]
        if until is None or wrong or changed:
            until = newest + 1
            corrected = next(
                iter((*wrong, *(source.name for source in sources if source.why), *replays)), ""
            )
            if not corrected:
                raise WeirError(
                    "the log of the graph cannot be rebuilt: no source of it is left",
                    lake.location(QUADS.name),
                    "Restore the table quads from a backup.",
                )
        versions = _written(engine, temporary, run_id, newest, until)
    return RebuiltGraph(temporary, versions, newest, until, corrected, sources)


def _make_quads(engine: Engine, epochs: Mapping[int, int]) -> None:
    """Make the relation `QUADS_ROWS`: the rows that were read, at their original epochs.

    Args:
        engine: of the temporary lake.
        epochs: by epoch of the temporary lake, the original epoch of the change set.
    """
    engine.open("read", QUADS.name)
    by_read = {"read_epoch": [*epochs], "epoch": [*epochs.values()]}
    arrays = {name: pa.array(values, pa.int64()) for name, values in by_read.items()}
    engine.load("epochs", pa.table(arrays))
    rows = select(
        *columns(QUAD, "read"),
        exp.alias_(coalesce(column("epoch", "epochs"), column("epoch", "read")), "epoch"),
        column("weight", "read"),
        from_=rows_of("read", "read"),
        joins=[
            left_join(
                rows_of("epochs", "epochs"),
                exp.EQ(this=column("epoch", "read"), expression=column("read_epoch", "epochs")),
            )
        ],
    )
    engine.make(Statement(QUADS_ROWS, rows, "cache"))


def _changed(
    settings: Settings, lake: Lake, temporary: Lake, replays: Mapping[str, Replay]
) -> dict[str, str]:
    """By name of the source: which of its files has other content than was first read."""
    sources = [source for source in all_sources(settings) if source.name in replays]
    return {
        file.source: f"{file.path or file.file} has other content than was read"
        for file in read_otherwise(lake, temporary, sources)
    }


def _sources(
    counts: Counts, replays: Mapping[str, Replay], changed: Mapping[str, str]
) -> tuple[RebuiltSource, ...]:
    """The result for each source that has or had quads, or could not be read completely."""
    sources = (
        RebuiltSource(
            name,
            replay.known.quads,
            counts.held(name),
            "; ".join(filter(None, (replay.why, changed.get(name)))),
        )
        for name, replay in sorted(replays.items())
    )
    return tuple(source for source in sources if source.held or source.read or source.why)


def _written(
    engine: Engine, temporary: Lake, run_id: str, newest: int, until: int
) -> dict[Table, int]:
    """Write the new tables; gives the versions of the commits that have all rows."""
    engine.make(Statement("union_rows", union_log(newest), "cache"))
    metadata = Metadata(run_id, JOB, max(newest, until), extra={"transactions": []})
    versions = {}
    for table, relation in ((QUADS, QUADS_ROWS), (TRIPLES, "union_rows")):
        target = new_table(table)
        create_if_missing(temporary, target)
        if until:
            note_consolidation(temporary, target.name, until)
        rows = engine.count(relation)
        versions[table] = engine.write(target, relation, metadata, rows=rows).version
    return versions
