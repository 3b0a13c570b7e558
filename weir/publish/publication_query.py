"""The rows that a publication appends to an answer table, as a statement."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from weir.compute.relations import LakeQuery, StoredTable
from weir.compute.sql import (
    alias,
    all_of,
    bigint,
    column,
    columns,
    equal,
    greatest,
    left_join,
    null_text,
    null_time,
    number,
    padded_columns,
    rows_of,
    select,
    subquery,
    sum_of,
    text,
    time_of,
    union_all,
)
from weir.lake.lake import Lake
from weir.lake.tables import ANSWER_COLUMNS, ANSWERS, EMBEDDINGS
from weir.plan.plan import ANSWER
from weir.progress.backlog import Backlog


def stored_columns(lake: Lake, query: str) -> tuple[str, ...]:
    """The columns of the answer table that have variables; none if there is no table."""
    table = lake.open(ANSWERS.name(query))
    if table is None:
        return ()
    names = (field.name for field in table.schema().fields)
    return tuple(name for name in names if name not in ANSWER_COLUMNS)


def published_columns(work: Backlog, stored: Sequence[str]) -> tuple[str, ...]:
    """The columns that the answer table will have: of the query, then of its earlier texts.

    A column that differs from a stored one by case only has the stored spelling: to Delta, they are
    the same column.
    """
    spelling = {name.lower(): name for name in stored}
    now = tuple(spelling.get(name.lower(), name) for name, _ in work.columns)
    return (*now, *(name for name in stored if name not in now))


def rows_to_publish(
    work: Backlog, names: Sequence[str], stored: Sequence[str], times: str
) -> LakeQuery:
    """The rows that a publication appends: epoch, weight, `names`, event_time.

    * Usually, these are the rows after the published watermark.
    * If the backlog is rebuilt: at the base, the difference between the state there and the
      published one; then the rows after the base.
    * If it is published as one state: the difference at the end of the range.

    event_time is the time of the epoch. In a difference it is null, as no change of the graph made
    these rows.

    Over streams, event_time is the instant of the row, and the states have all instants. If the
    embeddings begin later than the published answer, the answer at earlier instants stays.

    Args:
        work: what is to be published.
        names: the columns of `published_columns`.
        stored: the columns that the answer table has now.
        times: the relation of `epoch_times`.
    """
    wanted = [column("node").eq(text(ANSWER)), column("epoch") <= number(work.to_epoch)]
    if not work.rebuilt:
        wanted.append(column("epoch") > number(work.from_epoch))
    embeddings = StoredTable(
        f"stored_{work.query}", EMBEDDINGS.name(work.query), work.snapshot, all_of(wanted)
    )
    answers = StoredTable(f"published_{work.query}", ANSWERS.name(work.query))
    variables = work.variables
    own = ("event_time",) if work.is_over_streams else ()

    def rows(*where: exp.Expr) -> exp.Select:
        values: list[exp.Expr] = [
            alias(column(variable), name) for variable, name in zip(variables, names, strict=False)
        ]
        # The columns of earlier texts of the query come last.
        values += [null_text(name) for name in names[len(variables) :]]
        values += [alias(time_of(column("instant")), name) for name in own]
        return select(
            *columns(("epoch", "weight")), *values, from_=rows_of(embeddings.name), where=where
        )

    relations = [embeddings]
    delta: exp.Query
    gone: list[exp.Query] = []
    if work.rebuilt and work.published is not None:
        relations.append(answers)
        gone.append(
            select(
                alias(exp.Neg(this=column("weight")), "weight"),
                *padded_columns(names, stored),
                *(_published_time(work) for _ in own),
                from_=rows_of(answers.name),
            )
        )

    def timed(changes: exp.Query) -> exp.Query:
        if own:
            return changes
        return select(
            *columns(("epoch", "weight", *names), "delta"),
            column("event_time", "times"),
            from_=subquery(changes, "delta"),
            joins=[left_join(rows_of(times, "times"), *equal(("epoch",), "delta", "times"))],
        )

    start = work.state_at
    if start is None:
        delta = timed(rows())
    else:
        state = rows(column("epoch") <= number(start))
        difference: exp.Query = _difference(state, gone, (*names, *own), start)
        if work.difference_at is None:
            difference = timed(difference)
        elif not own:
            difference = select("*", null_time("event_time"), from_=subquery(difference, "delta"))
        delta = union_all([difference, timed(rows(column("epoch") > number(start)))])
    return LakeQuery(delta, tuple(relations))


def _published_time(work: Backlog) -> exp.Expr:
    """The event_time of a published row, but not before the embeddings begin."""
    start = work.later_start
    if start is None:
        return column("event_time")
    begins = time_of(number(start.begins))
    return alias(greatest(column("event_time"), begins), "event_time")


def _difference(
    rows: exp.Select, gone: Sequence[exp.Query], names: Sequence[str], epoch: int
) -> exp.Select:
    """The sum of `rows` minus what is published (`gone`), as changes at `epoch`."""
    now = select(*columns(("weight", *names)), from_=subquery(rows, "log"))
    return select(
        alias(number(epoch), "epoch"),
        alias(bigint(sum_of(column("weight"))), "weight"),
        *columns(names),
        from_=subquery(union_all([now, *gone]), "both"),
        group_by=columns(names),
        having=sum_of(column("weight")).neq(number(0)),
    )
