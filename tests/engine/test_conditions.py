"""The SQL of a condition agrees with the evaluator, for every kind of term."""

from __future__ import annotations

import itertools

import pytest
from sqlglot.expressions import select

from jobs.compute.duck import DuckEngine
from jobs.compute.functions import EVALUATE
from jobs.engine.conditions import condition_sql
from jobs.sparql.algebra.expressions import Call, Constant, Expression, Variable
from tests.support.duck import DuckOfTest
from tests.support.evaluation import evaluate

XSD = "http://www.w3.org/2001/XMLSchema#"
TERMS: tuple[str | None, ...] = (
    None,
    "<http://example.org/a>",
    "<http://example.org/b>",
    "_:b0",
    '"en"',
    '""',
    '"@en"',
    '"x"@en',
    '"x"@en-gb',
    '"x"@de',
    '"quote\\"@en"',
    f'"1"^^<{XSD}integer>',
    f'"1.0"^^<{XSD}decimal>',
    f'"true"^^<{XSD}boolean>',
    '"v"^^<http://example.org/unknown>',
)
X, Y = Variable("v0"), Variable("v1")
A = Constant("<http://example.org/a>")
EXACT: tuple[Expression, ...] = (
    Call("BOUND", (X,)),
    Call("SAMETERM", (X, Y)),
    Call("SAMETERM", (X, A)),
    Call("=", (X, A)),
    Call("!=", (X, A)),
    Call("IN", (X, A, Constant("<http://example.org/c>"))),
    Call("NOT IN", (X, A, Constant("<http://example.org/c>"))),
    Call("ISIRI", (X,)),
    Call("ISBLANK", (X,)),
    Call("ISLITERAL", (X,)),
    Call("=", (Call("LANG", (X,)), Constant('"en"'))),
    Call("!=", (Call("LANG", (X,)), Constant('"en"'))),
    Call("=", (Call("LANG", (X,)), Constant('"EN"'))),
    Call("LANGMATCHES", (Call("LANG", (X,)), Constant('"en"'))),
    Call("LANGMATCHES", (Call("LANG", (X,)), Constant('"EN-gb"'))),
    Call("LANGMATCHES", (Call("LANG", (X,)), Constant('"*"'))),
)
INTERPRETED: tuple[Expression, ...] = (
    X,
    Call("=", (X, Y)),
    Call("<", (X, Y)),
    Call("=", (X, Constant('"x"@en'))),
    Call("=", (Call("LANG", (X,)), Constant('""'))),
    Call("REGEX", (Call("STR", (X,)), Constant('"[ab]$"'))),
)
COMBINED: tuple[Expression, ...] = (
    *(Call("!", (part,)) for part in (*EXACT, *INTERPRETED)),
    *(Call("&&", pair) for pair in itertools.pairwise((*EXACT, *INTERPRETED))),
    *(Call("||", pair) for pair in itertools.pairwise((*INTERPRETED, *EXACT))),
)
BOUND = frozenset({"v0", "v1"})
TRUE = f'"true"^^<{XSD}boolean>'


@pytest.fixture(scope="module")
def engine() -> DuckEngine:
    """All pairs of terms as the relation `terms`."""
    made = DuckOfTest()
    made.connection.execute("CREATE TABLE terms (v0 VARCHAR, v1 VARCHAR)")
    made.connection.executemany(
        "INSERT INTO terms VALUES (?, ?)", list(itertools.product(TERMS, repeat=2))
    )
    return made


@pytest.mark.parametrize("condition", [*EXACT, *INTERPRETED, *COMBINED], ids=str)
def test_the_sql_of_a_condition_is_true_where_the_evaluator_says_so(
    engine: DuckEngine, condition: Expression
) -> None:
    query = select("v0", "v1").from_("terms").where(condition_sql(condition, BOUND))
    boolean = Call("!", (Call("!", (condition,)),))
    expected = {
        (x, y)
        for x, y in itertools.product(TERMS, repeat=2)
        if evaluate(boolean, {k: v for k, v in (("v0", x), ("v1", y)) if v is not None}) == TRUE
    }
    assert set(engine.rows(query)) == expected


@pytest.mark.parametrize("condition", EXACT, ids=str)
def test_a_test_of_the_text_of_a_term_needs_no_evaluator(condition: Expression) -> None:
    assert EVALUATE not in condition_sql(condition, BOUND).sql()


def test_a_variable_without_a_column_is_unbound(engine: DuckEngine) -> None:
    missing = Call("BOUND", (Variable("v7"),))
    query = select("v0").from_("terms").where(condition_sql(missing, BOUND))
    assert engine.rows(query) == []
