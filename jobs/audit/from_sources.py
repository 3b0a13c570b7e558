"""The log of the graph, read again from the sources: `quads`, and the `triples` that follow.

A graph belongs to one source, so that the rows of a source follow from its change sets alone. Each
change set that is still there is read as when it was ingested, into a temporary lake, and its rows
get the epoch that `transactions` names for it. Of change sets that are gone, the rows of their
epochs are taken over that can still be read of the damaged log. Then the rows of every epoch are
counted: where there are as many as `transactions` says, the log is what it was. Otherwise it is a
state, from a new epoch on, and queries publish the difference there.
"""

from __future__ import annotations

import shutil
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.dataset as ds
from sqlglot import exp

from jobs.audit.graph import QUADS_ROWS, union_log
from jobs.compute.engine import Engine
from jobs.compute.relations import Statement
from jobs.compute.session import Session
from jobs.compute.sql import (
    case,
    coalesce,
    column,
    columns,
    equal,
    left_join,
    number,
    rows_of,
    select,
    semi_join,
    small_number,
    subquery,
    text,
)
from jobs.errors import WeirError
from jobs.ingest import clock, netting
from jobs.ingest.batch import BatchResult, ingest_batch
from jobs.ingest.changesets import ChangeSet, SourcePosition
from jobs.ingest.endings import is_ending, renamed
from jobs.ingest.journal import JOB, Journal, Transaction, append
from jobs.ingest.netting import QUAD
from jobs.ingest.pending import next_batch, positions_after, source_positions
from jobs.ingest.source_files import read_otherwise
from jobs.ingest.sources.all_sources import all_sources
from jobs.ingest.stopped_sources import StoppedSource
from jobs.progress.streams import stream_names
from jobs.progress.watermarks import head
from jobs.settings import Settings
from jobs.stage import Progress
from lake import file_commits
from lake.claims import require_held
from lake.commit import checkpoint, create_if_missing, write
from lake.consolidated import consolidated_until, note_consolidation
from lake.counted import counted
from lake.damaged_files import damaged_files
from lake.file_commits import files_of
from lake.lake import Lake, local_folder
from lake.metadata import Metadata
from lake.storage_errors import StorageError
from lake.tables import GRAPHS, QUADS, TRANSACTIONS, TRIPLES, Table

_FOLDER = "_rebuilt"
"""Below the lake's folder: the temporary lake, which is gone at the end."""
_REPLACED = "_replaced"
"""Below the lake's folder: what of the damaged log a repair that was killed had replaced."""
_MADE: Mapping[Table, str] = {QUADS: "made_quads", TRIPLES: "made_triples"}
"""The names of the new tables in the temporary lake."""
_OLD = "old_quads"
"""The name of a copy in the temporary lake of what can be read of the damaged log."""


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


def rebuilt_graph(
    session: Session, settings: Settings, lake: Lake, run_id: str, progress: Progress
) -> RebuiltGraph:
    """Read the sources again, into a temporary lake; nothing of the lake is changed.

    Raises:
        WeirError: the lake is in an object store, or the log cannot be rebuilt.
    """
    folder = local_folder(lake.root)
    if folder is None:
        raise WeirError(
            "a lake in an object store is not rebuilt from its sources",
            lake.root,
            "Copy it to a folder, repair it there (`lake` in the configuration), and copy it back.",
        )
    if not lake.exists(GRAPHS.name):
        raise WeirError(
            "the log of the graph is not rebuilt without the table graphs, which is gone",
            lake.location(GRAPHS.name),
            "Restore it from a backup.",
        )
    shutil.rmtree(folder / _FOLDER, ignore_errors=True)
    # As deep as no table is: readers of the lake do not take them for its own.
    temporary = Lake(str(folder / _FOLDER / "lake"))
    return _Rebuild(session, settings, lake, folder, temporary, run_id, progress).made()


