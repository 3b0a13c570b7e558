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
from dataclasses import dataclass
from typing import Literal, assert_never

from sqlglot import exp

from weir.compute.sql import (
    alias,
    all_of,
    ascending,
    bigint,
    coalesce,
    column,
    columns,
    each_of,
    greatest,
    inner_join,
    least,
    left_join,
    number,
    over,
    quotient,
    row_number,
    rows_of,
    select,
    subquery,
    sum_of,
    union_all,
)
from weir.engine.graph import POSITIONS
from weir.engine.relations import FOREVER, INTERVAL
from weir.engine.windows import LastElements, SlidingWindow, SteppedWindow, Window

LOG = ("instant", "epoch", "weight")
"""The columns of a log of answers or elements after those of the row."""


@dataclass(frozen=True, slots=True)
class Closes:
    """The instants full + k * step from `begin` on, at which a window with a step closes."""

    full: int
    step: int
    begin: int

    @classmethod
    def of(cls, window: SteppedWindow, after: int) -> Closes:
        """The closes of a window that are later than the instant `after`."""
        full = window.origin + window.width
        first = full if window.first == "full" else window.origin + 1
        return cls(full, window.step, max(after + 1, first))

    def any_until(self, last: int) -> bool:
        """Whether the window closes at or before the instant `last`."""
        return self.full + -((self.full - self.begin) // self.step) * self.step <= last

    def number_from(self, instant: exp.Expr) -> exp.Expr:
        """The least k whose close is not before `begin` and an instant."""
        since = greatest(instant, number(self.begin)) - number(self.full)
        return quotient(since + number(self.step - 1), self.step)

    def number_until(self, instant: exp.Expr) -> exp.Expr:
        """The greatest k whose close is not after an instant."""
        return quotient(instant - number(self.full), self.step)

    def instant(self, nth: exp.Expr) -> exp.Expr:
        """The close of a number."""
        return number(self.full) + exp.Paren(this=nth * number(self.step))


def closing(windows: Iterable[Window], after: int) -> tuple[Closes, ...]:
    """The closes of the windows with a step that are later than the instant `after`."""
    closes = []
    for window in windows:
        match window:
            case SteppedWindow():
                closes.append(Closes.of(window, after))
            case SlidingWindow() | LastElements():
                continue
            case _:
                assert_never(window)
    return tuple(closes)


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


def reported_closes(
    intervals: str, row: Sequence[str], closes: Sequence[Closes], last: int
) -> exp.Query:
    """The closes within intervals: of each interval and window the numbers of the first and last.

    Args:
        intervals: the relation of `reported_intervals`.
        row: the columns of the answer.
        closes: of the windows, at least one.
        last: the last instant that is final.

    Returns:
        `row`, since, until, weight, epoch, window, first, last; only where there is a close.
    """
    kept = (*row, *INTERVAL, "weight", "epoch")
    upto = least(column("until") - number(1), number(last))
    parts = [
        select(
            *columns(kept),
            alias(number(i), "window"),
            alias(bigint(window_closes.number_from(column("since"))), "first"),
            alias(bigint(window_closes.number_until(upto.copy())), "last"),
            from_=rows_of(intervals),
        )
        for i, window_closes in enumerate(closes)
    ]
    return select(
        *columns((*kept, "window", "first", "last")),
        from_=subquery(union_all(parts), "numbered"),
        where=[column("first") <= column("last")],
    )


def reported_rows(
    reported: str, row: Sequence[str], closes: Sequence[Closes], epochs: str
) -> exp.Select:
    """The elements of RSTREAM.

    Args:
        reported: the relation of `reported_closes`.
        row: the columns of the answer.
        closes: of the windows.
        epochs: the relation of the epochs at which instants become final: (after, last] at epoch.

    Returns:
        `row`, `LOG`.
    """
    kept = (*row, *INTERVAL, "weight", "epoch")
    spread = select(
        *columns((*kept, "window")),
        alias(each_of(column("first"), column("last")), "nth"),
        from_=rows_of(reported),
    )
    at = [
        select(
            *columns(kept),
            alias(bigint(window_closes.instant(column("nth"))), "instant"),
            from_=subquery(spread.copy(), "spread"),
            where=[column("window").eq(number(i))],
        )
        for i, window_closes in enumerate(closes)
    ]
    # Several windows may close at one instant.
    once = select(*columns((*kept, "instant")), from_=subquery(union_all(at), "at"), distinct=True)
    return select(
        *columns(row, "i"),
        column("instant", "i"),
        alias(coalesce(column("epoch", "i"), column("epoch", "e")), "epoch"),
        column("weight", "i"),
        from_=subquery(once if len(at) > 1 else at[0], "i"),
        joins=[
            left_join(
                rows_of(epochs, "e"),
                all_of(
                    [
                        column("instant", "i") > column("after", "e"),
                        column("instant", "i") <= column("last", "e"),
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
        `weir.engine.windows.EVENT`.
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
