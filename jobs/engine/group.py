"""Group: one solution per key, for as long as it has solutions, with its aggregates.

COUNT, and SUM and AVG of exact numbers, are measures of the sweep: running sums over the changes of
a touched group. All other aggregates are made of the rows that hold during each segment of a
touched group, by one function (`SPARQL_AGGREGATE`), as are SUM and AVG where a value is a float, a
double, out of the range of exact sums, or an error.

    delta Group(C) = differentiate( segments of the touched groups with solutions, aggregated )

Touched: the groups with a row in C's delta. https://www.w3.org/TR/sparql11-query/#aggregateAlgebra
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from jobs.compute.functions import AGGREGATE
from jobs.compute.relations import Keep, Statement
from jobs.compute.sql import column, columns, number, rows_of, same_row, select, text, union_all
from jobs.engine.conditions import value_sql
from jobs.engine.relations import EpochRange
from jobs.engine.running_aggregates import (
    ADDEND,
    EXACT,
    RUNNING,
    TIMES,
    TOO_MANY_TIMES,
    measures,
    value,
)
from jobs.engine.sweep import Key, differentiate, ends, integrate, presence, sweep
from jobs.plan.operators import Aggregate, Group
from jobs.sparql.algebra.expressions import Call, Variable


@dataclass(slots=True)
class GroupStatements:
    """Makes the statements of one group node.

    Attributes:
        node: the group.
        touched: relation of the child's log of all rows of the touched groups, from the state at
            the beginning of the range on.
        name: begins the names of the relations that are made.
        epochs: the range.
        keep: how they are kept.
    """

    node: Group
    touched: str
    name: str
    epochs: EpochRange
    keep: Keep
    made: list[Statement] = field(default_factory=list)

    def delta(self) -> exp.Select:
        """The log of the groups, not netted; `made` has to be made before."""
        key = self.node.keys
        segments = self._make("segments", self._segments())
        rows = {
            column_: self._rows(column_, aggregate, segments)
            for column_, aggregate in self.node.aggregates
            if aggregate.function != "COUNT"
        }
        outputs = [
            value(column_, aggregate, always=self.node.always).as_(column_, quoted=True)
            for column_, aggregate in self.node.aggregates
        ]
        joined = select(*columns((*key, "since", "until"), "s"), *outputs).from_(
            rows_of(segments).as_("s"), copy=False
        )
        for column_, relation in rows.items():
            joined = joined.join(
                rows_of(relation).as_(f"r_{column_}"),
                on=exp.and_(*same_row((*key, "since"), "s", f"r_{column_}", frozenset({"since"}))),
                join_type="left",
                copy=False,
            )
        if not self.node.always:
            joined = joined.where(column("solutions", "s") > 0, copy=False)
        groups = (
            select(*columns((*self.node.variables, "since", "until")))
            .select(number(1).as_("weight", quoted=True), copy=False)
            .from_(joined.subquery("groups", copy=False), copy=False)
        )
        return differentiate(groups, self.node.variables, self.epochs)

    def _make(self, suffix: str, query: exp.Query) -> str:
        name = f"{self.name}_{suffix}"
        self.made.append(Statement(name, query, self.keep))
        return name

    def _segments(self) -> exp.Select:
        """Per touched group and segment: how many solutions, and the running sums."""
        parts = [self._padded(self._solutions(), "solutions")]
        for column_, aggregate in self.node.aggregates:
            if measures(column_, aggregate):
                parts.append(self._padded(self._summed(column_, aggregate), column_))
        if self.node.always:
            parts.append(self._padded(self._beginning(), "beginning"))
        kinds = self._columns()
        return sweep(
            union_all(parts), self.node.keys, {name: column(name) for name in kinds}, kinds
        )

    def _columns(self) -> dict[str, exp.DataType]:
        found = {"solutions": exp.DataType.build("BIGINT")}
        for column_, aggregate in self.node.aggregates:
            found |= measures(column_, aggregate)
        return found

    def _padded(self, events: exp.Query, alias: str) -> exp.Select:
        """`events` with all measures; those it has not are zero."""
        has = {e.alias_or_name for e in events.selects}
        zero = exp.Literal.number(0)
        cells = [
            exp.cast(column(name) if name in has else zero.copy(), kind).as_(name, quoted=True)
            for name, kind in self._columns().items()
        ]
        return select(*columns((*self.node.keys, "epoch")), *cells).from_(
            events.subquery(f"of_{alias}", copy=False), copy=False
        )

    def _solutions(self) -> exp.Select:
        return select(
            *columns((*self.node.keys, "epoch")), column("weight").as_("solutions", quoted=True)
        ).from_(rows_of(self.touched), copy=False)

    def _beginning(self) -> exp.Select:
        """The group without keys is there from the first epoch on."""
        first = self.epochs.start if self.epochs.from_nothing else self.epochs.after
        return select(number(first).as_("epoch", quoted=True))

    def _summed(self, column_: str, aggregate: Aggregate) -> exp.Select:
        """The events of an aggregate's measures."""
        source = self._source(column_, aggregate)
        weight = column("weight")
        if aggregate.function == "COUNT":
            counted: exp.Expr = weight
            if aggregate.argument is not None:
                is_value = column(aggregate.argument).is_(exp.null()).not_()
                counted = exp.Case().when(is_value, weight.copy()).else_(exp.Literal.number(0))
            return select(
                *columns((*self.node.keys, "epoch")), counted.as_(f"{column_}_count", quoted=True)
            ).from_(rows_of(source), copy=False)
        assert aggregate.argument is not None, "only COUNT has no argument"
        addend = value_sql(
            Call("ADDEND", (Variable(aggregate.argument),)), frozenset({aggregate.argument})
        ).as_("addend", quoted=True)
        prepared = select(*columns((*self.node.keys, "epoch", "weight")), addend).from_(
            rows_of(source), copy=False
        )
        # `ADDEND` is "i12" or "d1.5" as a literal, or null.
        shown = column("addend")
        kind = exp.Substring(this=shown, start=exp.Literal.number(2), length=exp.Literal.number(1))
        digits = exp.Substring(
            this=shown.copy(),
            start=exp.Literal.number(3),
            length=exp.func("LENGTH", shown.copy()) - exp.Literal.number(3),
        )
        amount = exp.cast(exp.cast(digits, ADDEND) * exp.cast(weight, TIMES), EXACT)
        zero = exp.Literal.number(0)
        # With a row that comes or goes so often at once, the sum is made of the rows from then on.
        times = exp.func("ABS", weight.copy())
        is_many = times.copy() >= exp.Literal.number(TOO_MANY_TIMES)
        return select(
            *columns((*self.node.keys, "epoch")),
            weight.copy().as_(f"{column_}_count", quoted=True),
            exp.Case()
            .when(shown.copy().is_(exp.null()), weight.copy())
            .when(is_many, times)
            .else_(zero.copy())
            .as_(f"{column_}_inexact", quoted=True),
            exp.Case()
            .when(kind.eq(text("d")), weight.copy())
            .else_(zero.copy())
            .as_(f"{column_}_decimals", quoted=True),
            exp.Case()
            .when(
                exp.or_(shown.copy().is_(exp.null()), is_many.copy()), exp.cast(zero.copy(), EXACT)
            )
            .else_(amount)
            .as_(f"{column_}_total", quoted=True),
        ).from_(prepared.subquery("prepared", copy=False), copy=False)

    def _source(self, column_: str, aggregate: Aggregate) -> str:
        """The relation of the rows that an aggregate reads; with DISTINCT each value once."""
        if not aggregate.distinct:
            return self.touched
        seen = self._distinct_columns(aggregate)
        name = f"{self.name}_distinct_{column_}"
        if all(statement.name != name for statement in self.made):
            events = select(*columns((*seen, "epoch", "weight"))).from_(
                rows_of(self.touched), copy=False
            )
            # Every end, also the beginning of the state: the range has not begun before it.
            self.made.append(Statement(name, ends(presence(events, seen), seen), self.keep))
        return name

    def _distinct_columns(self, aggregate: Aggregate) -> Key:
        if aggregate.argument is None:
            return self.node.child.variables
        return tuple(dict.fromkeys((*self.node.keys, aggregate.argument)))

    def _rows(self, column_: str, aggregate: Aggregate, segments: str) -> str:
        """Relation (keys, since, `value`): the aggregate of the rows of each segment."""
        assert aggregate.argument is not None, "only COUNT has no argument"
        key, argument = self.node.keys, aggregate.argument
        seen = tuple(dict.fromkeys((*key, argument)))
        log = select(*columns((*seen, "epoch", "weight"))).from_(
            self._source(column_, aggregate), copy=False
        )
        intervals = self._make(f"rows_{column_}", integrate(log, seen))
        item = exp.DPipe(
            this=exp.DPipe(this=exp.cast(column("weight", "i"), "TEXT"), expression=text(" ")),
            expression=exp.func("COALESCE", column(argument, "i"), text("")),
        )
        during = exp.and_(
            column("since", "i") <= column("since", "s"),
            column("since", "s") < column("until", "i"),
        )
        wanted = rows_of(segments).as_("s")
        listed = (
            select(
                *columns((*key, "since"), "s"),
                exp.ArrayAgg(this=item).as_("items", quoted=True),
            )
            .from_(wanted, copy=False)
            .join(
                rows_of(intervals).as_("i"),
                on=exp.and_(*same_row(key, "s", "i"), during),
                join_type="inner",
                copy=False,
            )
            .group_by(*columns((*key, "since"), "s"), copy=False)
        )
        if aggregate.function in RUNNING:
            listed = listed.where(column(f"{column_}_inexact", "s") > 0, copy=False)
        spec = text(f"{aggregate.function} {aggregate.separator}")
        value = exp.Anonymous(this=AGGREGATE, expressions=[spec, column("items")])
        return self._make(
            f"value_{column_}",
            select(*columns((*key, "since")), value.as_("value", quoted=True)).from_(
                listed.subquery("listed", copy=False), copy=False
            ),
        )
