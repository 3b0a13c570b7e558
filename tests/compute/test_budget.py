"""A statement that takes more than the budget of its query ends, wherever it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp, parse_one

from tests.support.opened import no_spark
from weir.compute.budget import Budget, QueryLimitError
from weir.compute.duck import DuckEngine
from weir.compute.engine import Engine, SparkShape
from weir.compute.placement import Placement
from weir.compute.relations import Statement
from weir.compute.sql import alias, rows_of, select
from weir.engine.conditions import value_sql
from weir.lake.lake import Lake
from weir.sparql.algebra.expressions import Call, Constant, Variable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Made = Callable[..., Engine]


@pytest.fixture
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """Makes engines over `t`, a text that a search may backtrack over, and `n`, 2,000 numbers."""
    engines = []

    def make(session: Callable[[], SparkSession] = no_spark, driver_rows: int = 10_000) -> Engine:
        lake = Lake(str(tmp_path_factory.mktemp("lake")))
        placement = Placement(driver_rows, 10**9, 10**9, 10**9)
        engine = Engine(
            lake, session, DuckEngine(duckdb.connect()), placement, SparkShape(1_000, 1_000)
        )
        engines.append(engine)
        engine.load("t", pa.table({"x": [f'"{"a" * 60}"']}))
        engine.load("n", pa.table({"i": list(range(2_000))}))
        return engine

    yield make
    for engine in engines:
        engine.release()


def _query(text: str) -> exp.Query:
    query = parse_one(text, dialect="duckdb")
    assert isinstance(query, exp.Query)
    return query


def _search() -> exp.Query:
    call = Call("REGEX", (Variable("x"), Constant('"^(a+)+!$"'), Constant('"i"')))
    value = alias(value_sql(call, frozenset({"x"})), "v")
    return select(value, from_=rows_of("t"))


PRODUCT = "SELECT SUM(a.i * b.i % 7 + c.i) AS s FROM n a, n b, n c WHERE a.i * b.i <> c.i * 3"
COUNT = "SELECT COUNT(*) AS k FROM n"


def _ends(engine: Engine, query: exp.Query, seconds: float) -> None:
    bounded = engine.within(Budget(seconds))
    # Spark computes where it counts.
    bounded.make(Statement("made", query))
    with pytest.raises(QueryLimitError, match=f"query_seconds = {seconds:g}"):
        bounded.fetch_few("made", 1)


def test_a_statement_of_duckdb_ends_and_the_next_one_runs(made: Made) -> None:
    engine = made()
    _ends(engine, _query(PRODUCT), 0.3)
    assert engine.rows(_query(COUNT)) == [(2_000,)]


def test_a_search_that_duckdb_calls_ends_and_the_next_one_runs(made: Made) -> None:
    engine = made()
    _ends(engine, _search(), 0.3)
    assert engine.rows(_query(COUNT)) == [(2_000,)]


def test_statements_use_up_one_budget_together(made: Made) -> None:
    budget = Budget(60)
    engine = made().within(budget)
    engine.rows(_query(COUNT))
    first = budget.used
    engine.rows(_query(COUNT))
    assert budget.used > first > 0


def test_a_budget_that_is_used_up_allows_no_statement(made: Made) -> None:
    engine = made().within(Budget(1, used=1))
    with pytest.raises(QueryLimitError):
        engine.rows(_query(COUNT))


def test_the_wait_for_a_statement_of_another_query_is_not_counted(made: Made) -> None:
    engine, budget = made(), Budget(60)
    with ThreadPoolExecutor(1) as threads:
        with engine._driver:
            waiting = threads.submit(engine.within(budget).rows, _query(COUNT))
            time.sleep(0.05)
            assert budget.used == 0
            assert budget._deadline is None
        waiting.result()
    assert budget.used > 0


def test_an_interruption_that_comes_late_ends_no_other_statement(made: Made) -> None:
    engine = made()
    engine._duck.interrupt()
    assert engine.rows(_query(COUNT)) == [(2_000,)]


@pytest.mark.parametrize("kind", ["product", "search"])
def test_a_statement_of_spark_ends_and_the_next_one_runs(
    made: Made, spark: SparkSession, kind: str
) -> None:
    engine = made(lambda: spark, 0)
    query = _search() if kind == "search" else _query(PRODUCT)
    _ends(engine, query, 6)
    assert engine.rows(_query(COUNT)) == [(2_000,)]
