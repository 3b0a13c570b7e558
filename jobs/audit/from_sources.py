"""The log of the graph, read again from the sources: `quads`, and the `triples` that follow.

A graph belongs to one source, so that the rows of a source follow from its change sets alone. Each
change set that is still there is read as when it was ingested, into a lake aside, and its rows get
the epoch that `transactions` names for it. Of change sets that are gone, the rows count that can
still be read of the damaged log. Then the rows of every epoch are counted: where there are as many
as `transactions` says, the log is what it was. Otherwise it is a state, from a new epoch on, and
queries publish the difference there.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from sqlglot import exp

from jobs.audit.graph import QUADS_ROWS, union_log
from jobs.compute.engine import Engine
from jobs.compute.relations import Statement
from jobs.compute.session import Session
from jobs.compute.sql import (
    ascending,
    case,
    coalesce,
    column,
    columns,
    left_join,
    number,
    over,
    rows_of,
    select,
    small_number,
    subquery,
    sum_of,
)
from jobs.errors import WeirError
from jobs.ingest import clock
from jobs.ingest.batch import ingest_batch
from jobs.ingest.changesets import ChangeSet, SourcePosition
from jobs.ingest.endings import is_ending
from jobs.ingest.journal import JOB, Journal, Transaction
from jobs.ingest.netting import QUAD
from jobs.ingest.pending import next_batch, positions_after, source_positions
from jobs.ingest.source_files import changed_files
from jobs.ingest.sources.all_sources import all_sources
from jobs.ingest.sources.source import Source
from jobs.ingest.stopped_sources import StoppedSource
from jobs.progress.streams import stream_names
from jobs.progress.watermarks import head
from jobs.settings import Settings
from jobs.stage import Progress
from lake.commit import create_if_missing, write
from lake.consolidated import note_consolidation
from lake.counted import counted
from lake.damaged_files import damaged_files
from lake.file_commits import files_of
from lake.lake import Lake, local_folder
from lake.metadata import Metadata
from lake.storage_errors import StorageError
from lake.tables import GRAPHS, QUADS, TRANSACTIONS, TRIPLES, Table

_FOLDER = "_rebuilt"
"""Below the lake's folder: the lake aside, which is gone at the end."""
_REPLACED = "_replaced"
"""Below the lake's folder: what of the damaged log a repair that was killed had replaced."""
_MADE: Mapping[Table, str] = {QUADS: "made_quads", TRIPLES: "made_triples"}
"""The names of the new tables in the lake aside."""


@dataclass(frozen=True, slots=True)
class RebuiltSource:
    """What is found again of a source.

    Attributes:
        name: its name.
        held: how many quads it has by `transactions`.
        found: how many it has in the rebuilt log.
        why: what could not be read again; empty if all could.
    """

    name: str
    held: int
    found: int
    why: str

    def __str__(self) -> str:
        lost = self.held - self.found
        what = f"source {self.name}: {self.found:,} of {counted(self.held, 'quad')}"
        if lost > 0:
            what += f", {lost:,} are lost"
        return f"{what} ({self.why})" if self.why else what


@dataclass(frozen=True, slots=True)
class RebuiltGraph:
    """The rebuilt log, in a lake aside.

    Attributes:
        aside: the lake with the new tables.
        versions: those of the commits of the new tables with all rows, by table.
        head: the newest epoch.
        until: the epoch up to which the log is a state only; 0 if it has every epoch.
        sources: what was found of each.
    """

    aside: Lake
    versions: Mapping[Table, int]
    head: int
    until: int
    sources: tuple[RebuiltSource, ...]

    @property
    def is_corrected(self) -> bool:
        """Whether the state is another one than was ingested, so that it is a new epoch."""
        return self.until > self.head

    @property
    def what(self) -> str:
        """What is done, and what of it answers get."""
        found = sum(each.found for each in self.sources)
        text = f"rebuilt from the sources, {counted(found, 'quad')}"
        if self.is_corrected:
            return (
                f"{text}, as epoch {self.until}: the next run publishes the difference to what was"
                " published; earlier epochs that were not published come with it"
            )
        if self.until:
            return f"{text}; changes before epoch {self.until} are a state from now on"
        return f"{text}, with every epoch: answers stay as they are"


def rebuilt_graph(
    session: Session, settings: Settings, lake: Lake, run_id: str, progress: Progress
) -> RebuiltGraph:
    """Read the sources again, into a lake aside; nothing of the lake is changed.

    Raises:
        WeirError: the lake is in an object store, or a source cannot be read.
    """
    folder = local_folder(lake.root)
    if folder is None:
        raise WeirError(
            "a lake in an object store is not rebuilt from its sources",
            lake.root,
            "Copy it to a folder, repair it there (`lake` in the configuration), and copy it back.",
        )
    shutil.rmtree(folder / _FOLDER, ignore_errors=True)
    # As deep as no table is: readers of the lake do not take them for its own.
    aside = Lake(str(folder / _FOLDER / "lake"))
    return _Rebuild(session, settings, lake, folder, aside, run_id, progress).made()


