"""The rows that the suites of `expectations` check, as statements with the suites' columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self, assert_never

from sqlglot import condition, exp, select

from jobs.plan.operators import ANSWER
from jobs.small_reads import Read, Relation
from jobs.sparql.algebra import Ask, Construct, Query, Select
from jobs.unpublished import Unpublished
from lake.tables import QUADS, TRANSACTIONS

QUADS_LOG = Relation("quads_log", QUADS.name)
TRANSACTIONS_LOG = Relation("transactions_log", TRANSACTIONS.name)


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """What the suite `answers` has to know of a query."""

    form: Literal["select", "ask", "construct"]
    is_set: bool
    max_rows: int | None

    @classmethod
    def of(cls, query: Query, *, is_set: bool, max_rows: int | None) -> Self:
        """The rules of a query."""
        match query.form:
            case Select():
                return cls("select", is_set, max_rows)
            case Ask():
                return cls("ask", is_set, max_rows)
            case Construct():
                return cls("construct", is_set, max_rows)
            case _:
                assert_never(query.form)


def quad_rows(from_epoch: int, to_epoch: int) -> Read:
    """The quads that changed in (from_epoch, to_epoch]; columns of the suite `quads`."""
    rows = (
        select(*QUADS.column_names, *_bounds("", from_epoch, to_epoch))
        .from_(QUADS_LOG.name)
        .where(_in_range(from_epoch, to_epoch))
    )
    return Read(rows, (QUADS_LOG,))


def transaction_rows(from_epoch: int, to_epoch: int) -> Read:
    """The transactions of the range, with the numbers of rows that `quads` has of their epochs.

    With them come the one before and those at the same positions, for what must not happen twice.
    """
    found = (
        select(
            exp.column("epoch").as_("found_epoch"),
            exp.Sum(this=_one_if(exp.column("weight") > 0)).as_("found_inserted"),
            exp.Sum(this=_one_if(exp.column("weight") < 0)).as_("found_deleted"),
        )
        .from_(QUADS_LOG.name)
        .where(_in_range(from_epoch, to_epoch))
        .group_by(exp.column("epoch"))
    )
    columns = (
        "epoch",
        "source",
        "position",
        "inserted",
        "deleted",
        "rejected",
        "quads_version",
    )
    # An epoch that changed nothing has no quads.
    numbers = [
        _bigint(exp.func("coalesce", exp.column(name), exp.Literal.number(0))).as_(name)
        for name in ("found_inserted", "found_deleted")
    ]
    place = [exp.column(name) for name in ("source", "position")]
    new = select(*place).from_(TRANSACTIONS_LOG.name).where(_in_range(from_epoch, to_epoch))
    rows = (
        select(*columns, *numbers, *_bounds("", from_epoch, to_epoch))
        .from_(TRANSACTIONS_LOG.name)
        .join(
            found.subquery("found"),
            on=exp.column("epoch").eq(exp.column("found_epoch")),
            join_type="left",
        )
        .where(
            exp.or_(
                exp.column("epoch") >= from_epoch,
                exp.In(this=exp.Tuple(expressions=place), query=new.subquery()),
            )
        )
    )
    return Read(rows, (QUADS_LOG, TRANSACTIONS_LOG))


def answer_rows(work: Unpublished, rules: AnswerRules) -> Read:
    """The unpublished rows of a query, and one row for the answer as a whole.

    Columns of the suites `embeddings` and `answers`; the scope is the query.
    """
    variables = [f"v{number}" for _, number in work.columns]
    stored = Relation(f"stored_{work.query}", f"embeddings/{work.query}", work.snapshot)
    answer = select(*variables, "epoch", "weight").from_(stored.name).where(_is_answer())
    changes = answer.where(_in_range(work.from_epoch, work.to_epoch))
    held: exp.Expr = exp.Literal.number(0)
    if not work.anew:
        held = exp.func("coalesce", exp.column("held_before"), exp.Literal.number(0))
        changes = _with_multiplicity_before(answer, changes, variables, work.from_epoch)
    facts = [
        exp.Literal.string(ANSWER).as_("node"),
        exp.Literal.string(rules.form).as_("form"),
        exp.convert(rules.is_set).as_("is_set"),
        _bigint(exp.convert(rules.max_rows)).as_("max_rows"),
        _bigint(exp.convert(work.rows_before)).as_("rows_before"),
        *_bounds(work.query, work.from_epoch, work.to_epoch),
    ]
    rows = select(
        exp.Array(expressions=[exp.column(name) for name in variables]).as_("terms"),
        "epoch",
        _bigint(exp.column("weight")).as_("weight"),
        _bigint(held).as_("held_before"),
        exp.false().as_("is_total"),
        *facts,
    ).from_(changes.subquery("changes"))
    nothing = exp.cast(exp.null(), exp.DataType.build("ARRAY<STRING>", dialect="spark"))
    total = select(
        nothing.as_("terms"),
        _bigint(exp.convert(work.to_epoch)).as_("epoch"),
        _bigint(exp.Literal.number(0)).as_("weight"),
        _bigint(exp.Literal.number(0)).as_("held_before"),
        exp.true().as_("is_total"),
        *facts,
    )
    return Read(exp.union(rows, total, distinct=False), (stored,))


def _with_multiplicity_before(
    answer: exp.Select, changes: exp.Select, variables: list[str], from_epoch: int
) -> exp.Select:
    """`changes` with `held_before`: how often each row was there; unbound values are equal.

    Only the rows that change are looked up.
    """
    touched = select(*variables).distinct().from_(changes.subquery("changed"))
    before = answer.where(exp.column("epoch") <= from_epoch)
    held = (
        select(
            *(exp.column(name, "before").as_(name) for name in variables),
            exp.Sum(this=exp.column("weight", "before")).as_("held_before"),
        )
        .from_(before.subquery("before"))
        .join(touched.subquery("touched"), on=_same(variables, "before", "touched"))
        .group_by(*(exp.column(name, "before") for name in variables))
    )
    return (
        select(
            *(exp.column(name, "new").as_(name) for name in (*variables, "epoch", "weight")),
            exp.column("held_before", "held"),
        )
        .from_(changes.subquery("new"))
        .join(held.subquery("held"), on=_same(variables, "new", "held"), join_type="left")
    )


def _same(variables: list[str], left: str, right: str) -> exp.Expr:
    return exp.and_(
        *(
            exp.NullSafeEQ(this=exp.column(name, left), expression=exp.column(name, right))
            for name in variables
        )
    )


def _is_answer() -> exp.Expr:
    return exp.column("node").eq(ANSWER)


def _in_range(from_epoch: int, to_epoch: int) -> exp.Expr:
    return condition(exp.column("epoch") > from_epoch).and_(exp.column("epoch") <= to_epoch)


def _one_if(holds: exp.Expr) -> exp.Expr:
    return exp.Case().when(holds, exp.Literal.number(1)).else_(exp.Literal.number(0))


def _bigint(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, "BIGINT")


def _bounds(scope: str, from_epoch: int, to_epoch: int) -> list[exp.Expr]:
    return [
        exp.Literal.string(scope).as_("scope"),
        _bigint(exp.convert(from_epoch)).as_("from_epoch"),
        _bigint(exp.convert(to_epoch)).as_("to_epoch"),
    ]
