"""Whether a log that was read again is what it was, by how many quads appear and vanish.

`transactions` has these numbers for every epoch. Where they agree, the log is what it was; where
they agree from an epoch on, what is before is a state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from sqlglot import exp

from weir.audit.graph import QUADS_ROWS
from weir.audit.replay import Replay
from weir.compute.engine import Engine
from weir.compute.sql import (
    case,
    coalesce,
    column,
    columns,
    equal,
    left_join,
    number,
    rows_of,
    select,
    small_number,
    subquery,
    text,
)
from weir.lake.lake import Lake
from weir.lake.tables import GRAPHS, TRANSACTIONS


@dataclass(frozen=True, slots=True)
class Counts:
    """How many quads appear and vanish, by source and epoch."""

    rows: Mapping[tuple[str, int], tuple[int, int]]

    @classmethod
    def of(cls, engine: Engine) -> Self:
        """Those of the log that was read, which is the relation `QUADS_ROWS`."""

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


def state_until(
    counts: Counts, lake: Lake, replays: Mapping[str, Replay], newest: int
) -> int | None:
    """The epoch up to which a log is a state only, 0 if none; None if it is right at no epoch.

    Args:
        counts: of the log that was read again.
        lake: that has `transactions`.
        replays: what was read of each source, and what was not.
        newest: the newest epoch.
    """
    names = ["epoch", "inserted", "deleted"]
    said = {
        row["epoch"]: (row["inserted"], row["deleted"])
        for row in lake.rows(TRANSACTIONS.name, names).to_pylist()
    }
    if not all(_has_what_was_lost(counts, said, *replay) for replay in replays.items()):
        return None
    epoch, read = newest, counts.by_epoch()
    while epoch and read.get(epoch, (0, 0)) == said.get(epoch):
        epoch -= 1
    held = sum(more - less for at, (more, less) in said.items() if at <= epoch)
    return epoch if held == counts.held(until=epoch) else None


def _has_what_was_lost(
    counts: Counts, said: Mapping[int, tuple[int, int]], source: str, replay: Replay
) -> bool:
    """Whether all of a source was taken over that no state replaces which was read since."""
    single = [epoch for epoch in replay.lost if epoch > replay.until]
    if any(counts.rows.get((source, epoch), (0, 0)) != said[epoch] for epoch in single):
        return False
    if len(single) == len(replay.lost):
        return True
    mixed = [said[epoch] for epoch in replay.epochs if epoch <= replay.until]
    return sum(more - less for more, less in mixed) == counts.held(source, replay.until)
