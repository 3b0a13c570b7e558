"""Between logs and interval relations: sweep, integrate, differentiate, net.

A sweep sorts the signed measures of every key by epoch and adds them up: between one epoch and the
next the sums are constant, so the result is one segment per key and epoch. It carries every
operator that looks at more than one row. Adjacent segments with equal sums are left as they are:
`differentiate` makes them cancel out.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from weir.compute.sql import (
    alias,
    all_of,
    ascending,
    bigint,
    case,
    cast,
    coalesce,
    column,
    columns,
    number,
    over,
    select,
    small_number,
    subquery,
    sum_of,
)
from weir.engine.relations import BEFORE_ALL, CHANGE, FOREVER, INTERVAL, EpochRange

Key = tuple[str, ...]


def net(log: exp.Query, key: Key) -> exp.Select:
    """The log with one row per key and epoch, without those that cancel out within an epoch."""
    return select(
        *columns((*key, "epoch")),
        alias(bigint(sum_of(column("weight"))), "weight"),
        from_=subquery(log, "unnetted"),
        group_by=columns((*key, "epoch")),
        having=sum_of(column("weight")).neq(0),
    )


def sweep(
    log: exp.Query,
    key: Key,
    measures: Mapping[str, exp.Expr],
    kinds: Mapping[str, exp.DataType] | None = None,
) -> exp.Select:
    """Segments of `log` per key: since, until, and each measure summed over all epochs up to it.

    Args:
        log: rows with the key's columns and `epoch`.
        key: the columns that make a key; null is a value like any other.
        measures: name of a running sum -> the signed amount that a row adds to it.
        kinds: the types of sums that are not BIGINT.
    """
    kinds = kinds or {}
    per_epoch = select(
        *columns((*key, "epoch")),
        *(alias(sum_of(amount), name) for name, amount in measures.items()),
        from_=subquery(log, "events"),
        group_by=columns((*key, "epoch")),
    )

    def running(function: exp.Expr) -> exp.Window:
        return over(function, columns(key), [ascending(column("epoch"))])

    following = running(exp.Lead(this=column("epoch")))
    sums = (
        alias(cast(running(sum_of(column(name))), kinds.get(name, exp.DType.BIGINT)), name)
        for name in measures
    )
    return select(
        *columns(key),
        alias(column("epoch"), "since"),
        alias(coalesce(following, number(FOREVER)), "until"),
        *sums,
        from_=subquery(per_epoch, "per_epoch"),
    )


def integrate(log: exp.Query, key: Key) -> exp.Select:
    """The interval relation of `log`: the running sum of weights per row, where it is not zero."""
    return select(
        *columns((*key, *INTERVAL, "weight")),
        from_=subquery(sweep(log, key, {"weight": column("weight")}), "segments"),
        where=[column("weight").neq(0)],
    )


def presence(log: exp.Query, key: Key) -> exp.Select:
    """The intervals of the set that `log` is a bag of: a row once while its sum is positive."""
    return select(
        *columns((*key, *INTERVAL)),
        alias(number(1), "weight"),
        from_=subquery(sweep(log, key, {"held": column("weight")}), "segments"),
        where=[column("held") > 0],
    )


def set_log(bag: exp.Query, key: Key, epochs: EpochRange) -> exp.Select:
    """The log of the set that the log `bag` is a bag of, within `epochs`: weights are +1 and -1.

    A row appears where its sum leaves zero and vanishes where it gets there.
    """
    return select(
        *columns((*key, "epoch")),
        alias(cast(sum_of(column("weight")), exp.DType.INT), "weight"),
        from_=subquery(differentiate(presence(bag, key), key, epochs), "ends"),
        group_by=columns((*key, "epoch")),
        having=sum_of(column("weight")).neq(0),
    )


def set_log_at(bag: exp.Query, key: Key, epoch: int) -> exp.Select:
    """The log at one epoch of the set that the log `bag` is a bag of; it has no later epochs."""
    is_earlier = column("epoch") < number(epoch)
    earlier = case((is_earlier, column("weight")), otherwise=small_number(0))
    sums = select(
        *columns(key),
        alias(sum_of(earlier), "before"),
        alias(sum_of(column("weight")), "after"),
        from_=subquery(bag, "bag"),
        group_by=columns(key),
    )
    held, holds = column("before") > 0, column("after") > 0
    weight = case((holds, small_number(1)), otherwise=small_number(-1))
    return select(
        *columns(key),
        alias(number(epoch), "epoch"),
        alias(cast(weight, exp.DType.INT), "weight"),
        from_=subquery(sums, "sums"),
        where=[held.neq(holds.copy())],
    )


def ends(intervals: exp.Query, key: Key) -> exp.Select:
    """The log of `intervals` over all epochs: the events that a sweep of them takes. Not netted."""
    return differentiate(intervals, key, EpochRange(BEFORE_ALL, FOREVER - 1))


def differentiate(intervals: exp.Query, key: Key, epochs: EpochRange) -> exp.Select:
    """The log of `intervals` within `epochs`: +weight at since, -weight at until. Not netted.

    One reading of the intervals gives both ends: Spark computes a relation again wherever it is
    named, so a union of two readings would compute it twice.
    """
    signed = select(
        *columns((*key, *INTERVAL, "weight")),
        alias(plus_and_minus(), "sign"),
        from_=subquery(intervals, "intervals"),
    )
    end = case((column("sign").eq(1), column("since")), otherwise=column("until"))
    both = select(
        *columns(key),
        alias(end, "epoch"),
        alias(bigint(column("sign") * column("weight")), "weight"),
        from_=subquery(signed, "signed"),
    )
    return select(
        *columns((*key, *CHANGE)),
        from_=subquery(both, "ends"),
        where=[within(column("epoch"), epochs)],
    )


def plus_and_minus() -> exp.Expr:
    """Two rows of each: one with 1 and one with -1."""
    return exp.Explode(this=exp.Array(expressions=[small_number(1), small_number(-1)]))


def within(epoch: exp.Expr, epochs: EpochRange) -> exp.Expr:
    """Whether `epoch` is in the range."""
    return all_of([epoch > number(epochs.after), epoch <= number(epochs.last)])