def put_in_place(lake: Lake, rebuilt: RebuiltGraph, run_id: str) -> None:
    """Replace the log of the graph by the rebuilt one.

    `quads` goes first and comes last: without it no stage works, and a repair that was killed is
    repeated, with what could be read of the old one.
    """
    folder, until = local_folder(lake.root), max(rebuilt.head, rebuilt.until)
    assert folder is not None, "it was rebuilt"
    for table in (QUADS, TRIPLES):
        _put_aside(lake, folder, table)
    rows = lake.rows(TRANSACTIONS.name).to_pylist()
    if rebuilt.is_corrected:
        source = next(each.name for each in rebuilt.sources if each.held != each.found or each.why)
        now = Transaction(until, source, None, None, None, clock.now(), 0, 0, 0, run_id)
        rows.append({name: getattr(now, name, None) for name in TRANSACTIONS.column_names})
    # Their feeds begin with a commit that has all rows.
    named = {f"{table.name}_version": version for table, version in rebuilt.versions.items()}
    metadata = Metadata(run_id, JOB, until)
    write(lake, TRANSACTIONS, [row | named for row in rows], metadata, mode="overwrite")
    for table in (TRIPLES, QUADS):
        made = local_folder(rebuilt.aside.location(_MADE[table]))
        assert made is not None, "it is in a folder"
        made.rename(folder / table.name)
        lake.forget(table.name)
    shutil.rmtree(folder / _REPLACED, ignore_errors=True)


def discard(lake: Lake) -> None:
    """Remove the lake aside."""
    folder = local_folder(lake.root)
    if folder is not None:
        shutil.rmtree(folder / _FOLDER, ignore_errors=True)


def _put_aside(lake: Lake, folder: Path, table: Table) -> None:
    """Take a table out of the lake; one that is out already stays as it is."""
    if (folder / table.name).exists():
        replaced = _replaced(folder) / table.name
        shutil.rmtree(replaced, ignore_errors=True)
        replaced.parent.mkdir(parents=True, exist_ok=True)
        (folder / table.name).rename(replaced)
    lake.forget(table.name)


def _replaced(folder: Path) -> Path:
    return folder / _REPLACED / "lake"


class _Everything(StoppedSource):
    """Change sets that were accepted once are accepted again."""

    def accepts(self, position: str, excess: str) -> bool:
        del position, excess
        return True


