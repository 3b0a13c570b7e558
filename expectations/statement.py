"""All expectations of some suites as one SQL statement, for Spark or for DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal

from sqlglot import exp, parse_one

from expectations.suite import Expectation, Suite

Dialect = Literal["spark", "duckdb"]
CHECKED_ROWS = "checked_rows"
"""What the statement calls the rows that it checks."""

_EXAMPLE_CHARACTERS = 2000


def broken_rows(suites: Sequence[Suite], dialect: Dialect) -> str:
    """A SELECT of one row with what is broken, or of none.

    Its column `broken` is an array of structs, one per scope, suite and expectation: how many rows
    break it, and two of them. All expectations are conditions over the same rows, so one pass finds
    what is broken.
    """
    statement = _parsed(tuple(suites))
    if dialect == "duckdb":
        # It writes nulls unasked.
        statement = statement.transform(_without_options)
    return statement.sql(dialect=dialect)


@cache
def _parsed(suites: tuple[Suite, ...]) -> exp.Expr:
    broken = ", ".join(_mark(suite, e) for suite in suites for e in suite.expectations)
    marked = f"SELECT scope, explode(array_compact(array({broken}))) AS mark FROM {CHECKED_ROWS}"
    counted = (
        "SELECT scope, mark.suite AS suite, mark.expectation AS expectation,"
        " count(*) AS unexpected_rows, min(mark.example) AS first, max(mark.example) AS last"
        f" FROM ({marked}) AS marked GROUP BY scope, mark.suite, mark.expectation"
    )
    found = "struct(scope, suite, expectation, unexpected_rows, first, last)"
    return parse_one(
        f"SELECT collect_list({found}) AS broken FROM ({counted}) AS counted HAVING count(*) > 0",
        dialect="spark",
    )


def _mark(suite: Suite, expectation: Expectation) -> str:
    """What a row that breaks the expectation is marked with; null for one that does not."""
    shown = f"to_json(struct({', '.join(suite.shown)}), map('ignoreNullFields', 'false'))"
    return (
        f"CASE WHEN NOT ({suite.rows}) OR coalesce({expectation.holds}, false) THEN NULL ELSE "
        f"struct('{suite.name}' AS suite, '{expectation.name}' AS expectation,"
        f" left({shown}, {_EXAMPLE_CHARACTERS}) AS example) END"
    )


def _without_options(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.JSONFormat):
        node.set("options", None)
    return node
