"""What the driver computes stays within its limits."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp, parse_one

from jobs.compute.connection import connect
from jobs.compute.hybrid import DriverLimits, HybridEngine
from jobs.compute.relations import Keep, Statement
from jobs.settings import DuckDbSettings, Settings
from tests.support.projects.ingest import no_spark


def engine_with(connection: duckdb.DuckDBPyConnection, fetched_rows: int) -> HybridEngine:
    engine = HybridEngine(no_spark, connection, DriverLimits(1000, fetched_rows, sent_rows=10))
    engine.load("numbers", pa.table({"n": range(1000)}))
    return engine


def make(engine: HybridEngine, name: str, query: str, keep: Keep = "view") -> None:
    select = parse_one(query, dialect="duckdb")
    assert isinstance(select, exp.Query)
    engine.make(Statement(name, select, keep))


@pytest.mark.parametrize("keep", ["view", "small"])
def test_an_answer_above_the_limit_is_not_fetched(keep: Keep) -> None:
    engine = engine_with(duckdb.connect(), fetched_rows=1999)
    make(engine, "few", "SELECT * FROM numbers", keep)
    make(engine, "many", "SELECT * FROM numbers UNION ALL SELECT * FROM numbers", keep)
    few = engine.fetched("few")
    assert few is not None
    assert few.num_rows == 1000
    assert engine.fetched("many") is None


def test_an_answer_that_duckdb_has_no_memory_for_is_not_fetched(tmp_path: Path) -> None:
    limits = DuckDbSettings(memory="20MB", threads=1, spill=tmp_path, spill_size="1MB")
    connection = connect(Settings(duckdb=limits))
    engine = engine_with(connection, fetched_rows=10_000_000)
    make(engine, "pairs", "SELECT a.n AS a, b.n AS b FROM numbers AS a CROSS JOIN numbers AS b")
    make(engine, "sorted", "SELECT DISTINCT a::VARCHAR || repeat('x', 200) || b AS t FROM pairs")
    assert engine.fetched("sorted") is None


@pytest.fixture
def large() -> HybridEngine:
    """An engine with a large stored table that Spark has to be asked for."""
    engine = HybridEngine(no_spark, duckdb.connect(), DriverLimits(1000, 1000, sent_rows=10))

    def attach(connection: duckdb.DuckDBPyConnection, name: str) -> None:
        connection.register(name, pa.table({"n": range(5000)}))

    engine.register_stored("log", attach, lambda: no_spark().table("log"), is_large=True)
    return engine


def test_rows_of_a_large_table_are_looked_up_on_the_driver(large: HybridEngine) -> None:
    make(large, "part", "SELECT * FROM log WHERE n < 4000")
    make(large, "found", "SELECT * FROM part WHERE n < 3", "small")
    assert large.count("found") == 3


@pytest.mark.parametrize("read", ["log", "part"])
def test_what_takes_all_of_a_large_table_is_made_by_spark(large: HybridEngine, read: str) -> None:
    make(large, "part", "SELECT * FROM log WHERE n < 4000")
    with pytest.raises(AssertionError, match="Spark"):
        make(large, "all", f"SELECT * FROM {read}", "cache")


def test_duckdb_keeps_to_the_configured_memory_and_folder(tmp_path: Path) -> None:
    limits = DuckDbSettings(memory="123MiB", threads=3, spill=tmp_path)
    (found,) = (
        connect(Settings(duckdb=limits))
        .execute(
            "SELECT current_setting('memory_limit'), current_setting('threads'), "
            "current_setting('temp_directory'), current_setting('TimeZone')"
        )
        .fetchall()
    )
    assert found == ("123.0 MiB", 3, str(tmp_path), "UTC")
