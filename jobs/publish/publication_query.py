"""The rows that a publication appends to an answer table, as a statement."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import condition, exp, select

from jobs.compute.relations import LakeQuery, StoredTable
from jobs.plan.plan import ANSWER
from jobs.progress.backlog import Backlog
from lake.lake import Lake
from lake.tables import ANSWER_COLUMNS, TRANSACTIONS


def stored_columns(lake: Lake, query: str) -> tuple[str, ...]:
    """The variables' columns of the answer table as it is; none if there is no table."""
    table = lake.open(f"answers/{query}")
    if table is None:
        return ()
    names = (field.name for field in table.schema().fields)
    return tuple(name for name in names if name not in ANSWER_COLUMNS)


def published_columns(work: Backlog, stored: Sequence[str]) -> tuple[str, ...]:
    """The columns of the answer table to be: those of the query, then those of its earlier texts.

    A column that differs from an earlier one by case only keeps the earlier spelling: Delta takes
    the two for one.
    """
    spelling = {name.lower(): name for name in stored}
    now = tuple(spelling.get(name.lower(), name) for name, _ in work.columns)
    return (*now, *(name for name in stored if name not in now))


def answer_delta(work: Backlog, columns: Sequence[str], stored: Sequence[str]) -> LakeQuery:
    """epoch, weight, `columns` (`published_columns`), event_time.

    Rebuilt: at the base, the state there minus what is published; then the rows after the base.
    Else: the rows after the published watermark.
    """
    rows_wanted = exp.and_(
        exp.column("node").eq(ANSWER), exp.column("epoch") <= exp.convert(work.to_epoch)
    )
    if not work.rebuilt:
        rows_wanted = exp.and_(rows_wanted, exp.column("epoch") > exp.convert(work.from_epoch))
    embeddings = StoredTable(
        f"stored_{work.query}",
        f"embeddings/{work.query}",
        work.snapshot,
        condition(rows_wanted),
    )
    answers = StoredTable(f"published_{work.query}", f"answers/{work.query}")
    later = condition(exp.column("epoch") > exp.convert(work.from_epoch))
    transactions = StoredTable(f"transactions_{work.query}", TRANSACTIONS.name, where=later)
    values: list[exp.Expr] = [exp.column(f"v{number}") for _, number in work.columns]
    values += [exp.cast(exp.null(), "STRING")] * (len(columns) - len(values))
    rows = select(
        "epoch",
        "weight",
        *(value.as_(name, quoted=True) for value, name in zip(values, columns, strict=True)),
    ).from_(embeddings.name)
    relations = [embeddings, transactions]
    delta: exp.Query
    if not work.rebuilt or work.published is None:
        delta = rows
    else:
        relations.append(answers)
        start = max(work.maintained.metadata.base, work.published.epoch)
        gone = select(
            exp.Neg(this=exp.column("weight")).as_("weight"),
            *(
                _quoted(name)
                if name in stored
                else exp.cast(exp.null(), "STRING").as_(name, quoted=True)
                for name in columns
            ),
        ).from_(answers.name)
        delta = exp.union(
            _difference(rows, gone, columns, start),
            rows.where(exp.column("epoch") > start),
            distinct=False,
        )
    timed = (
        select(
            exp.column("epoch", "delta"),
            exp.column("weight", "delta"),
            *(exp.column(name, "delta", quoted=True) for name in columns),
            exp.column("event_time", "transactions"),
        )
        .from_(delta.subquery("delta"))
        .join(
            select("epoch", "event_time").from_(transactions.name).subquery("transactions"),
            on=exp.column("epoch", "delta").eq(exp.column("epoch", "transactions")),
            join_type="left",
        )
    )
    return LakeQuery(timed, tuple(relations))


def _difference(
    rows: exp.Select, gone: exp.Select, columns: Sequence[str], epoch: int
) -> exp.Select:
    """The state of `rows` at `epoch` minus what is published, as changes at `epoch`."""
    now = select("weight", *map(_quoted, columns)).from_(
        rows.where(exp.column("epoch") <= epoch).subquery("log")
    )
    weight = exp.cast(exp.Sum(this=exp.column("weight")), "BIGINT")
    return (
        select(
            exp.cast(exp.convert(epoch), "BIGINT").as_("epoch"),
            weight.as_("weight"),
            *map(_quoted, columns),
        )
        .from_(exp.union(now, gone, distinct=False).subquery("both"))
        .group_by(*map(_quoted, columns))
        .having(condition(exp.Sum(this=exp.column("weight")).neq(0)))
    )


def _quoted(name: str) -> exp.Column:
    return exp.column(name, quoted=True)