def put_in_place(lake: Lake, rebuilt: RebuiltGraph, run_id: str) -> None:
    """Replace the log of the graph by the rebuilt one.

    `quads` goes first and comes last: without it no stage works, and a repair that was killed is
    repeated, with what could be read of the old one.

    Raises:
        Superseded: another run has taken a claim of this one over; nothing is replaced.
    """
    folder, until = local_folder(lake.root), max(rebuilt.head, rebuilt.until)
    assert folder is not None, "it was rebuilt"
    # A folder that is renamed passes no fence. A commit does: a run that took a claim over and has
    # not committed yet is refused its first commit of epochs.
    file_commits.append(lake.existing(TRANSACTIONS.name), (), guard=lake.guard(TRANSACTIONS.name))
    lake.committed(TRANSACTIONS.name)
    for table in (QUADS, TRIPLES):
        checkpoint(f"repair:before:take:{table.name}")
        require_held(lake)
        _take_out(lake, folder, table)
    checkpoint("repair:after:take:triples")
    rows = lake.rows(TRANSACTIONS.name).to_pylist()
    if rebuilt.corrected:
        now = Transaction(until, rebuilt.corrected, None, None, None, clock.now(), 0, 0, 0, run_id)
        rows.append({name: getattr(now, name, None) for name in TRANSACTIONS.column_names})
    # Their feeds begin with a commit that has all rows.
    named = {f"{table.name}_version": version for table, version in rebuilt.versions.items()}
    metadata = Metadata(run_id, JOB, until)
    write(lake, TRANSACTIONS, [row | named for row in rows], metadata, mode="overwrite")
    for table in (TRIPLES, QUADS):
        checkpoint(f"repair:before:put:{table.name}")
        require_held(lake)
        made = local_folder(rebuilt.temporary.location(_MADE[table]))
        assert made is not None, "it is in a folder"
        made.rename(folder / table.name)
        lake.forget(table.name)
    checkpoint("repair:after:put:quads")
    shutil.rmtree(folder / _REPLACED, ignore_errors=True)


def discard(lake: Lake) -> None:
    """Remove the temporary lake."""
    folder = local_folder(lake.root)
    if folder is not None:
        shutil.rmtree(folder / _FOLDER, ignore_errors=True)


def _take_out(lake: Lake, folder: Path, table: Table) -> None:
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
class _Replay:
    """How far the change sets of a source are read again.

    Attributes:
        epochs: of all its positions, in order.
        left: the positions that are not read yet, in order.
        there: the change sets that can be read, by position.
        until: up to this epoch the damaged log has all or nothing of the source.
        lost: the epochs that were taken over from the damaged log since its last whole state.
    """

    epochs: Mapping[str, int]
    left: deque[str]
    there: dict[str, ChangeSet]
    until: int = 0
    lost: list[int] = field(default_factory=list)

    def missing(self) -> list[str]:
        """Take the next positions that cannot be read."""
        missing = []
        while self.left and self.left[0] not in self.there:
            missing.append(self.left.popleft())
        self.lost += [self.epochs[position] for position in missing]
        return missing

    def readable(self) -> list[ChangeSet]:
        """The next change sets up to one that cannot be read."""
        return [self.there[position] for position in takewhile(self.there.__contains__, self.left)]

    def read(self, position: str, *, is_state: bool) -> None:
        """Note that a change set was read, perhaps as a state in place of those before it."""
        while self.left and self.left.popleft() != position:
            pass
        state = self.there[position].state
        if is_state or (state is not None and state.graphs is None):
            self.lost.clear()

    def leave_out(self, *, all_left: bool) -> None:
        """Read the next change set no more, or none of those that are left."""
        for position in self.left if all_left else [*self.left][:1]:
            self.there.pop(position, None)


