"""Between logs and interval relations: sweep, integrate, differentiate, net.

A sweep sorts the signed measures of every key by epoch and adds them up: between one epoch and the
next the sums are constant, so the result is one segment per key and epoch. It carries every
operator that looks at more than one row. Adjacent segments with equal sums are left as they are:
`differentiate` makes them cancel out.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from jobs.compute.sql import column, columns, number, select
from jobs.engine.relations import FOREVER, EpochRange

Key = tuple[str, ...]
_BIGINT = exp.DataType.build("BIGINT")


def net(log: exp.Query, key: Key) -> exp.Select:
    """The log with one row per key and epoch; what cancels out within an epoch is gone."""
    total = exp.func("SUM", column("weight"))
    return (
        select(*columns(key), column("epoch"), exp.cast(total, "BIGINT").as_("weight", quoted=True))
        .from_(log.subquery("unnetted", copy=False), copy=False)
        .group_by(*columns(key), column("epoch"), copy=False)
        .having(exp.func("SUM", column("weight")).neq(0), copy=False)
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
        kinds: the types of sums that are no BIGINT.
    """
    kinds = kinds or {}
    per_epoch = (
        select(
            *columns(key),
            column("epoch"),
            *(exp.func("SUM", amount).as_(name, quoted=True) for name, amount in measures.items()),
        )
        .from_(log.subquery("events", copy=False), copy=False)
        .group_by(*columns(key), column("epoch"), copy=False)
    )
    partition = columns(key) or None
    order = exp.Order(expressions=[exp.Ordered(this=column("epoch"))])

    def over(aggregate: exp.Expr) -> exp.Window:
        return exp.Window(this=aggregate, partition_by=partition, order=order.copy())

    following = exp.Lead(this=column("epoch"))
    return select(
        *columns(key),
        column("epoch").as_("since", quoted=True),
        exp.func("COALESCE", over(following), number(FOREVER)).as_("until", quoted=True),
        *(
            exp.cast(over(exp.func("SUM", column(name))), kinds.get(name, _BIGINT)).as_(
                name, quoted=True
            )
            for name in measures
        ),
    ).from_(per_epoch.subquery("per_epoch", copy=False), copy=False)


def integrate(log: exp.Query, key: Key) -> exp.Select:
    """The interval relation of `log`: the running sum of weights per row, where it is not zero."""
    segments = sweep(log, key, {"weight": column("weight")})
    return (
        select(*columns(key), column("since"), column("until"), column("weight"))
        .from_(segments.subquery("segments", copy=False), copy=False)
        .where(column("weight").neq(0), copy=False)
    )


def presence(log: exp.Query, key: Key) -> exp.Select:
    """The intervals of the set that `log` is a bag of: a row once while its sum is positive."""
    segments = sweep(log, key, {"held": column("weight")})
    return (
        select(*columns(key), column("since"), column("until"))
        .select(number(1).as_("weight", quoted=True), copy=False)
        .from_(segments.subquery("segments", copy=False), copy=False)
        .where(column("held") > 0, copy=False)
    )


def ends(intervals: exp.Query, key: Key) -> exp.Select:
    """The log of `intervals` over all epochs: the events that a sweep of them takes. Not netted."""
    return differentiate(intervals, key, EpochRange(0, FOREVER - 1))


def differentiate(intervals: exp.Query, key: Key, epochs: EpochRange) -> exp.Select:
    """The log of `intervals` within `epochs`: +weight at since, -weight at until. Not netted.

    One reading of the intervals gives both ends: Spark computes a relation again wherever it is
    named, so a union of two readings would compute it twice.
    """
    signs = exp.Explode(this=exp.array(exp.Literal.number(1), exp.Literal.number(-1)))
    signed = select(
        *columns(key),
        column("since"),
        column("until"),
        column("weight"),
        exp.alias_(signs, "sign", quoted=True),
    ).from_(intervals.subquery("intervals", copy=False), copy=False)
    end = exp.Case().when(column("sign").eq(1), column("since")).else_(column("until"))
    ends = select(
        *columns(key),
        end.as_("epoch", quoted=True),
        exp.cast(column("sign") * column("weight"), "BIGINT").as_("weight", quoted=True),
    ).from_(signed.subquery("signed", copy=False), copy=False)
    return (
        select(*columns(key), column("epoch"), column("weight"))
        .from_(ends.subquery("ends", copy=False), copy=False)
        .where(within(column("epoch"), epochs), copy=False)
    )


def within(epoch: exp.Expr, epochs: EpochRange) -> exp.Condition:
    """Whether `epoch` is in the range."""
    return exp.and_(epoch > number(epochs.after), epoch.copy() <= number(epochs.last))