@dataclass(slots=True)
class _Rebuild:
    """The rebuilding of one graph."""

    session: Session
    settings: Settings
    lake: Lake
    folder: Path
    aside: Lake
    run_id: str
    progress: Progress
    why: dict[str, str] = field(default_factory=dict)
    """By name of the source, what of it could not be read again."""

    def made(self) -> RebuiltGraph:
        positions, newest = source_positions(self.lake), head(self.lake)
        streams = stream_names(self.lake)
        known = {
            name: each
            for name, each in positions.items()
            if each.ended is None and name not in streams
        }
        journal = Journal(self.aside, self.run_id, self.settings.limits.literal_predicates)
        owners = self.lake.rows(GRAPHS.name)
        metadata = journal.metadata(newest)
        write(self.aside, GRAPHS, owners, metadata)
        epochs = self._epochs_of_positions(positions)
        queue: list[ChangeSet] = []
        starts: dict[str, SourcePosition] = {}
        for name, each in known.items():
            first, change_sets = self._again(name, each)
            queue += change_sets
            kept = each.positions[:first]
            starts[name] = replace(each, positions=kept, last_id=self._last_id(name, kept))
            if kept:
                until = epochs.get((name, kept[-1]), newest) if change_sets else newest
                self._seed(owners, name, until, metadata)
        # The epochs of what is read come after all that are known.
        conclusion = Transaction(newest, "", None, None, None, clock.now(), 0, 0, 0, self.run_id)
        journal.conclude([conclusion])
        done = self._ingest(journal, queue, starts)
        mapping = {each.epoch: epochs[each.source, each.position] for each in done if each.position}
        engine = Engine.of(self.settings, self.aside, self.session, JOB)
        try:
            return self._written(engine, mapping, known, owners, newest)
        finally:
            engine.release()

    def _again(self, name: str, known: SourcePosition) -> tuple[int, list[ChangeSet]]:
        """The change sets of a source to be read, and how many are before them."""
        declared = {each.name: each for each in all_sources(self.settings)}.get(name)
        if declared is None:
            self.why[name] = "it is no longer declared"
            return len(known.positions), []
        source = declared.called_first(known.first_name).as_first_read(known.positions)
        there = self._there(source, known)
        wanted = known.positions
        missing = [place for place, position in enumerate(wanted) if position not in there]
        if missing:
            names = ", ".join(wanted[place] for place in missing[:3])
            others = f" and {len(missing) - 3:,} more" if len(missing) > 3 else ""
            self.why[name] = f"{names}{others} cannot be read again"
        are_states = all(each.state is not None for each in there.values())
        first = missing[-1] + 1 if missing and not are_states else 0
        if missing and missing[-1] == len(wanted) - 1:
            # What it was at last is not there.
            first = len(wanted)
        return first, [there[each] for each in wanted[first:] if each in there]

    def _there(self, source: Source, known: SourcePosition) -> dict[str, ChangeSet]:
        beginning = SourcePosition(first_name=known.first_name)
        try:
            return {each.position: each for each in source.pending(beginning, self.settings)}
        except (WeirError, OSError) as error:
            self.why[source.name] = str(error)
            return {}

    def _last_id(self, name: str, kept: Sequence[str]) -> str | None:
        if not kept:
            return None
        rows = self.lake.rows(
            TRANSACTIONS.name, ["source", "change_id"], [("position", "=", kept[-1])]
        )
        ids = [row["change_id"] for row in rows.to_pylist() if row["source"] == name]
        return ids[0] if ids else None

    def _epochs_of_positions(
        self, positions: Mapping[str, SourcePosition]
    ) -> dict[tuple[str, str | None], int]:
        """The epoch of each change set, by the name that its source has now."""
        found = {}
        names = ["epoch", "source", "position"]
        for row in self.lake.rows(TRANSACTIONS.name, names).to_pylist():
            source = row["source"]
            while (successor := positions[source].successor) is not None:
                source = successor
            if not is_ending(row["position"]):
                found[source, row["position"]] = row["epoch"]
        return found

    def _seed(self, owners: pa.Table, name: str, until: int, metadata: Metadata) -> None:
        """Take over what can be read of the graphs of a source up to an epoch."""
        graphs = [row["graph"] for row in owners.to_pylist() if row["source"] == name]
        rows = self._readable(graphs, until)
        if rows.num_rows:
            write(self.aside, QUADS, rows, metadata)

    def _readable(self, graphs: list[str], until: int) -> pa.Table:
        """The rows of intact files of the damaged log."""
        nothing = pa.schema([]).empty_table()
        lake = self.lake
        if not lake.exists(QUADS.name):
            lake = Lake(str(_replaced(self.folder)))
        folder = local_folder(lake.location(QUADS.name))
        assert folder is not None, "it was looked at"
        try:
            stored = lake.open(QUADS.name)
        except StorageError:
            return nothing
        if stored is None:
            return nothing
        bad = {file.name for file in damaged_files(folder, stored)}
        files = [path for path, _ in files_of(stored) if path.rpartition("/")[2] not in bad]
        if not files:
            return nothing
        wanted = pc.field("graph").isin(pa.array(graphs, pa.string())) & (
            pc.field("epoch") <= until
        )
        return ds.dataset([str(folder / path) for path in files]).to_table(filter=wanted)

    def _ingest(
        self, journal: Journal, queue: list[ChangeSet], starts: Mapping[str, SourcePosition]
    ) -> list[Transaction]:
        """Read change sets as an ingest does."""
        positions = positions_after(starts, ())
        permits = {
            name: _Everything(name, "stopped", None, "", None, clock.now(), self.run_id)
            for name in starts
        }
        done: list[Transaction] = []
        while queue:
            batch, queue = next_batch(queue, self.settings.limits)
            names = ", ".join(dict.fromkeys(each.source.name for each in batch))
            self.progress(f"reading {counted(len(batch), 'change set')} of {names} again")
            engine = Engine.of(self.settings, self.aside, self.session, JOB)
            try:
                result = ingest_batch(engine, self.settings, journal, batch, positions, permits)
            finally:
                engine.release()
            done += result.transactions
            positions = positions_after(positions, result.transactions)
            for name, error in result.stopped.items():
                self.why[name] = error.what
            for name, waiting in result.waiting.items():
                self.why[name] = waiting.reason
            queue = [each for each in queue if each.source.name not in result.ended]
        return done

    def _written(
        self,
        engine: Engine,
        mapping: Mapping[int, int],
        known: Mapping[str, SourcePosition],
        owners: pa.Table,
        newest: int,
    ) -> RebuiltGraph:
        """Write the new tables."""
        engine.open("read", QUADS.name)
        epochs = {"read_epoch": [*mapping], "epoch": [*mapping.values()]}
        engine.load(
            "epochs", pa.table({name: pa.array(each, pa.int64()) for name, each in epochs.items()})
        )
        engine.make(Statement(QUADS_ROWS, _in_turn(_at_their_epochs()), "cache"))
        sources = self._sources(engine, known, owners)
        until = self._until(engine, newest)
        changed = self._changed(known)
        if until is None or changed or any(each.held != each.found for each in sources):
            until = newest + 1
        sources = tuple(
            replace(each, why="; ".join(filter(None, (each.why, changed.get(each.name, "")))))
            for each in sources
        )
        engine.make(Statement("union_rows", union_log(newest), "cache"))
        metadata = Metadata(self.run_id, JOB, max(newest, until), extra={"transactions": []})
        versions = {}
        for table, relation in ((QUADS, QUADS_ROWS), (TRIPLES, "union_rows")):
            made = replace(table, name=_MADE[table])
            create_if_missing(self.aside, made)
            if until:
                note_consolidation(self.aside, made.name, until)
            rows = engine.count(relation)
            versions[table] = engine.write(made, relation, metadata, rows=rows).version
        return RebuiltGraph(self.aside, versions, newest, until, sources)

    def _sources(
        self, engine: Engine, known: Mapping[str, SourcePosition], owners: pa.Table
    ) -> tuple[RebuiltSource, ...]:
        """How many quads each source has."""
        total = sum_of(column("weight"))
        rows = engine.rows(
            select(column("graph"), total, from_=rows_of(QUADS_ROWS), group_by=[column("graph")])
        )
        owner = {row["graph"]: row["source"] for row in owners.to_pylist()}
        found: Counter[str] = Counter()
        for graph, quads in rows:
            found[owner.get(graph, "")] += int(str(quads))
        return tuple(
            RebuiltSource(name, each.quads, found[name], self.why.get(name, ""))
            for name, each in sorted(known.items())
            if each.quads or found[name]
        )

    def _until(self, engine: Engine, newest: int) -> int | None:
        """The epoch up to which the log is a state only, 0 if none; None if it never is right."""

        def times(weight: int) -> exp.Expr:
            return exp.Count(this=case((column("weight").eq(number(weight)), small_number(1))))

        per_epoch = select(
            column("epoch"),
            times(1),
            times(-1),
            from_=rows_of(QUADS_ROWS),
            group_by=[column("epoch")],
        )
        found = {
            int(str(epoch)): (int(str(more)), int(str(less)))
            for epoch, more, less in engine.rows(per_epoch)
        }
        rows = self.lake.rows(TRANSACTIONS.name, ["epoch", "inserted", "deleted"]).to_pylist()
        said = {row["epoch"]: (row["inserted"], row["deleted"]) for row in rows}
        epoch = newest
        while epoch and found.get(epoch, (0, 0)) == said.get(epoch):
            epoch -= 1
        states = (
            sum(more - less for at, (more, less) in log.items() if at <= epoch)
            for log in (found, said)
        )
        return epoch if len({*states}) == 1 else None

    def _changed(self, known: Mapping[str, SourcePosition]) -> dict[str, str]:
        """By name of the source, which of its files has another content than was read."""
        sources = [each for each in all_sources(self.settings) if each.name in known]
        return {
            each.source: f"{each.path} has other content than was read"
            for each in changed_files(self.lake, sources).changed
        }


def _at_their_epochs() -> exp.Select:
    """The rows that were read, at the epochs of their change sets."""
    epoch = coalesce(column("epoch", "epochs"), column("epoch", "read"))
    return select(
        *columns(QUAD, "read"),
        exp.alias_(epoch, "epoch"),
        column("weight", "read"),
        from_=rows_of("read", "read"),
        joins=[
            left_join(
                rows_of("epochs", "epochs"),
                exp.EQ(this=column("epoch", "read"), expression=column("read_epoch", "epochs")),
            )
        ],
    )


def _in_turn(rows: exp.Query) -> exp.Select:
    """The rows of a log of which some may be lost: a quad appears first, and vanishes in turn."""
    before = exp.Lag(this=column("weight"), offset=small_number(1), default=small_number(-1))
    order = over(before, columns(QUAD), [ascending(column("epoch"))])
    sequenced = select(
        *columns((*QUAD, "epoch", "weight")),
        exp.alias_(order, "before"),
        from_=subquery(rows, "rows"),
    )
    return select(
        *columns(QUADS.column_names),
        from_=subquery(sequenced, "sequenced"),
        where=[column("weight").neq(column("before"))],
    )
