"""Bodies of rules: for which values of the variables, and when, all elements hold.

elements that are not negated   equal in shared variables; since is the greatest, until the least
assignments, conditions         SPARQL expressions; an error does not hold
negated elements                per values of the variables, the difference of coverages
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from weir.compute.sql import (
    alias,
    column,
    columns,
    equal,
    greatest,
    inner_join,
    is_not_null,
    least,
    number,
    rows_of,
    select,
    subquery,
    union_all,
)
from weir.engine.conditions import condition_sql, value_sql
from weir.engine.coverage import difference
from weir.engine.relations import INTERVAL
from weir.engine.sweep import Key
from weir.lars.syntax import Assignment, Condition, Literal, Rule
from weir.rules.literals import Literals, RuleColumns
from weir.rules.points import PointRange
from weir.sparql.algebra.expressions import Expression
from weir.sparql.algebra.traversal import map_variables

Reader = Callable[[int, Literal], exp.Query | None]
"""The rows of the nth literal of a body; None if it never holds."""


@dataclass(frozen=True, slots=True)
class Body:
    """When a body holds: `names`, since, until; intervals of the same values do not overlap."""

    rows: exp.Query
    names: Key


def body_of(rule: Rule, names: RuleColumns, literals: Literals, read: Reader) -> Body | None:
    """When the body of a rule holds; None if it never does.

    Args:
        rule: the rule.
        names: the columns of its variables.
        literals: makes relations.
        read: the rows of its literals.
    """
    positive: list[tuple[Key, exp.Query]] = []
    negated: list[tuple[Key, exp.Query]] = []
    for i, literal in enumerate(rule.literals):
        rows = read(i, literal)
        if rows is None:
            if literal.negated:
                continue
            return None
        own = tuple(dict.fromkeys(names.column(variable) for variable in literal.variables))
        (negated if literal.negated else positive).append((own, rows))
    together = joined(positive, literals.points, timeless=literals.timeless)
    if literals.products is not None:
        own_names = (names_ for names_, _ in positive)
        literals.products.check(literals.engine, rule, own_names, together.rows)
    held = _assigned(rule, names, together)
    if not negated:
        return held
    relation = literals.make(held.rows)
    return Body(_without(relation, held.names, negated), held.names)


def joined(
    parts: Sequence[tuple[Key, exp.Query]], points: PointRange, *, timeless: bool = False
) -> Body:
    """The solutions that are made of one row of each part, while all of them hold.

    Args:
        parts: the columns of values and the rows of each; since, until.
        points: throughout which the solution of no part holds.
        timeless: the parts lack since and until, and all solutions hold always.
    """
    if not parts:
        first, end = alias(number(points.first), "since"), alias(number(points.end), "until")
        return Body(select(first, end), ())
    bound: dict[str, str] = {}
    joins: list[exp.Join] = []
    aliases = [f"l{i}" for i in range(len(parts))]
    for i, (names, rows) in enumerate(parts):
        here = aliases[i]
        on: list[exp.Expr] = [
            column(name, here).eq(column(name, bound[name])) for name in names if name in bound
        ]
        for before in () if timeless else aliases[:i]:
            # Intervals of which any two meet have a point in common.
            on.append(column("since", here) < column("until", before))
            on.append(column("since", before) < column("until", here))
        bound |= {name: here for name in names if name not in bound}
        if i:
            joins.append(inner_join(subquery(rows, here), *(on or [exp.true()])))
    since: exp.Expr = number(points.first)
    until: exp.Expr = number(points.end)
    if not timeless:
        since = greatest(*(column("since", table) for table in aliases))
        until = least(*(column("until", table) for table in aliases))
    solutions = select(
        *(alias(column(name, table), name) for name, table in bound.items()),
        alias(since, "since"),
        alias(until, "until"),
        from_=subquery(parts[0][1], aliases[0]),
        joins=joins,
    )
    return Body(solutions, tuple(bound))


def _assigned(rule: Rule, names: RuleColumns, body: Body) -> Body:
    """The solutions with the values of assignments, if there are any, that meet all conditions."""
    conditions: list[Expression] = []
    for element in rule.body:
        match element:
            case Assignment():
                name = names.column(element.variable)
                value = value_sql(_over(element.expression, names), frozenset(body.names))
                extended = select(
                    *columns(body.names),
                    alias(value, name),
                    *columns(INTERVAL),
                    from_=subquery(body.rows, "b"),
                )
                kept = select(
                    *columns((*body.names, name, *INTERVAL)),
                    from_=subquery(extended, "e"),
                    where=[is_not_null(column(name))],
                )
                body = Body(kept, (*body.names, name))
            case Condition():
                conditions.append(_over(element.expression, names))
            case Literal():
                pass
    if not conditions:
        return body
    rows = select(
        *columns((*body.names, *INTERVAL)),
        from_=subquery(body.rows, "b"),
        where=[condition_sql(condition, frozenset(body.names)) for condition in conditions],
    )
    return Body(rows, body.names)


def _over(expression: Expression, names: RuleColumns) -> Expression:
    return map_variables(expression, names.column)


def _without(relation: str, names: Key, negated: Sequence[tuple[Key, exp.Query]]) -> exp.Select:
    """The solutions while none of the negated elements holds."""
    matches: list[exp.Query] = []
    for own, rows in negated:
        matches.append(
            select(
                *columns(names, "b"),
                alias(greatest(column("since", "b"), column("since", "n")), "since"),
                alias(least(column("until", "b"), column("until", "n")), "until"),
                from_=rows_of(relation, "b"),
                joins=[
                    inner_join(
                        subquery(rows, "n"),
                        *equal(own, "b", "n"),
                        column("since", "b") < column("until", "n"),
                        column("since", "n") < column("until", "b"),
                    )
                ],
            )
        )
    held = select(*columns((*names, *INTERVAL)), from_=rows_of(relation))
    return difference(held, union_all(matches), names)
