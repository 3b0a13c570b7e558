"""Leave out of the embeddings of a query over streams what ended long ago.

Every solution that enters a window leaves it, so that most rows of the log come in pairs. Runs read
the state at the beginning of a leg, a sum over the whole log. Up to an instant before which no leg
begins, the log is therefore replaced by the state at that instant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from sqlglot import exp

from weir.compute.sql import (
    alias,
    bigint,
    column,
    columns,
    number,
    rows_of,
    select,
    subquery,
    sum_of,
    union_all,
)
from weir.timeline.legs import Leg

_LEAST_ROWS = 10_000
"""A log with fewer rows more than after the last time is left as it is."""


@dataclass(frozen=True, slots=True)
class ConsolidatedLog:
    """What the metadata of a table says of its last consolidation.

    Attributes:
        until: the instant up to which the log is a state; None if it has every change.
        rows: how many it had then.
    """

    until: int | None = None
    rows: int = 0

    @classmethod
    def from_json(cls, extra: Mapping[str, Any]) -> Self:
        """The inverse of `to_json`; the default value for a table that was never consolidated."""
        return cls(extra.get("consolidated_until"), extra.get("consolidated_rows", 0))

    def to_json(self) -> dict[str, Any]:
        """The fields for the metadata of every later commit."""
        if self.until is None:
            return {}
        return {"consolidated_until": self.until, "consolidated_rows": self.rows}

    def allows(self, leg: Leg) -> bool:
        """Whether the state at the beginning of a leg can be read."""
        return self.until is None or leg.known is None or leg.low >= self.until

    def has_grown(self, rows: int) -> bool:
        """Whether the log may have more rows that are not needed than rows that are."""
        return rows > 2 * self.rows + _LEAST_ROWS


def consolidated(stored: str, width: int, until: int, epoch: int) -> exp.Query:
    """The rows that say the same about every instant from `until` on.

    Args:
        stored: the relation of the embeddings: node, v0, .., instant, epoch, weight.
        width: how many variables it has.
        until: rows of later instants stay as they are; all others are published.
        epoch: of the rows of the state: one that is published.
    """
    row = ("node", *(f"v{i}" for i in range(width)))
    state = select(
        *columns(row),
        alias(number(until), "instant"),
        alias(number(epoch), "epoch"),
        alias(bigint(sum_of(column("weight"))), "weight"),
        from_=rows_of(stored),
        where=[column("instant") <= number(until)],
        group_by=columns(row),
        having=sum_of(column("weight")).neq(0),
    )
    rest = select(
        *columns((*row, "instant", "epoch", "weight")),
        from_=rows_of(stored),
        where=[column("instant") > number(until)],
    )
    return union_all([select("*", from_=subquery(state, "state")), rest])


def first_unpublished(stored: str, epoch: int) -> exp.Select:
    """The first instant of the rows of epochs after `epoch`; null if there are none."""
    return select(
        alias(exp.Min(this=column("instant")), "instant"),
        from_=rows_of(stored),
        where=[column("epoch") > number(epoch)],
    )