@dataclass(slots=True)
class _Rebuild:
    """The rebuilding of one graph."""

    session: Session
    settings: Settings
    lake: Lake
    folder: Path
    temporary: Lake
    run_id: str
    progress: Progress
    why: dict[str, str] = field(default_factory=dict)
    """By name of the source, what of it could not be read again."""
    ids: dict[int, str | None] = field(default_factory=dict)
    """The ids of change sets, by epoch."""

    def made(self) -> RebuiltGraph:
        positions, newest = source_positions(self.lake), head(self.lake)
        streams = stream_names(self.lake)
        known = {
            name: position
            for name, position in positions.items()
            if position.ended is None and name not in streams
        }
        journal = Journal(self.temporary, self.run_id, self.settings.limits.literal_predicates)
        write(self.temporary, GRAPHS, self.lake.rows(GRAPHS.name), journal.metadata(newest))
        epochs = self._epochs_of_positions()
        old = self._old_log()
        consolidated = 0 if old is None else consolidated_until(old, QUADS.name)
        replays = {
            name: self._replay(name, position, epochs[name], consolidated)
            for name, position in known.items()
        }
        # The epochs of what is read come after all that are known.
        conclusion = Transaction(newest, "", None, None, None, clock.now(), 0, 0, 0, self.run_id)
        journal.conclude([conclusion])
        mapping = self._replayed(journal, old, known, replays)
        with Engine.of(self.settings, self.temporary, self.session, JOB) as engine:
            return self._written(engine, mapping, known, replays, newest)

    def _replay(
        self, name: str, known: SourcePosition, own: Mapping[str, int], consolidated: int
    ) -> _Replay:
        """What of a source is read, and what is taken over."""
        there = self._there(name, known)
        missing = [position for position in known.positions if position not in there]
        if missing and name not in self.why:
            names = ", ".join(missing[:3])
            others = f" and {len(missing) - 3:,} more" if len(missing) > 3 else ""
            self.why[name] = f"{names}{others} cannot be read again"
        # In a consolidated log the changes of an epoch are mixed with those of others.
        until = consolidated if any(own[position] <= consolidated for position in missing) else 0
        there = {
            position: change_set
            for position, change_set in there.items()
            if own.get(position, 0) > until
        }
        return _Replay(own, deque(known.positions), there, until)

    def _there(self, name: str, known: SourcePosition) -> dict[str, ChangeSet]:
        """The change sets of a source that are there, by position."""
        declared = {source.name: source for source in all_sources(self.settings)}.get(name)
        if declared is None:
            self.why[name] = "it is no longer declared"
            return {}
        source = declared.called_first(known.first_name)
        if known.positions:
            source = source.as_first_read(known.positions)
        beginning = SourcePosition(first_name=known.first_name)
        try:
            pending = source.pending(beginning, self.settings)
        except (WeirError, OSError) as error:
            self.why[name] = str(error)
            return {}
        return {change_set.position: change_set for change_set in pending if not change_set.waits}

    def _epochs_of_positions(self) -> dict[str, dict[str, int]]:
        """The epoch of each change set, by the name that its source has now."""
        epochs: dict[str, dict[str, int]] = defaultdict(dict)
        names = ["epoch", "source", "position", "change_id"]
        for row in self.lake.rows(TRANSACTIONS.name, names).sort_by("epoch").to_pylist():
            source, position = row["source"], row["position"]
            if is_ending(position):
                old = renamed(position)
                epochs[source] = {} if old is None else epochs.pop(old, {})
            elif position is not None:
                epochs[source][position] = row["epoch"]
                self.ids[row["epoch"]] = row["change_id"]
        return epochs

    def _old_log(self) -> Lake | None:
        """The lake that has the damaged log; None if nothing of it can be read."""
        for lake in (self.lake, Lake(str(_replaced(self.folder)))):
            if not lake.exists(QUADS.name):
                continue
            try:
                lake.existing(QUADS.name)
            except StorageError:
                return None
            return lake
        return None

    def _replayed(
        self,
        journal: Journal,
        old: Lake | None,
        known: Mapping[str, SourcePosition],
        replays: Mapping[str, _Replay],
    ) -> dict[int, int]:
        """Read all sources again; the epoch that was known, by the epoch at which it was read."""
        positions = positions_after(
            {
                name: replace(position, positions=(), last_id=None)
                for name, position in known.items()
            },
            (),
        )
        mapping: dict[int, int] = {}
        while any(replay.left for replay in replays.values()):
            queue: list[ChangeSet] = []
            for name, replay in replays.items():
                missing = replay.missing()
                if missing:
                    self._take_over(journal, old, name, replay, missing)
                    passed = [self._passed(name, replay, position) for position in missing]
                    positions = positions_after(positions, passed)
                queue += replay.readable()
            while queue:
                batch, queue = next_batch(queue, self.settings.limits)
                result = self._ingested(journal, batch, positions)
                positions = positions_after(positions, result.transactions)
                for done in result.transactions:
                    replay, position = replays[done.source], str(done.position)
                    if position not in replay.epochs:
                        raise WeirError(
                            f"source {done.source}: {position} was read in place of what was"
                            " ingested, which is no longer there",
                            self.lake.location(QUADS.name),
                            "Restore the table quads from a backup.",
                        )
                    mapping[done.epoch] = replay.epochs[position]
                    replay.read(position, is_state=done.source in result.caught_up)
                self._leave_out(result, replays)
                queue = [later for later in queue if later.source.name not in result.ended]
        return mapping

    def _ingested(
        self, journal: Journal, batch: Sequence[ChangeSet], positions: Mapping[str, SourcePosition]
    ) -> BatchResult:
        """Read change sets as an ingest does."""
        names = [*dict.fromkeys(change_set.source.name for change_set in batch)]
        permits = {
            name: _Everything(name, "stopped", None, "", None, clock.now(), self.run_id)
            for name in names
        }
        number = counted(len(batch), "change set")
        self.progress(f"reading {number} of {', '.join(names)} again")
        with Engine.of(self.settings, self.temporary, self.session, JOB) as engine:
            return ingest_batch(engine, self.settings, journal, batch, positions, permits)

    def _leave_out(self, result: BatchResult, replays: Mapping[str, _Replay]) -> None:
        """Go on without the change sets at which sources stopped."""
        for name, error in result.stopped.items():
            self.why[name] = error.what
            replays[name].leave_out(all_left=error.position is None)
        for name, waiting in result.waiting.items():
            self.why[name] = waiting.reason
            replays[name].leave_out(all_left=False)

    def _passed(self, name: str, replay: _Replay, position: str) -> Transaction:
        """What the position of a source is after a change set that was not read."""
        epoch = replay.epochs[position]
        now = clock.now()
        change_id = self.ids[epoch]
        return Transaction(epoch, name, position, change_id, None, now, 0, 0, 0, self.run_id)

    def _take_over(
        self, journal: Journal, old: Lake | None, name: str, replay: _Replay, missing: Sequence[str]
    ) -> None:
        """Take over what the damaged log has of change sets that cannot be read."""
        if old is None or not self._copied(old, journal):
            return
        at = {replay.epochs[position] for position in missing}
        if min(at) <= replay.until:
            at |= {*range(1, replay.until + 1)}
        with Engine.of(self.settings, self.temporary, self.session, JOB) as engine:
            engine.open("old", _OLD)
            engine.load("missing", pa.table({"epoch": pa.array(sorted(at), pa.int64())}))
            engine.open("owners", GRAPHS.name, where=column("source").eq(text(name)))
            engine.open("stored", QUADS.name)
            # As assertions: rows that are lost, or that nobody wrote, give no second `+1`.
            engine.make(Statement("taken", _as_assertions("old", "owners", "missing"), "cache"))
            engine.make(Statement("about", netting.rows_about("stored", "taken", QUAD)))
            engine.make(Statement("present", netting.present("about"), "cache"))
            engine.make(Statement("log", netting.net_quads("taken", "present"), "cache"))
            rows = engine.count("log")
            if rows:
                log = select(*columns(QUADS.column_names), from_=rows_of("log"))
                append(engine, QUADS, log, journal.metadata(journal.head()), rows)

    def _copied(self, old: Lake, journal: Journal) -> bool:
        """Copy the rows of intact files of the damaged log, once; whether there are any."""
        table = replace(QUADS, name=_OLD)
        if self.temporary.exists(_OLD):
            return True
        folder = local_folder(old.location(QUADS.name))
        assert folder is not None, "it is in a folder"
        stored = old.existing(QUADS.name)
        bad = {file.name for file in damaged_files(folder, stored)}
        files = [path for path, _ in files_of(stored) if path.rpartition("/")[2] not in bad]
        if not files:
            return False
        rows = ds.dataset([str(folder / path) for path in files]).scanner().to_reader()
        write(self.temporary, table, rows, journal.metadata(journal.head()))
        return True

    def _written(
        self,
        engine: Engine,
        mapping: Mapping[int, int],
        known: Mapping[str, SourcePosition],
        replays: Mapping[str, _Replay],
        newest: int,
    ) -> RebuiltGraph:
        """Write the new tables."""
        engine.open("read", QUADS.name)
        epochs = {"read_epoch": [*mapping], "epoch": [*mapping.values()]}
        engine.load(
            "epochs",
            pa.table({name: pa.array(values, pa.int64()) for name, values in epochs.items()}),
        )
        engine.make(Statement(QUADS_ROWS, _at_their_epochs(), "cache"))
        counts = _Counts.of(engine)
        changed = self._changed(known)
        for name, what in changed.items():
            self.why[name] = "; ".join(filter(None, (self.why.get(name), what)))
        sources = tuple(
            RebuiltSource(name, position.quads, counts.held(name), self.why.get(name, ""))
            for name, position in sorted(known.items())
            if position.quads or counts.held(name) or name in self.why
        )
        until = self._until(counts, replays, newest)
        wrong = [source.name for source in sources if source.held != source.read]
        corrected = ""
        if until is None or wrong or changed:
            until = newest + 1
            corrected = next(
                iter((*wrong, *(source.name for source in sources if source.why), *known)), ""
            )
            if not corrected:
                raise WeirError(
                    "the log of the graph cannot be rebuilt: no source of it is left",
                    self.lake.location(QUADS.name),
                    "Restore the table quads from a backup.",
                )
        engine.make(Statement("union_rows", union_log(newest), "cache"))
        metadata = Metadata(self.run_id, JOB, max(newest, until), extra={"transactions": []})
        versions = {}
        for table, relation in ((QUADS, QUADS_ROWS), (TRIPLES, "union_rows")):
            made = replace(table, name=_MADE[table])
            create_if_missing(self.temporary, made)
            if until:
                note_consolidation(self.temporary, made.name, until)
            rows = engine.count(relation)
            versions[table] = engine.write(made, relation, metadata, rows=rows).version
        return RebuiltGraph(self.temporary, versions, newest, until, corrected, sources)

    def _until(self, counts: _Counts, replays: Mapping[str, _Replay], newest: int) -> int | None:
        """The epoch up to which the log is a state only, 0 if none; None if it never is right."""
        names = ["epoch", "inserted", "deleted"]
        said = {
            row["epoch"]: (row["inserted"], row["deleted"])
            for row in self.lake.rows(TRANSACTIONS.name, names).to_pylist()
        }
        for name, replay in replays.items():
            # What was neither read nor follows from a state that was.
            if any(
                counts.rows.get((name, epoch), (0, 0)) != said[epoch]
                for epoch in replay.lost
                if epoch > replay.until
            ):
                return None
            if any(epoch <= replay.until for epoch in replay.lost):
                before = [epoch for epoch in replay.epochs.values() if epoch <= replay.until]
                held = sum(said[epoch][0] - said[epoch][1] for epoch in before)
                if held != counts.held(name, replay.until):
                    return None
        epoch, read = newest, counts.by_epoch()
        while epoch and read.get(epoch, (0, 0)) == said.get(epoch):
            epoch -= 1
        held = sum(more - less for at, (more, less) in said.items() if at <= epoch)
        return epoch if held == counts.held(until=epoch) else None

    def _changed(self, known: Mapping[str, SourcePosition]) -> dict[str, str]:
        """By name of the source, which of its files has another content than was read."""
        sources = [source for source in all_sources(self.settings) if source.name in known]
        return {
            file.source: f"{file.path or file.file} has other content than was read"
            for file in read_otherwise(self.lake, self.temporary, sources)
        }


