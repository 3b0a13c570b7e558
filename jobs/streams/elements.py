"""The elements of a stream out of a query: R/I/DSTREAM of its answer, as a signed log.

RSP-QL's operators make a stream of a relation that changes with time (Dell'Aglio et al., 2014,
https://doi.org/10.4018/IJSWIS.2014100102; CQL's Istream, Dstream and Rstream). As known at an
epoch, the stream has at the instant t

* ISTREAM: the rows that the answer has at t and not right before,
* DSTREAM: those that it had right before t and has no more,
* RSTREAM: all rows of the answer, if a window closes at t.

A correction of the answer corrects the elements that were emitted: they are removed, or added, by
rows of its epoch. Nothing that was emitted is rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, assert_never

from sqlglot import exp

from jobs.compute.sql import (
    alias,
    all_of,
    ascending,
    bigint,
    coalesce,
    column,
    columns,
    greatest,
    inner_join,
    least,
    number,
    over,
    row_number,
    rows_of,
    select,
    subquery,
    sum_of,
    union_all,
)
from jobs.engine.graph import POSITIONS
from jobs.engine.relations import FOREVER
from jobs.engine.windows import LastElements, SlidingWindow, SteppedWindow, Window

LOG = ("instant", "epoch", "weight")
"""The columns of a log of answers or elements after those of the row."""


def closes(windows: Iterable[Window], after: int, last: int) -> tuple[range, ...]:
    """The instants in (after, last] at which windows with a step close, a range for each."""
    found = []
    for window in windows:
        match window:
            case SteppedWindow(width, step, origin, first):
                full = origin + width
                begin = max(after + 1, full if first == "full" else origin + 1)
                found.append(range(full + -((full - begin) // step) * step, last + 1, step))
            case SlidingWindow() | LastElements():
                continue
            case _:
                assert_never(window)
    return tuple(found)


def changed_rows(
    answers: str,
    row: Sequence[str],
    after: int,
    operator: Literal["istream", "dstream"],
    begins: int | None = None,
) -> exp.Select:
    """The elements of later epochs than `after`, of ISTREAM or DSTREAM.

    Args:
        answers: the log of the answer (`row`, `LOG`): of the instants that have rows of an epoch
            after `after`, all rows.
        row: the columns of the answer.
        after: the epoch up to which the stream is complete.
        operator: which of the two.
        begins: the first instant of the query, if events before it had been deleted: what it has
            then did not appear then.

    Returns:
        `row`, `LOG`.
    """
    known = over(sum_of(column("weight")), columns((*row, "instant")), [ascending(column("epoch"))])
    summed = select(*columns((*row, *LOG)), alias(bigint(known), "known"), from_=rows_of(answers))
    sign = 1 if operator == "istream" else -1

    def emitted(change: exp.Expr) -> exp.Expr:
        return greatest(exp.Paren(this=change) * number(sign), number(0))

    weight = emitted(column("known")) - emitted(column("known") - column("weight"))
    elements = select(
        *columns((*row, "instant", "epoch")),
        alias(weight, "weight"),
        from_=subquery(summed, "summed"),
        where=[column("epoch") > number(after)],
    )
    conditions: list[exp.Expr] = [column("weight").neq(number(0))]
    if begins is not None:
        conditions.append(column("instant") > number(begins))
    return select(*columns((*row, *LOG)), from_=subquery(elements, "elements"), where=conditions)


def reported_intervals(
    answers: str, row: Sequence[str], epochs: str, after: int, begin: int
) -> exp.Query:
    """Between which closes rows are in RSTREAM by epochs after `after`: with which weight.

    Args:
        answers: the whole log of the answer (`row`, `LOG`).
        row: the columns of the answer.
        epochs: the relation of the epochs after `after` (epoch, reached): `reached` is the last
            instant that was final before the epoch.
        after: the epoch up to which the stream is complete.
        begin: the first instant that was not final at it.

    Returns:
        `row`, since, until, weight, epoch: the epoch of a correction; null for the closes that
        became final after `after`, each of which has an epoch of its own.
    """
    later = select(
        *columns((*row, *LOG), "a"),
        column("reached", "e"),
        from_=rows_of(answers, "a"),
        joins=[inner_join(rows_of(epochs, "e"), column("epoch", "a").eq(column("epoch", "e")))],
    )
    # A correction counts at the closes that become final with its epoch, and later.
    entering = select(
        *columns(row),
        alias(greatest(column("instant"), column("reached") + number(1)), "instant"),
        column("weight"),
        from_=subquery(later, "later"),
    )
    state = select(
        *columns(row),
        alias(number(begin), "instant"),
        column("weight"),
        from_=rows_of(answers),
        where=[column("epoch") <= number(after)],
    )
    fresh = _runs(union_all([entering, state]), row, number(FOREVER))
    corrected = select(
        *columns((*row, *LOG)),
        alias(column("reached") + number(1), "end"),
        from_=subquery(later.copy(), "later"),
        where=[column("instant") <= column("reached")],
    )
    return union_all(
        [
            select(
                *columns((*row, "since", "until", "weight")),
                alias(bigint(exp.null()), "epoch"),
                from_=subquery(fresh, "fresh"),
            ),
            select(
                *columns((*row, "since", "until", "weight", "epoch")),
                from_=subquery(_runs(corrected, (*row, "epoch"), column("end")), "corrected"),
            ),
        ]
    )


def reported_rows(intervals: str, row: Sequence[str], closes_: str) -> exp.Select:
    """The elements of RSTREAM.

    Args:
        intervals: the relation of `reported_intervals`.
        row: the columns of the answer.
        closes_: the relation of closes (instant, epoch): `epoch` is the first at which it is final.

    Returns:
        `row`, `LOG`.
    """
    return select(
        *columns(row, "i"),
        column("instant", "c"),
        alias(coalesce(column("epoch", "i"), column("epoch", "c")), "epoch"),
        column("weight", "i"),
        from_=rows_of(intervals, "i"),
        joins=[
            inner_join(
                rows_of(closes_, "c"),
                all_of(
                    [
                        column("instant", "c") >= column("since", "i"),
                        column("instant", "c") < column("until", "i"),
                    ]
                ),
            )
        ],
    )


def elements_as_events(elements: str, epoch: int) -> exp.Select:
    """The triples of a stream out of a query as events, as known at an epoch.

    At an instant the stream has a set of triples, without an order in which they came: as events
    they are in the order of their texts.

    Args:
        elements: the relation of the elements: subject, predicate, object, `LOG`.
        epoch: elements of later epochs are left out.

    Returns:
        `jobs.engine.windows.EVENT`.
    """
    place = row_number([column("instant")], [ascending(column(name)) for name in POSITIONS])
    return select(
        *columns((*POSITIONS, "instant")),
        alias(number(0), "epoch"),
        alias(bigint(place), "line"),
        from_=subquery(known_elements(elements, epoch), "known"),
    )


def known_elements(elements: str, epoch: int) -> exp.Select:
    """The triples of a stream out of a query as known at an epoch: (s, p, o, instant, epoch).

    Args:
        elements: the relation of the elements: subject, predicate, object, `LOG`.
        epoch: elements of later epochs are left out; each has the last epoch that concerns it.
    """
    row = (*POSITIONS, "instant")
    return select(
        *columns(row),
        alias(exp.Max(this=column("epoch")), "epoch"),
        from_=rows_of(elements),
        where=[column("epoch") <= number(epoch)],
        group_by=columns(row),
        having=sum_of(column("weight")) > number(0),
    )


def _runs(changes: exp.Query, row: Sequence[str], end: exp.Expr) -> exp.Select:
    """From change to change the sum of the weights, up to `end`; not where it is 0."""
    has_end = isinstance(end, exp.Column)
    kept = (*row, "end") if has_end else (*row,)
    netted = select(
        *columns((*kept, "instant")),
        alias(bigint(sum_of(column("weight"))), "weight"),
        from_=subquery(changes, "changes"),
        group_by=columns((*kept, "instant")),
        having=sum_of(column("weight")).neq(0),
    )
    by_instant = [ascending(column("instant"))]
    upto = coalesce(over(exp.Lead(this=column("instant")), columns(row), by_instant), end)
    summed = select(
        *columns(row),
        alias(column("instant"), "since"),
        alias(least(upto, end.copy()), "until"),
        alias(bigint(over(sum_of(column("weight")), columns(row), by_instant)), "weight"),
        from_=subquery(netted, "netted"),
    )
    return select(
        *columns((*row, "since", "until", "weight")),
        from_=subquery(summed, "summed"),
        where=[column("weight").neq(number(0))],
    )
