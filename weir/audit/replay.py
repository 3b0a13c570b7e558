"""Ingests the change sets of sources again, to rebuild the log of the graph.

A source is read from its beginning by the code of ingest, without guards: each of its change sets
was accepted before. Where change sets are gone, the rows of their epochs are taken over from the
damaged log, as far as they can be read, before the next change sets are read.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Self

from weir.audit.damaged_log import DamagedLog
from weir.compute.engine import Engine
from weir.errors import WeirError
from weir.ingest import clock
from weir.ingest.batch import BatchResult, ingest_batch
from weir.ingest.changesets import ChangeSet, SourcePosition
from weir.ingest.endings import is_ending, renamed
from weir.ingest.epochs import Transaction
from weir.ingest.journal import Journal
from weir.ingest.pending import next_batch, positions_after, source_positions
from weir.ingest.sources.all_sources import all_sources
from weir.ingest.sources.source import Source
from weir.ingest.stopped_sources import StoppedSource
from weir.lake.counted import counted
from weir.lake.lake import Lake
from weir.lake.tables import TRANSACTIONS
from weir.progress.streams import stream_names
from weir.project import Project
from weir.stage import Progress


@dataclass(frozen=True, slots=True)
class _Ingested:
    """A change set that `transactions` names: its epoch, and its id."""

    epoch: int
    change_id: str | None


@dataclass(slots=True)
class Replay:
    """A source whose change sets are read again, and how far that is.

    Attributes:
        known: how far the source was ingested.
        ingested: all ingested change sets of the source, by position, in order.
        left: the positions that are not read yet, in order.
        change_sets: the change sets that can be read again, by position.
        why: a sentence about what cannot be read again; empty if everything can.
        until: the epoch up to which all rows of the source are copied from the damaged log, because
            the log no longer separates the changes of these epochs; 0 if none are copied for that.
        lost: the epochs copied from the damaged log since the last state that was read.
    """

    known: SourcePosition
    ingested: Mapping[str, _Ingested]
    left: deque[str]
    change_sets: dict[str, ChangeSet]
    why: str
    until: int
    lost: list[int] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        known: SourcePosition,
        ingested: Mapping[str, _Ingested],
        declared: Source | None,
        project: Project,
        consolidated: int,
    ) -> Self:
        """Decide what of a source is read, and what is taken over.

        Args:
            known: how far it was ingested.
            ingested: all its positions, in order.
            declared: the source; None if it is no longer declared.
            project: whose sources are read.
            consolidated: the epoch up to which the damaged log mixes changes of several epochs.
        """
        change_sets, why = _readable(known, declared, project)
        missing = [position for position in known.positions if position not in change_sets]
        if missing and not why:
            names = ", ".join(missing[:3])
            others = f" and {len(missing) - 3:,} more" if len(missing) > 3 else ""
            why = f"{names}{others} cannot be read again"
        is_mixed = any(ingested[position].epoch <= consolidated for position in missing)
        until = consolidated if is_mixed else 0
        change_sets = {
            position: change_set
            for position, change_set in change_sets.items()
            if position in ingested and ingested[position].epoch > until
        }
        return cls(known, ingested, deque(known.positions), change_sets, why, until)

    @property
    def epochs(self) -> list[int]:
        """The epochs of all its change sets."""
        return [change_set.epoch for change_set in self.ingested.values()]

    def missing(self) -> list[str]:
        """Take the next positions, up to one that can be read, off those that are left."""
        missing = []
        while self.left and self.left[0] not in self.change_sets:
            missing.append(self.left.popleft())
        self.lost += [self.ingested[position].epoch for position in missing]
        return missing

    def taken_over(self, missing: Sequence[str]) -> set[int]:
        """The epochs to take over from the damaged log in the place of missing positions."""
        epochs = {self.ingested[position].epoch for position in missing}
        return epochs | {*range(1, self.until + 1)} if min(epochs) <= self.until else epochs

    def readable(self) -> list[ChangeSet]:
        """The next change sets, up to one that cannot be read."""
        return [
            self.change_sets[position]
            for position in takewhile(self.change_sets.__contains__, self.left)
        ]

    def read(self, position: str, *, is_state: bool) -> None:
        """Note that a change set was read; `is_state`: it replaces all change sets before it."""
        while self.left and self.left.popleft() != position:
            pass
        state = self.change_sets[position].state
        if is_state or (state is not None and state.graphs is None):
            self.lost.clear()

    def leave_out(self, why: str, *, all_left: bool) -> None:
        """Do not read the next change set, or any that is left, because of `why`."""
        self.why = why
        for position in self.left if all_left else [*self.left][:1]:
            self.change_sets.pop(position, None)


def replays_of(project: Project, consolidated: int) -> dict[str, Replay]:
    """The sources that the log of the graph is rebuilt from, by name.

    Args:
        project: whose sources are read.
        consolidated: the epoch up to which the damaged log mixes changes of several epochs.
    """
    lake = project.lake
    ingested, streams = _ingested(lake), stream_names(lake)
    declared = {source.name: source for source in all_sources(project.settings)}
    return {
        name: Replay.of(known, ingested[name], declared.get(name), project, consolidated)
        for name, known in source_positions(lake).items()
        if known.ended is None and name not in streams
    }


def _readable(
    known: SourcePosition, declared: Source | None, project: Project
) -> tuple[dict[str, ChangeSet], str]:
    """The change sets of a source that can be read, by position; and why it has none."""
    if declared is None:
        return {}, "it is no longer declared"
    source = declared.called_first(known.first_name)
    if known.positions:
        source = source.as_first_read(known.positions)
    try:
        pending = source.pending(SourcePosition(first_name=known.first_name), project)
    except (WeirError, OSError) as error:
        return {}, str(error)
    return {change_set.position: change_set for change_set in pending if not change_set.waits}, ""


def _ingested(lake: Lake) -> Mapping[str, Mapping[str, _Ingested]]:
    """By present name of the source, its ingested change sets by position."""
    sources: dict[str, dict[str, _Ingested]] = defaultdict(dict)
    names = ["epoch", "source", "position", "change_id"]
    for row in lake.rows(TRANSACTIONS.name, names).sort_by("epoch").to_pylist():
        source, position = row["source"], row["position"]
        if is_ending(position):
            old = renamed(position)
            sources[source] = {} if old is None else sources.pop(old, {})
        elif position is not None:
            sources[source][position] = _Ingested(row["epoch"], row["change_id"])
    return sources


@dataclass(frozen=True, slots=True)
class Reading:
    """Reads all sources again, into the temporary lake of a rebuild.

    Attributes:
        project: whose sources are read.
        new_engine: gives an engine of the temporary lake.
        journal: of the temporary lake.
        damaged: the damaged log.
        progress: receives lines.
    """

    project: Project
    new_engine: Callable[[], Engine]
    journal: Journal
    damaged: DamagedLog
    progress: Progress

    def read(self, replays: Mapping[str, Replay]) -> dict[int, int]:
        """Read all sources; gives, by epoch of the temporary lake, the original epoch."""
        positions = positions_after(
            {
                name: replace(replay.known, positions=(), last_id=None)
                for name, replay in replays.items()
            },
            (),
        )
        epochs: dict[int, int] = {}
        while any(replay.left for replay in replays.values()):
            queue: list[ChangeSet] = []
            for name, replay in replays.items():
                missing = replay.missing()
                if missing:
                    at = replay.taken_over(missing)
                    self.damaged.take_over(self.new_engine, self.journal, name, at)
                    passed = [self._passed(name, replay, position) for position in missing]
                    positions = positions_after(positions, passed)
                queue += replay.readable()
            while queue:
                batch, queue = next_batch(queue, self.project.settings.limits)
                result = self._ingest(batch, positions)
                positions = positions_after(positions, result.transactions)
                for done in result.transactions:
                    replay, position = replays[done.source], str(done.position)
                    # Every position was ingested: with `as_first_read`, a source ends with the last
                    # one, even if its newest content is read.
                    epochs[done.epoch] = replay.ingested[position].epoch
                    replay.read(position, is_state=done.source in result.caught_up)
                _leave_out(result, replays)
                queue = [later for later in queue if later.source.name not in result.ended]
        return epochs

    def _ingest(
        self, batch: Sequence[ChangeSet], positions: Mapping[str, SourcePosition]
    ) -> BatchResult:
        """Ingest change sets into the temporary lake, without guards."""
        names = [*dict.fromkeys(change_set.source.name for change_set in batch)]
        permits = {
            name: _Everything(name, "stopped", None, "", None, clock.now(), self.journal.run_id)
            for name in names
        }
        number = counted(len(batch), "change set")
        self.progress(f"reading {number} of {', '.join(names)} again")
        with self.new_engine() as engine:
            return ingest_batch(engine, self.project, self.journal, batch, positions, permits)

    def _passed(self, name: str, replay: Replay, position: str) -> Transaction:
        """The transaction by which a change set that was not read counts as read."""
        known = replay.ingested[position]
        return Transaction(
            epoch=known.epoch,
            source=name,
            position=position,
            change_id=known.change_id,
            ingested_at=clock.now(),
            run_id=self.journal.run_id,
        )


class _Everything(StoppedSource):
    """Accepts every change set: all were accepted when they were ingested."""

    def accepts(self, position: str, excess: str) -> bool:
        del position, excess
        return True


def _leave_out(result: BatchResult, replays: Mapping[str, Replay]) -> None:
    """Leave out the change sets at which sources stopped."""
    for name, error in result.stopped.items():
        replays[name].leave_out(error.what, all_left=error.position is None)
    for name, waiting in result.waiting.items():
        replays[name].leave_out(waiting.reason, all_left=False)
