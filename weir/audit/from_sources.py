"""The log of the graph, read again from the sources: `quads`, and the `triples` that follow.

A graph belongs to one source, so that the rows of a source follow from its change sets alone. Each
change set that is still there is read as when it was ingested, into a temporary lake (`replay`),
and its rows get the epoch that `transactions` names for it. Of change sets that are gone, the rows
of their epochs are taken over that can still be read of the damaged log (`damaged_log`). Then the
rows of every epoch are counted: where there are as many as `transactions` says, the log is what it
was (`epoch_counts`). Otherwise it is a state, from a new epoch on, and queries publish the
difference there. `replacement` puts it in the place of the damaged one.
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
from weir.ingest.journal import JOB, Journal, Transaction
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
    """What is read again of a source.

    Attributes:
        name: its name.
        held: how many quads it has by `transactions`.
        read: how many it has in the rebuilt log.
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
        versions: those of the commits of the new tables with all rows, by table.
        head: the newest epoch.
        until: the epoch up to which the log is a state only; 0 if it has every epoch.
        corrected: the source whose new epoch the state is, as it is another one than was ingested;
            empty if it is not.
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
        """What is done, and what of it answers get."""
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
    """Read the sources again, into a temporary lake; nothing of the lake is changed.

    Raises:
        WeirError: the lake is in an object store, or the log cannot be rebuilt.
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
    # The epochs of what is read come after all that are known.
    journal.conclude([Transaction(newest, "", None, None, None, clock.now(), 0, 0, 0, run_id)])
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
    """Make the relation `QUADS_ROWS`: the rows that were read, at the epochs of their change sets.

    Args:
        engine: of the temporary lake.
        epochs: the epoch of a change set, by the one at which it was read.
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
    """By name of the source, which of its files has another content than was read."""
    sources = [source for source in all_sources(settings) if source.name in replays]
    return {
        file.source: f"{file.path or file.file} has other content than was read"
        for file in read_otherwise(lake, temporary, sources)
    }


def _sources(
    counts: Counts, replays: Mapping[str, Replay], changed: Mapping[str, str]
) -> tuple[RebuiltSource, ...]:
    """What was read of each source that has, or had, quads, or of which something is to be said."""
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
    """Write the new tables; the versions of their commits with all rows."""
    engine.make(Statement("union_rows", union_log(newest), "cache"))
    metadata = Metadata(run_id, JOB, max(newest, until), extra={"transactions": []})
    versions = {}
    for table, relation in ((QUADS, QUADS_ROWS), (TRIPLES, "union_rows")):
        made = new_table(table)
        create_if_missing(temporary, made)
        if until:
            note_consolidation(temporary, made.name, until)
        rows = engine.count(relation)
        versions[table] = engine.write(made, relation, metadata, rows=rows).version
    return versions
