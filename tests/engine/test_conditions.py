"""The SQL of a condition agrees with the evaluator, for every kind of term."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pyarrow as pa
import pytest
from sqlglot.expressions import Anonymous, Expr, alias_, select

from tests.support.duck import DuckOfTest
from tests.support.evaluation import evaluate
from weir.compute.duck import DuckEngine
from weir.compute.functions import EVALUATE
from weir.engine.conditions import condition_sql, value_sql
from weir.sparql.algebra.expressions import Call, Constant, Expression, Variable

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


_OPTIONS = (
    *("<http://example.org/a>", '"en"', '""', '"x"@de', '"v"^^<http://example.org/unknown>'),
    *(f'"{n}"^^<{XSD}integer>' for n in ("1", "01", "-3", "16777217", "123456800", "x")),
    *(f'"1.{n}"^^<{XSD}decimal>' for n in ("0", "5")),
    *(f'"{n}"^^<{XSD}double>' for n in ("1e0", "NaN", "16777216")),
    *(f'"{n}"^^<{XSD}boolean>' for n in ("true", "1")),
    f'"2020-01-01T00:00:00"^^<{XSD}dateTime>',
)
_TESTED = (
    *TERMS,
    *_OPTIONS,
    *(f'"{n}"^^<{XSD}float>' for n in ("1", "-3", "16777216", "123456800", "2.1", "-0")),
    *(f'"{n}"^^<{XSD}decimal>' for n in ("-3.0", "-3.5", "123456800.0", "2.1", "-0.0")),
    *(f'"{n}"^^<{XSD}double>' for n in ("123456800.1", "2.1", "2.5")),
    *(f'"2020-01-0{n}T00:00:11.5{zone}"^^<{XSD}dateTime>' for n in (1, 2) for zone in ("", "Z")),
    f'"2020-01-01T00:00:00Z"^^<{XSD}dateTime>',
)


def _long_list(kind: str) -> list[Expression]:
    """More options than are parameters; each term of `_OPTIONS` in some list."""
    return [*map(Constant, _LISTS[kind])]


_LISTS = {
    "IRIs": [f"<http://example.org/{n}>" for n in range(80)],
    "strings": [f'"{n}"' for n in range(2, 80)],
    "languages": [f'"{n}"@en' for n in range(80)],
    "integers": [f'"{n}"^^<{XSD}integer>' for n in range(2, 80)],
    "large integers": [f'"{n}"^^<{XSD}integer>' for n in range(123_456_790, 123_456_870)],
    "decimals": [f'"{n}.5"^^<{XSD}decimal>' for n in range(2, 80)],
    "floats": [f'"{n}.1"^^<{XSD}float>' for n in range(2, 80)],
    "doubles": [f'"{n}.1"^^<{XSD}double>' for n in range(2, 80)],
    "unknown datatypes": [f'"{n}"^^<http://example.org/unknown>' for n in range(80)],
    "dates": [f'"2020-01-01T00:00:{n}.5"^^<{XSD}dateTime>' for n in range(10, 60)]
    + [f'"2020-01-02T00:00:{n}.5Z"^^<{XSD}dateTime>' for n in range(10, 60)],
}


def _second_by_first(rows: list[tuple[object, ...]]) -> dict[object, object]:
    return {row[0]: row[1] for row in rows}


def _with_others(kind: str) -> list[tuple[str, Sequence[str]]]:
    """Functions, and what a list of a kind has beside it: each other option in a third of all."""
    third = [*_LISTS].index(kind) % 3
    return [
        *((function, others) for function in ("IN", "NOT IN") for others in ((), _OPTIONS)),
        *(("IN", (option,)) for option in _OPTIONS[third::3]),
        ("IN", (A.term, '"en"', '"x"@de')),
    ]


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("kind", _LISTS)
def test_a_long_list_is_compared_as_the_evaluator_does(kind: str) -> None:
    """Alone, with each other kind of option, and within other expressions."""
    engine = DuckOfTest()
    engine.load("tested", pa.table({"v0": pa.array(_TESTED, pa.string())}))

    def computed(expression: Expr) -> dict[object, object]:
        return _second_by_first(engine.rows(select("v0", alias_(expression, "x")).from_("tested")))

    for function, more in _with_others(kind):
        condition = Call(function, (X, *_long_list(kind), *map(Constant, more)))
        by_sql = computed(condition_sql(condition, BOUND))
        by_value = computed(value_sql(condition, BOUND))
        for term in _TESTED:
            expected = evaluate(condition, _row(term))
            assert by_value[term] == expected, (term, more)
            assert by_sql[term] == (None if expected is None else expected == TRUE), (term, more)
        if more == _OPTIONS:
            inside = Call("COALESCE", (Call("IF", (condition, Constant('"in"'), X)), A))
            nested = computed(value_sql(inside, BOUND))
            for term in _TESTED:
                assert nested[term] == evaluate(inside, _row(term)), term


def _row(term: str | None) -> dict[str, str]:
    return {} if term is None else {"v0": term}


@pytest.mark.parametrize("is_nested", [False, True])
def test_the_evaluator_is_given_one_of_each_kind_of_a_long_list(is_nested: bool) -> None:
    lists = (_long_list(kind) for kind in _LISTS if kind != "dates")
    condition = Call("IN", (X, *(option for listed in lists for option in listed)))
    if is_nested:
        condition = Call("COALESCE", (Call("IF", (condition, X, A)), A))
    calls = [*condition_sql(condition, BOUND).find_all(Anonymous)]
    assert max(len(call.expressions[0].name) for call in calls) < 500


def test_a_variable_without_a_column_is_unbound(engine: DuckEngine) -> None:
    missing = Call("BOUND", (Variable("v7"),))
    query = select("v0").from_("terms").where(condition_sql(missing, BOUND))
    assert engine.rows(query) == []
