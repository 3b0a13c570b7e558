"""The rows that the suites of `expectations` check, as statements with the suites' columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self, assert_never

from sqlglot import condition, exp, select

from jobs.compute.relations import LakeQuery, StoredTable
from jobs.plan.plan import ANSWER
from jobs.progress.backlog import Unpublished
from jobs.sparql.algebra.nodes import Ask, Construct, Query, Select
from lake.tables import QUADS, TRANSACTIONS

TRANSACTIONS_LOG = StoredTable("transactions_log", TRANSACTIONS.name)


def quads_log(from_epoch: int, to_epoch: int) -> StoredTable:
    """The quads that changed in (from_epoch, to_epoch]."""
    return StoredTable("quads_log", QUADS.name, where=_in_range(from_epoch, to_epoch))


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


def quad_rows(from_epoch: int, to_epoch: int) -> LakeQuery:
    """The quads that changed in (from_epoch, to_epoch]; columns of the suite `quads`."""
    quad = ["graph", "subject", "predicate", "object"]
    log = quads_log(from_epoch, to_epoch)
    changes = select(*quad, "epoch", "weight").from_(log.name)
    weight_before = _over(exp.Lag(this=exp.column("weight")), quad, ordered=True)
    derived = (_at_epoch(quad), Derived("weight_before", exp.null(), weight_before))
    rows = select("*", *_bounds("", from_epoch, to_epoch)).from_(
        _with_derived(changes, quad, ["epoch", "weight"], derived).subquery("checked")
    )
    return LakeQuery(rows, (log,))


def transaction_rows(from_epoch: int, to_epoch: int) -> LakeQuery:
    """The transactions of the range; columns of the suite `transactions`."""
    log = quads_log(from_epoch, to_epoch)
    columns = ("epoch", "source", "position", "inserted", "deleted", "rejected", "quads_version")
    place = [exp.column(name) for name in ("source", "position")]
    new = select(*place).from_(TRANSACTIONS_LOG.name).where(_in_range(from_epoch, to_epoch))
    # With them come the one before, and those at the same positions.
    concerned = (
        select(
            *columns,
            _over(exp.Lag(this=exp.column("epoch")), [], ordered=True).as_("previous"),
            _over(exp.Lag(this=exp.column("quads_version")), [], ordered=True).as_(
                "version_before"
            ),
            _over(exp.Count(this=exp.Star()), ["source", "position"]).as_("at_position"),
        )
        .from_(TRANSACTIONS_LOG.name)
        .where(
            exp.or_(
                exp.column("epoch") >= from_epoch,
                exp.In(this=exp.Tuple(expressions=place), query=new.subquery()),
            )
        )
    )
    found = (
        select(
            exp.column("epoch").as_("found_epoch"),
            exp.Sum(this=_one_if(exp.column("weight") > 0)).as_("inserted_rows"),
            exp.Sum(this=_one_if(exp.column("weight") < 0)).as_("deleted_rows"),
        )
        .from_(log.name)
        .group_by(exp.column("epoch"))
    )
    rows = (
        select(
            *columns,
            "version_before",
            "at_position",
            _bigint(_or_zero(exp.column("previous"))).as_("epoch_before"),
            # An epoch that changed nothing has no quads.
            _bigint(_or_zero(exp.column("inserted_rows"))).as_("found_inserted"),
            _bigint(_or_zero(exp.column("deleted_rows"))).as_("found_deleted"),
            exp.Literal.string("").as_("scope"),
        )
        .from_(concerned.subquery("concerned"))
        .join(
            found.subquery("found"),
            on=exp.column("epoch").eq(exp.column("found_epoch")),
            join_type="left",
        )
        .where(_in_range(from_epoch, to_epoch))
    )
    return LakeQuery(rows, (log, TRANSACTIONS_LOG))


def answer_rows(work: Unpublished, rules: AnswerRules) -> LakeQuery:
    """The unpublished rows of a query, and one row for the answer as a whole.

    Columns of the suites `embeddings` and `answers`; the scope is the query.
    """
    variables = [f"v{number}" for _, number in work.columns]
    table = f"embeddings/{work.query}"
    is_answer = exp.column("node").eq(ANSWER)
    in_range = exp.and_(is_answer, _in_range(work.from_epoch, work.to_epoch))
    # Read by themselves, so that the files of older epochs are skipped.
    new = StoredTable(f"new_{work.query}", table, work.snapshot, condition(in_range))
    stored = StoredTable(f"stored_{work.query}", table, work.snapshot, condition(is_answer))
    changes, answer = (
        select(*variables, "epoch", _bigint(exp.column("weight")).as_("weight")).from_(each.name)
        for each in (new, stored)
    )
    tables = (new,) if work.anew else (new, stored)
    facts = [
        exp.Literal.string(ANSWER).as_("node"),
        exp.Literal.string(rules.form).as_("form"),
        exp.convert(rules.is_set).as_("is_set"),
        _bigint(exp.convert(rules.max_rows)).as_("max_rows"),
        *_bounds(work.query, work.from_epoch, work.to_epoch),
    ]
    before = exp.convert(work.rows_before)
    rows_at: exp.Expr = exp.null()
    if rules.form == "ask":
        rows_at = before + _over(exp.Sum(this=exp.column("weight")), [], ordered=True)
    rows = select(
        exp.Array(expressions=[exp.column(name) for name in variables]).as_("terms"),
        "epoch",
        "weight",
        _bigint(exp.column("at_epoch")).as_("at_epoch"),
        _bigint(exp.column("multiplicity")).as_("multiplicity"),
        _bigint(rows_at).as_("rows_at"),
        exp.false().as_("is_total"),
        *facts,
    ).from_(_with_multiplicity(work, answer, changes, variables).subquery("checked"))
    net = _or_zero(exp.Sum(this=exp.column("weight")))
    total = select(
        exp.cast(exp.null(), exp.DataType.build("ARRAY<STRING>", dialect="spark")).as_("terms"),
        _bigint(exp.convert(work.to_epoch)).as_("epoch"),
        _bigint(exp.Literal.number(0)).as_("weight"),
        _bigint(exp.null()).as_("at_epoch"),
        _bigint(exp.null()).as_("multiplicity"),
        _bigint(before + net).as_("rows_at"),
        exp.true().as_("is_total"),
        *facts,
    ).from_(changes.subquery("changes"))
    return LakeQuery(exp.union(rows, total, distinct=False), tables)


def _with_multiplicity(
    work: Unpublished, answer: exp.Select, changes: exp.Select, variables: list[str]
) -> exp.Query:
    """`changes` with `at_epoch` and `multiplicity`, how often the row is there after the change."""
    weight, held = exp.column("weight"), exp.column("held_before")
    known = ["epoch", "weight"]
    lone: exp.Expr = weight
    running: exp.Expr = _over(exp.Sum(this=weight), variables, ordered=True)
    if not work.anew:
        changes = _with_multiplicity_before(answer, changes, variables, work.from_epoch)
        known = [*known, "held_before"]
        lone, running = held + weight, held + running
    derived = (_at_epoch(variables), Derived("multiplicity", lone, running))
    return _with_derived(changes, variables, known, derived)


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
            _or_zero(exp.column("held_before", "held")).as_("held_before"),
        )
        .from_(changes.subquery("new"))
        .join(held.subquery("held"), on=_same(variables, "new", "held"), join_type="left")
    )


@dataclass(frozen=True, slots=True)
class Derived:
    """A column of a change that depends on the other changes of the same row.

    `lone` is its value for a row that changes once, `window` its value in general.
    """

    name: str
    lone: exp.Expr
    window: exp.Expr


def _at_epoch(key: list[str]) -> Derived:
    """How often the row changes at the epoch."""
    return Derived(
        "at_epoch", exp.Literal.number(1), _over(exp.Count(this=exp.Star()), [*key, "epoch"])
    )


def _with_derived(
    changes: exp.Select, key: list[str], known: list[str], derived: Sequence[Derived]
) -> exp.Query:
    """`changes` (columns `key` and `known`) with derived columns.

    Windows sort whole rows of text. Most rows change once in a range, and for them an aggregation
    by the key says everything; only the others are sorted. What is read more than once has a name,
    so that DuckDB computes it once.
    """
    grouped = (
        select(
            *key,
            exp.Count(this=exp.Star()).as_("times"),
            *(exp.Min(this=exp.column(name)).as_(name) for name in known),
        )
        .from_("changes")
        .group_by(*(exp.column(name) for name in key))
    )
    lone = (
        select(*key, *known, *(_bigint(each.lone).as_(each.name) for each in derived))
        .from_("grouped")
        .where(exp.column("times").eq(1))
    )
    often = select(*key).from_("grouped").where(exp.column("times") > 1)
    repeated = (
        select(*(exp.column(name, "changes").as_(name) for name in (*key, *known)))
        .from_("changes")
        .join(often.subquery("often"), on=_same(key, "changes", "often"))
    )
    windows = select(
        *key, *known, *(_bigint(each.window).as_(each.name) for each in derived)
    ).from_(repeated.subquery("repeated"))
    derived_rows = exp.union(lone, windows, distinct=False, copy=False)
    return derived_rows.with_("changes", as_=changes).with_("grouped", as_=grouped)


def _over(value: exp.Expr, key: list[str], *, ordered: bool = False) -> exp.Window:
    order = exp.Order(expressions=[exp.Ordered(this=exp.column("epoch"))]) if ordered else None
    return exp.Window(this=value, partition_by=[exp.column(name) for name in key], order=order)


def _same(variables: list[str], left: str, right: str) -> exp.Expr:
    return exp.and_(
        *(
            exp.NullSafeEQ(this=exp.column(name, left), expression=exp.column(name, right))
            for name in variables
        )
    )


def _in_range(from_epoch: int, to_epoch: int) -> exp.Expr:
    return condition(exp.column("epoch") > from_epoch).and_(exp.column("epoch") <= to_epoch)


def _one_if(holds: exp.Expr) -> exp.Expr:
    return exp.Case().when(holds, exp.Literal.number(1)).else_(exp.Literal.number(0))


def _or_zero(value: exp.Expr) -> exp.Expr:
    return exp.func("coalesce", value, exp.Literal.number(0))


def _bigint(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, "BIGINT")


def _bounds(scope: str, from_epoch: int, to_epoch: int) -> list[exp.Expr]:
    return [
        exp.Literal.string(scope).as_("scope"),
        _bigint(exp.convert(from_epoch)).as_("from_epoch"),
        _bigint(exp.convert(to_epoch)).as_("to_epoch"),
    ]
