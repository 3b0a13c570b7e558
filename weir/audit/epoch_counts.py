"""Checks a rebuilt log by the numbers of quads that appear and vanish in each epoch.

`transactions` has these numbers of every epoch. If all agree, the log is as it was. If they agree
after some epoch, the log has all changes after that epoch, and is one state at it.
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
        """The counts of the rebuilt log, which is the relation `QUADS_ROWS`."""

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
        """The sums over all sources, by epoch."""
        totals: dict[int, tuple[int, int]] = {}
        for (_, at), (more, less) in self.rows.items():
            before = totals.get(at, (0, 0))
            totals[at] = before[0] + more, before[1] + less
        return totals

    def held(self, source: str | None = None, until: int | None = None) -> int:
        """The number of quads after an epoch, by default the newest, of one source or of all."""
        return sum(
            more - less
            for (name, at), (more, less) in self.rows.items()
            if source in (None, name) and (until is None or at <= until)
        )


def state_until(
    counts: Counts, lake: Lake, replays: Mapping[str, Replay], newest: int
) -> int | None:
    """The epoch up to which the log is one state; 0 if it has all changes; None if it is wrong.

    Args:
        counts: of the rebuilt log.
        lake: has `transactions`.
        replays: what was read again of each source, and what was not.
        newest: the newest epoch.
    """
    names = ["epoch", "inserted", "deleted"]
    recorded = {
        row["epoch"]: (row["inserted"], row["deleted"])
        for row in lake.rows(TRANSACTIONS.name, names).to_pylist()
    }
    if not all(_has_what_was_lost(counts, recorded, *replay) for replay in replays.items()):
        return None
    epoch, read = newest, counts.by_epoch()
    while epoch and read.get(epoch, (0, 0)) == recorded.get(epoch):
        epoch -= 1
    held = sum(more - less for at, (more, less) in recorded.items() if at <= epoch)
    return epoch if held == counts.held(until=epoch) else None


def _has_what_was_lost(
    counts: Counts, recorded: Mapping[int, tuple[int, int]], source: str, replay: Replay
) -> bool:
    """Whether the rows of a source that were taken over from the damaged log are complete."""
    single = [epoch for epoch in replay.lost if epoch > replay.until]
    if any(counts.rows.get((source, epoch), (0, 0)) != recorded[epoch] for epoch in single):
        return False
    if len(single) == len(replay.lost):
        return True
    mixed = [recorded[epoch] for epoch in replay.epochs if epoch <= replay.until]
    return sum(more - less for more, less in mixed) == counts.held(source, replay.until)