@dataclass(frozen=True, slots=True)
class _Counts:
    """How many quads appear and vanish, by source and epoch."""

    rows: Mapping[tuple[str, int], tuple[int, int]]

    @classmethod
    def of(cls, engine: Engine) -> Self:
        """Those of the log that was read."""

        def times(weight: int) -> exp.Expr:
            return exp.Count(this=case((column("weight").eq(number(weight)), small_number(1))))

        engine.open("owner_of", GRAPHS.name)
        owner, epoch = coalesce(column("source", "owner_of"), text("")), column("epoch", "log")
        owned = select(
            exp.alias_(owner, "source"),
            epoch,
            column("weight", "log"),
            from_=rows_of(QUADS_ROWS, "log"),
            joins=[
                left_join(rows_of("owner_of", "owner_of"), *equal(["graph"], "log", "owner_of"))
            ],
        )
        counts = select(
            *columns(("source", "epoch")),
            times(1),
            times(-1),
            from_=subquery(owned, "owned"),
            group_by=columns(("source", "epoch")),
        )
        return cls(
            {
                (str(source), int(str(at))): (int(str(more)), int(str(less)))
                for source, at, more, less in engine.rows(counts)
            }
        )

    def by_epoch(self) -> dict[int, tuple[int, int]]:
        """Those of all sources."""
        totals: dict[int, tuple[int, int]] = {}
        for (_, at), (more, less) in self.rows.items():
            before = totals.get(at, (0, 0))
            totals[at] = before[0] + more, before[1] + less
        return totals

    def held(self, source: str | None = None, until: int | None = None) -> int:
        """How many there are after an epoch, of a source or of all."""
        return sum(
            more - less
            for (name, at), (more, less) in self.rows.items()
            if source in (None, name) and (until is None or at <= until)
        )


def _as_assertions(old: str, owners: str, epochs: str) -> exp.Select:
    """The rows of a log in the graphs of `owners`, as `netting` has quad assertions.

    Of the `epochs` only.
    """
    return select(
        column("epoch", "old"),
        exp.alias_(number(0), "line"),
        exp.alias_(column("weight", "old") > number(0), "insert"),
        *columns(QUAD, "old"),
        from_=rows_of(old, "old"),
        joins=[
            semi_join(rows_of(owners, "owned"), *equal(["graph"], "old", "owned")),
            semi_join(rows_of(epochs, "wanted"), *equal(["epoch"], "old", "wanted")),
        ],
    )


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
