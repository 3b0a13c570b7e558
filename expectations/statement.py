"""The unexpected rows of some suites as one SQL statement, for Spark or for DuckDB."""

from __future__ import annotations

from functools import cache
from typing import Literal

from sqlglot import exp, select

from weir.expectations.suite import Expectation, Suite
from weir.expectations.terms import parse_condition

Dialect = Literal["spark", "duckdb"]
CHECKED_ROWS = "checked_rows"
"""The name by which the statement reads the rows that it checks."""

_EXAMPLE_CHARACTERS = 2000


@cache
def unexpected_rows(suites: tuple[Suite, ...], dialect: Dialect) -> str:
    """A SELECT with one row if expectations fail, and without rows if all hold.

    Its column `unexpected` is an array of structs, one per scope, suite and expectation that fails:
    `scope`, `suite`, `expectation`, `unexpected_rows` (how many rows do not meet it), `first` and
    `last` (two of them as JSON). All expectations are conditions over the same rows, so one pass
    checks all of them.
    """
    marks = [_mark(suite, e, dialect) for suite in suites for e in suite.expectations]
    array = exp.ArrayCompact(this=exp.Array(expressions=marks))
    fails = exp.or_(*(exp.not_(_passes(suite, e)) for suite in suites for e in suite.expectations))
    # An array takes long to make, also an empty one: most rows need none.
    failing = select("*").from_(CHECKED_ROWS).where(fails)
    marked = select("scope", exp.Explode(this=array).as_("mark")).from_(failing.subquery("failing"))
    suite, name, example = (exp.column(c, "mark") for c in ("suite", "expectation", "example"))
    counted = (
        select(
            "scope",
            suite.as_("suite"),
            name.as_("expectation"),
            exp.Count(this=exp.Star()).as_("unexpected_rows"),
            exp.Min(this=example).as_("first"),
            exp.Max(this=example.copy()).as_("last"),
        )
        .from_(marked.subquery("marked"))
        .group_by("scope", suite, name)
    )
    unexpected = _columns("scope", "suite", "expectation", "unexpected_rows", "first", "last")
    return (
        select(exp.ArrayAgg(this=unexpected).as_("unexpected"))
        .from_(counted.subquery("counted"))
        .having(exp.Count(this=exp.Star()) > 0)
        .sql(dialect)
    )


def _mark(suite: Suite, expectation: Expectation, dialect: Dialect) -> exp.Expr:
    """A struct with the expectation and the row as an example; null if the row meets it."""
    shown = exp.Left(
        this=_json(_columns(*suite.shown), dialect),
        expression=exp.Literal.number(_EXAMPLE_CHARACTERS),
    )
    mark = _struct(
        suite=exp.Literal.string(suite.name),
        expectation=exp.Literal.string(expectation.name),
        example=shown,
    )
    return exp.Case().when(_passes(suite, expectation), exp.null()).else_(mark)


def _passes(suite: Suite, expectation: Expectation) -> exp.Expr:
    """Whether a row meets an expectation, or is none that the suite checks; never null."""
    passes = exp.or_(exp.not_(parse_condition(suite.rows)), parse_condition(expectation.holds))
    return exp.func("coalesce", passes, exp.false())


def _json(value: exp.Expr, dialect: Dialect) -> exp.Expr:
    """The value as JSON, with null fields, which Spark leaves out by default."""
    if dialect == "duckdb":
        return exp.JSONFormat(this=value)
    options = exp.VarMap(
        keys=exp.Array(expressions=[exp.Literal.string("ignoreNullFields")]),
        values=exp.Array(expressions=[exp.Literal.string("false")]),
    )
    return exp.JSONFormat(this=value, options=options)


def _columns(*names: str) -> exp.Expr:
    return _struct(**{name: exp.column(name) for name in names})


def _struct(**fields: exp.Expr) -> exp.Expr:
    return exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.to_identifier(name), expression=value)
            for name, value in fields.items()
        ]
    )
