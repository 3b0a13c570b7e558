"""What a leg records: what is evaluated again, less what is stored, with the epoch of each row."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    bigint,
    column,
    columns,
    inner_join,
    number,
    rows_of,
    select,
    subquery,
    sum_of,
    union_all,
)
from weir.timeline.legs import Leg


def recorded(
    engine: SqlEngine, new: exp.Query, stored: str, names: tuple[str, ...], leg: Leg, prefix: str
) -> Statement:
    """The statement that makes the new rows of a leg: names, instant, epoch, weight.

    Args:
        engine: has the relation `stored`.
        new: the log of (low, high] as it is now, on the axis: names, epoch, weight.
        stored: the relation of the log as it is stored, on the axis, too.
        names: the columns of a row.
        leg: the epochs and instants.
        prefix: begins the names of relations.
    """
    stamps = f"{prefix}_stamps"
    engine.load(stamps, _stamps(leg))
    parts = [new]
    if leg.corrects:
        parts.append(_taken_back(stored, names, leg))
    return Statement(f"{prefix}_rows", _stamped(parts, names, stamps), "small")


def _taken_back(stored: str, names: tuple[str, ...], leg: Leg) -> exp.Select:
    """The stored rows of the instants that are evaluated again, with the opposite sign."""
    assert leg.known is not None, "it corrects"
    return select(
        *columns((*names, "epoch")),
        alias(-column("weight"), "weight"),
        from_=rows_of(stored),
        where=[column("epoch") > number(leg.low), column("epoch") <= number(leg.known)],
    )


def _stamps(leg: Leg) -> pa.Table:
    stamps = leg.stamps
    return pa.table(
        {
            "after": pa.array([stamp.after for stamp in stamps], pa.int64()),
            "last": pa.array([stamp.last for stamp in stamps], pa.int64()),
            "epoch": pa.array([stamp.epoch for stamp in stamps], pa.int64()),
        }
    )


def _stamped(parts: list[exp.Query], names: tuple[str, ...], stamps: str) -> exp.Select:
    """The net of logs on the axis, with the epoch of each instant."""
    netted = select(
        *columns((*names, "epoch")),
        alias(bigint(sum_of(column("weight"))), "weight"),
        from_=subquery(union_all(parts), "parts"),
        group_by=columns((*names, "epoch")),
        having=sum_of(column("weight")).neq(0),
    )
    return select(
        *columns(names, "n"),
        alias(column("epoch", "n"), "instant"),
        column("epoch", "s"),
        column("weight", "n"),
        from_=subquery(netted, "n"),
        joins=[
            inner_join(
                rows_of(stamps, "s"),
                column("epoch", "n") > column("after", "s"),
                column("epoch", "n") <= column("last", "s"),
            )
        ],
    )
