"""Queries for the rows that the suites of `expectations` check, with the suites' columns."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from jobs.catalog.maintained import Form
from jobs.compute.relations import LakeQuery, StoredTable
from jobs.compute.sql import (
    alias,
    ascending,
    bigint,
    column,
    columns,
    number,
    over,
    rows_of,
    same_row,
    select,
    text,
    union_all,
)
from jobs.plan.plan import ANSWER
from jobs.progress.backlog import Backlog
from jobs.validate.derived_columns import DerivedColumn, changes_at_epoch, with_derived_columns
from lake.tables import QUADS, TRANSACTIONS

TRANSACTIONS_LOG = StoredTable("transactions_log", TRANSACTIONS.name)


def quads_log(from_epoch: int, to_epoch: int) -> StoredTable:
    """The quads that changed in (from_epoch, to_epoch]."""
    return StoredTable("quads_log", QUADS.name, where=_in_range(from_epoch, to_epoch))


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """The facts about a query by which the suite `answers` checks its rows."""

    form: Form
    is_set: bool
    max_rows: int | None


def quad_rows(from_epoch: int, to_epoch: int) -> LakeQuery:
    """The quads that changed in (from_epoch, to_epoch]; columns of the suite `quads`."""
    quad = ("graph", "subject", "predicate", "object")
    log = quads_log(from_epoch, to_epoch)
    changes = select(*columns((*quad, "epoch", "weight"))).from_(rows_of(log.name))
    previous = _by_epoch(exp.Lag(this=column("weight")), quad)
    derived = (changes_at_epoch(quad), DerivedColumn("weight_before", exp.null(), previous))
    checked = with_derived_columns(changes, quad, ("epoch", "weight"), derived)
    rows = select("*", *_scope_and_range("", from_epoch, to_epoch)).from_(
        checked.subquery("checked")
    )
    return LakeQuery(rows, (log,))


def transaction_rows(from_epoch: int, to_epoch: int) -> LakeQuery:
    """The transactions of (from_epoch, to_epoch]; columns of the suite `transactions`."""
    log = quads_log(from_epoch, to_epoch)
    stored = ("epoch", "source", "position", "inserted", "deleted", "rejected", "quads_version")
    position = ("source", "position")
    new = (
        select(*columns(position))
        .from_(rows_of(TRANSACTIONS_LOG.name))
        .where(_in_range(from_epoch, to_epoch))
    )
    # The windows also need the transaction before the range, and all with the same positions.
    needed = exp.or_(
        column("epoch") >= from_epoch,
        exp.In(this=exp.Tuple(expressions=columns(position)), query=new.subquery()),
    )
    transactions = (
        select(
            *columns(stored),
            _by_epoch(exp.Lag(this=column("epoch"))).as_("previous_epoch"),
            _by_epoch(exp.Lag(this=column("quads_version"))).as_("version_before"),
            over(exp.Count(this=exp.Star()), columns(position)).as_("at_position"),
        )
        .from_(rows_of(TRANSACTIONS_LOG.name))
        .where(needed)
    )
    rows_per_epoch = (
        select(
            column("epoch"),
            exp.CountIf(this=column("weight") > 0).as_("inserted_rows"),
            exp.CountIf(this=column("weight") < 0).as_("deleted_rows"),
        )
        .from_(rows_of(log.name))
        .group_by(column("epoch"))
    )
    rows = (
        select(
            *columns((*stored, "version_before", "at_position"), "transactions"),
            alias(bigint(_or_zero(column("previous_epoch"))), "epoch_before"),
            # An epoch that changed nothing has no quads.
            alias(bigint(_or_zero(column("inserted_rows"))), "found_inserted"),
            alias(bigint(_or_zero(column("deleted_rows"))), "found_deleted"),
            text("").as_("scope"),
        )
        .from_(transactions.subquery("transactions"))
        .join(
            rows_per_epoch.subquery("quads"),
            on=column("epoch", "transactions").eq(column("epoch", "quads")),
            join_type="left",
        )
        .where(_in_range(from_epoch, to_epoch, "transactions"))
    )
    return LakeQuery(rows, (log, TRANSACTIONS_LOG))


def answer_rows(work: Backlog, rules: AnswerRules) -> LakeQuery:
    """The unpublished changes of a query, and one row for the answer as a whole.

    Columns of the suites `embeddings` and `answers`; the scope is the query.
    """
    variables = tuple(f"v{number}" for _, number in work.columns)
    table = f"embeddings/{work.query}"
    is_answer = column("node").eq(ANSWER)
    in_range = exp.and_(is_answer, _in_range(work.from_epoch, work.to_epoch))
    # Read by themselves, so that the files of older epochs are skipped.
    new = StoredTable(f"new_{work.query}", table, work.snapshot, in_range)
    stored = StoredTable(f"stored_{work.query}", table, work.snapshot, is_answer)
    changes, answer = (
        select(*columns((*variables, "epoch")), alias(bigint(column("weight")), "weight")).from_(
            rows_of(each.name)
        )
        for each in (new, stored)
    )
    rows_at: exp.Expr = exp.null()
    if rules.form == "ask":
        rows_at = number(work.rows_before) + _by_epoch(exp.Sum(this=column("weight")))
    checked = _with_multiplicity(work, answer, changes, variables)
    rows = select(
        exp.Array(expressions=columns(variables)).as_("terms"),
        *columns(("epoch", "weight", "at_epoch", "multiplicity")),
        alias(bigint(rows_at), "rows_at"),
        exp.false().as_("is_total"),
        *_constants(work, rules),
    ).from_(checked.subquery("checked"))
    net = _or_zero(exp.Sum(this=column("weight")))
    total = select(
        exp.cast(exp.null(), exp.DataType.build("ARRAY<STRING>", dialect="spark")).as_("terms"),
        number(work.to_epoch).as_("epoch"),
        number(0).as_("weight"),
        alias(bigint(exp.null()), "at_epoch"),
        alias(bigint(exp.null()), "multiplicity"),
        alias(bigint(number(work.rows_before) + net), "rows_at"),
        exp.true().as_("is_total"),
        *_constants(work, rules),
    ).from_(changes.subquery("changes"))
    return LakeQuery(union_all([rows, total]), (new,) if work.rebuilt else (new, stored))


def _constants(work: Backlog, rules: AnswerRules) -> list[exp.Expr]:
    """Columns that are the same for all rows of a query."""
    return [
        text(ANSWER).as_("node"),
        text(rules.form).as_("form"),
        exp.convert(rules.is_set).as_("is_set"),
        alias(bigint(exp.convert(rules.max_rows)), "max_rows"),
        *_scope_and_range(work.query, work.from_epoch, work.to_epoch),
    ]


def _with_multiplicity(
    work: Backlog, answer: exp.Select, changes: exp.Select, variables: tuple[str, ...]
) -> exp.Query:
    """`changes` with `at_epoch` and `multiplicity`: that of the row after the change."""
    others: tuple[str, ...] = ("epoch", "weight")
    single: exp.Expr = column("weight")
    window: exp.Expr = _by_epoch(exp.Sum(this=column("weight")), variables)
    if not work.rebuilt:
        changes = _with_multiplicity_before(answer, changes, variables, work.from_epoch)
        others = (*others, "multiplicity_before")
        before = column("multiplicity_before")
        single, window = before + single, before + window
    derived = (changes_at_epoch(variables), DerivedColumn("multiplicity", single, window))
    return with_derived_columns(changes, variables, others, derived)


def _with_multiplicity_before(
    answer: exp.Select, changes: exp.Select, variables: tuple[str, ...], from_epoch: int
) -> exp.Select:
    """`changes` with `multiplicity_before`: that of the row at `from_epoch`.

    Only the rows that change are looked up; unbound values are equal.
    """
    changed = select(*columns(variables)).distinct().from_(changes.subquery("changes"))
    earlier = answer.where(column("epoch") <= from_epoch)
    before = (
        select(
            *columns(variables, "earlier"),
            exp.Sum(this=column("weight", "earlier")).as_("multiplicity"),
        )
        .from_(earlier.subquery("earlier"))
        .join(changed.subquery("changed"), on=exp.and_(*same_row(variables, "earlier", "changed")))
        .group_by(*columns(variables, "earlier"))
    )
    return (
        select(
            *columns((*variables, "epoch", "weight"), "new"),
            _or_zero(column("multiplicity", "before")).as_("multiplicity_before"),
        )
        .from_(changes.subquery("new"))
        .join(
            before.subquery("before"),
            on=exp.and_(*same_row(variables, "new", "before")),
            join_type="left",
        )
    )


def _by_epoch(function: exp.Expr, key: tuple[str, ...] = ()) -> exp.Window:
    """A window function over the rows with the same `key`, in the order of epochs."""
    return over(function, columns(key), [ascending(column("epoch"))])


def _in_range(from_epoch: int, to_epoch: int, table: str | None = None) -> exp.Condition:
    epoch = column("epoch", table)
    return exp.and_(epoch > from_epoch, epoch <= to_epoch)


def _or_zero(value: exp.Expr) -> exp.Expr:
    return exp.func("coalesce", value, exp.Literal.number(0))


def _scope_and_range(scope: str, from_epoch: int, to_epoch: int) -> list[exp.Expr]:
    return [
        text(scope).as_("scope"),
        number(from_epoch).as_("from_epoch"),
        number(to_epoch).as_("to_epoch"),
    ]
