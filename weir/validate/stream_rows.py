"""The rows that the suite `streams` checks: one for each new epoch of every stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    all_of,
    ascending,
    bigint,
    column,
    columns,
    equal,
    left_join,
    number,
    over,
    rows_of,
    select,
    subquery,
    sum_of,
    text,
    union_all,
)
from weir.lake.lake import Lake
from weir.lake.tables import STREAM_EPOCHS, STREAMS, TRANSACTIONS
from weir.progress.streams import EpochBounds, epoch_bounds, stream_names


@dataclass(frozen=True, slots=True)
class CheckedStream:
    """A stream with new epochs, the instants accepted in each, and its `max_late_share`."""

    name: str
    bounds: Sequence[EpochBounds]
    max_late_share: float | None


def checked_streams(
    lake: Lake, from_epoch: int, to_epoch: int, max_late_shares: Mapping[str, float]
) -> list[CheckedStream]:
    """The streams with epochs in (from_epoch, to_epoch]; `max_late_shares` by declared stream."""
    streams = [
        CheckedStream(
            name, epoch_bounds(lake, name, from_epoch, to_epoch), max_late_shares.get(name)
        )
        for name in stream_names(lake)
    ]
    return [checked for checked in streams if checked.bounds]


def make_stream_rows(
    engine: Engine, name: str, streams: Sequence[CheckedStream], from_epoch: int, to_epoch: int
) -> None:
    """Make the relation `name`: a row for each epoch in (from_epoch, to_epoch] of the streams."""
    new = [column("epoch") > number(from_epoch), column("epoch") <= number(to_epoch)]
    engine.open("stream_epochs_log", STREAM_EPOCHS.name)
    engine.open("stream_transactions", TRANSACTIONS.name, where=all_of(new))
    engine.load("checked_streams", _bounds(streams))
    parts: list[exp.Query] = [_recorded(from_epoch, to_epoch), _transactions()]
    for index, checked in enumerate(streams):
        relation = f"events_of_stream_{index}"
        where = all_of([condition.copy() for condition in new])
        engine.open(relation, STREAMS.name(checked.name), where=where)
        parts.append(_events(relation, checked.name))
    engine.make(Statement(name, _checked(union_all(parts))))


_MEASURES = (
    "frontier",
    "frontier_before",
    "counted",
    "late",
    "early",
    "recorded",
    "transactions",
    "found",
    "first_instant",
    "last_instant",
)
_SUMS = ("recorded", "transactions", "found")


def _part(stream_: exp.Expr, **measures: exp.Expr) -> list[exp.Expr]:
    """The columns of a part; missing measures are 0 if they are summed up, else null."""
    part: list[exp.Expr] = [alias(stream_, "stream"), column("epoch")]
    for name in _MEASURES:
        missing = number(0) if name in _SUMS else bigint(exp.null())
        part.append(alias(measures.get(name, missing), name))
    return part


def _recorded(from_epoch: int, to_epoch: int) -> exp.Select:
    before = over(
        exp.Lag(this=column("frontier")), [column("stream")], [ascending(column("epoch"))]
    )
    counts = ("late", "early")
    every = select(
        *columns(("stream", "epoch", "frontier", *counts)),
        alias(column("rows"), "counted"),
        alias(before, "frontier_before"),
        from_=rows_of("stream_epochs_log"),
    )
    measures = {name: column(name) for name in ("frontier", "frontier_before", "counted", *counts)}
    return select(
        *_part(column("stream"), **measures, recorded=number(1)),
        from_=subquery(every, "epochs"),
        where=[column("epoch") > number(from_epoch), column("epoch") <= number(to_epoch)],
    )


def _transactions() -> exp.Select:
    known = select(column("stream"), from_=rows_of("checked_streams"))
    return select(
        *_part(column("source"), transactions=number(1)),
        from_=rows_of("stream_transactions"),
        where=[exp.In(this=column("source"), query=subquery(known))],
    )


def _events(relation: str, name: str) -> exp.Select:
    counted = bigint(exp.Count(this=exp.Star()))
    first, last = exp.Min(this=column("instant")), exp.Max(this=column("instant"))
    return select(
        *_part(text(name), found=counted, first_instant=first, last_instant=last),
        from_=rows_of(relation),
        group_by=[column("epoch")],
    )


def _checked(parts: exp.Query) -> exp.Select:
    measures = [
        alias(bigint(sum_of(column(name))) if name in _SUMS else exp.Max(this=column(name)), name)
        for name in _MEASURES
    ]
    epochs = select(
        *columns(("stream", "epoch")),
        *measures,
        from_=subquery(parts, "parts"),
        group_by=columns(("stream", "epoch")),
    )
    return select(
        *columns(("stream", "epoch", *_MEASURES), "epochs"),
        *columns(("starts", "latest", "max_late_share"), "bounds"),
        alias(text(""), "scope"),
        from_=subquery(epochs, "epochs"),
        joins=[
            left_join(
                rows_of("checked_streams", "bounds"),
                *equal(("stream", "epoch"), "epochs", "bounds"),
            )
        ],
    )


def _bounds(streams: Sequence[CheckedStream]) -> pa.Table:
    """stream, epoch, starts, latest, max_late_share."""
    rows = [
        {
            "stream": checked.name,
            "epoch": bounds.epoch,
            "starts": bounds.starts,
            "latest": bounds.latest,
            "max_late_share": checked.max_late_share,
        }
        for checked in streams
        for bounds in checked.bounds
    ]
    names = ("epoch", "starts", "latest")
    kinds: dict[str, pa.DataType] = {"stream": pa.string()} | dict.fromkeys(names, pa.int64())
    schema = pa.schema(kinds | {"max_late_share": pa.float64()})
    return pa.Table.from_pylist(rows, schema=schema)
