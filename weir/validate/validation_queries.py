"""Queries for the rows that the suites of `expectations` check, with the suites' columns."""

from __future__ import annotations

from sqlglot import exp

from weir.compute.relations import LakeQuery, StoredTable
from weir.compute.sql import (
    alias,
    ascending,
    bigint,
    column,
    columns,
    number,
    over,
    rows_of,
    select,
    text,
)
from weir.lake.tables import QUADS, TRANSACTIONS
from weir.validate.derived_columns import DerivedColumn, changes_at_epoch, with_derived_columns

TRANSACTIONS_LOG = StoredTable("transactions_log", TRANSACTIONS.name)


def quads_log(from_epoch: int, to_epoch: int) -> StoredTable:
    """The quads that changed in (from_epoch, to_epoch]."""
    return StoredTable("quads_log", QUADS.name, where=_in_range(from_epoch, to_epoch))


def quad_rows(from_epoch: int, to_epoch: int) -> LakeQuery:
    """The quads that changed in (from_epoch, to_epoch], with the columns of the suite `quads`."""
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
    """The transactions of (from_epoch, to_epoch], with the columns of the suite `transactions`."""
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
