"""What the driver computes stays within its limits; Spark computes everything else."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from sqlglot import condition, exp, parse_one

from tests.support.opened import no_spark
from weir.compute.connection import connect
from weir.compute.duck import DuckEngine
from weir.compute.engine import Engine, SparkShape
from weir.compute.placement import Placement
from weir.compute.relations import Keep, Statement
from weir.compute.session import Session
from weir.compute.sql import column, number
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.scratch import scratch_folder
from weir.lake.tables import Column, Table
from weir.settings import DuckDbSettings, Settings

LOG = Table("log", "Numbers.", (Column("n", "BIGINT", "number"), Column("epoch", "BIGINT", "")))
METADATA = Metadata("test", "maintain", 1)
SHAPE = SparkShape(broadcast_rows=10, rows_per_file=1000)
ON_SPARK = pytest.raises(AssertionError, match="Spark")


def engine_with(
    folder: Path,
    connection: duckdb.DuckDBPyConnection | None = None,
    *,
    driver_rows: int = 1999,
    table_bytes: int = 10**9,
    session: Session = no_spark,
) -> Engine:
    placement = Placement(driver_rows, table_bytes, driver_scan_rows=4000, driver_parse_bytes=0)
    local = DuckEngine(connection or duckdb.connect())
    return Engine(Lake(str(folder)), session, local, placement, SHAPE)


@pytest.fixture
def numbers(tmp_path: Path) -> Engine:
    """An engine with a relation of a thousand numbers."""
    engine = engine_with(tmp_path)
    engine.load("numbers", pa.table({"n": range(1000)}))
    return engine


def make(engine: Engine, name: str, query: str, keep: Keep = "view") -> None:
    select = parse_one(query, dialect="duckdb")
    assert isinstance(select, exp.Query)
    engine.make(Statement(name, select, keep))


@pytest.mark.parametrize("keep", ["view", "small"])
def test_a_result_above_the_limit_is_not_fetched(numbers: Engine, keep: Keep) -> None:
    make(numbers, "few", "SELECT * FROM numbers", keep)
    make(numbers, "many", "SELECT * FROM numbers UNION ALL SELECT * FROM numbers", keep)
    few = numbers.fetch_few("few", 1000)
    assert few is not None
    assert few.num_rows == 1000
    assert numbers.fetch_few("many", 2000) is None


def test_a_result_above_the_limit_is_streamed_into_a_table(numbers: Engine, tmp_path: Path) -> None:
    pairs = "SELECT a.n AS n, b.n AS epoch FROM numbers AS a CROSS JOIN numbers AS b"
    make(numbers, "pairs", f"{pairs} WHERE b.n < 300")
    commit = numbers.write(LOG, "pairs", METADATA)
    assert commit.rows == 300_000
    stored = Lake(str(tmp_path)).rows("log")
    assert stored.num_rows == 300_000
    assert len({*stored["n"].to_pylist()}) == 1000


@pytest.fixture
def starved(tmp_path: Path) -> Engine:
    """An engine whose DuckDB has too little memory for the relation `large`."""
    limits = DuckDbSettings(memory="20MB", threads=1, spill=tmp_path, spill_size="1MB")
    engine = engine_with(tmp_path / "lake", connect(Settings(duckdb=limits)), driver_rows=10**7)
    engine.load("numbers", pa.table({"n": range(1000)}))
    make(engine, "pairs", "SELECT a.n AS a, b.n AS b FROM numbers AS a CROSS JOIN numbers AS b")
    make(engine, "large", "SELECT DISTINCT a::VARCHAR || repeat('x', 200) || b AS t FROM pairs")
    return engine


def test_a_result_that_exceeds_the_memory_of_duckdb_is_left_to_spark(starved: Engine) -> None:
    with ON_SPARK:
        starved.frame("large")


def test_a_write_that_exceeds_the_memory_of_duckdb_is_left_to_spark(
    starved: Engine, tmp_path: Path
) -> None:
    table = Table("texts", "Texts.", (Column("t", "STRING", "text"),))
    with ON_SPARK:
        starved.write(table, "large", METADATA)
    assert Lake(str(tmp_path / "lake")).last_metadata("texts") is None


@pytest.mark.parametrize("keep", ["cache", "small"])
def test_what_is_made_of_a_large_relation_is_on_the_driver_only_if_it_is_small(
    tmp_path: Path, spark: SparkSession, keep: Keep
) -> None:
    with engine_with(tmp_path, session=lambda: spark) as engine:
        engine.load("numbers", pa.table({"n": range(5000)}))
        make(engine, "part", "SELECT n FROM numbers WHERE n < 4000")
        make(engine, "large", "SELECT DISTINCT n FROM part", keep)
        make(engine, "small", "SELECT n FROM large WHERE n < 3", keep)
        make(engine, "none", "SELECT n FROM part WHERE n > 4000", keep)
        names = ("large", "small", "none")
        assert [name for name in names if engine.is_on_driver(name)] == ["small", "none"]
        assert [engine.count(name) for name in names] == [4000, 3, 0]


def test_what_is_made_of_a_large_relation_is_computed_once(
    tmp_path: Path, spark: SparkSession
) -> None:
    computed = spark.sparkContext.accumulator(0)

    def counted(number: int) -> tuple[int]:
        computed.add(1)
        return (number,)

    with engine_with(tmp_path, session=lambda: spark) as engine:
        rows = spark.sparkContext.parallelize(range(5000), 2).map(counted)
        engine.load("numbers", rows.toDF("n BIGINT"), most=5000)
        make(engine, "large", "SELECT n FROM numbers", "cache")
        make(engine, "sum", "SELECT SUM(n) AS n FROM large", "small")
        assert engine.rows(parse_one("SELECT n FROM sum")) == [(12497500,)]  # type: ignore[arg-type]
    assert computed.value == 5000


def store(folder: Path, *commits: int) -> None:
    """A table with a commit of so many rows per epoch."""
    for epoch, rows in enumerate(commits, start=1):
        table = pa.table({"n": range(rows), "epoch": [epoch] * rows})
        write(Lake(str(folder)), LOG, table, METADATA)


def test_rows_of_a_large_table_are_looked_up_on_the_driver(tmp_path: Path) -> None:
    store(tmp_path, 5000)
    large = engine_with(tmp_path)
    large.open("log", "log")
    make(large, "part", "SELECT * FROM log WHERE n < 4000")
    make(large, "found", "SELECT * FROM part WHERE n < 3", "small")
    assert large.count("found") == 3


@pytest.mark.parametrize("read", ["log", "part"])
def test_a_query_over_all_of_a_large_table_runs_on_spark(tmp_path: Path, read: str) -> None:
    store(tmp_path, 5000)
    large = engine_with(tmp_path)
    large.open("log", "log")
    make(large, "part", "SELECT * FROM log WHERE n < 4000")
    with ON_SPARK:
        make(large, "all", f"SELECT * FROM {read}", "cache")


def test_few_new_epochs_of_a_table_that_is_too_large_are_read_on_the_driver(tmp_path: Path) -> None:
    store(tmp_path, 50_000, 3)
    size = sum(file.stat().st_size for file in (tmp_path / "log").glob("*.parquet"))
    engine = engine_with(tmp_path, table_bytes=size // 2)
    engine.open("new", "log", where=condition(exp.column("epoch") > 1))
    assert engine.count("new") == 3
    engine.open("all", "log")
    with ON_SPARK:
        engine.count("all")


def test_the_last_events_of_a_long_stream_are_computed_with_on_the_driver(tmp_path: Path) -> None:
    columns = (Column("n", "BIGINT", "number"), Column("instant", "BIGINT", ""))
    stream = Table("stream", "Events.", columns)
    for begin, rows in ((0, 5000), (5000, 100)):
        events = pa.table({"n": range(rows), "instant": range(begin, begin + rows)})
        write(Lake(str(tmp_path)), stream, events, METADATA)
    engine = engine_with(tmp_path)
    engine.open("last", "stream", where=column("instant") > number(5009))
    make(engine, "content", "SELECT * FROM last", "cache")
    assert engine.count("content") == 90
    engine.open("more", "stream", where=column("instant") > number(4990))
    with ON_SPARK:
        make(engine, "all", "SELECT * FROM more", "cache")


def test_many_new_rows_are_read_by_spark(tmp_path: Path) -> None:
    store(tmp_path, 3, 5000)
    engine = engine_with(tmp_path)
    engine.open("new", "log", where=condition(exp.column("epoch") > 1))
    with ON_SPARK:
        engine.count("new")


def test_a_slice_from_before_the_first_epoch_is_the_whole_table(tmp_path: Path) -> None:
    store(tmp_path, 5000)
    engine = engine_with(tmp_path)
    engine.open("new", "log", where=column("epoch") > number(-1))
    with ON_SPARK:
        engine.count("new")


def test_slices_of_tables_with_similar_names_are_kept_apart(tmp_path: Path) -> None:
    store(tmp_path, 2, 3)
    engine = engine_with(tmp_path)
    later = column("epoch") > number(1)
    engine.open("log", "log", where=later)
    engine.open("log_all", "log", where=later.copy().and_(column("n") > number(1)))
    assert (engine.count("log"), engine.count("log_all")) == (3, 1)


def test_without_rows_for_the_driver_a_statement_that_reads_nothing_is_left_to_spark(
    tmp_path: Path,
) -> None:
    with ON_SPARK:
        make(engine_with(tmp_path, driver_rows=0), "one", "SELECT 1 AS n")


def test_without_rows_for_the_driver_everything_is_left_to_spark(tmp_path: Path) -> None:
    store(tmp_path, 3)
    engine = engine_with(tmp_path, driver_rows=0)
    engine.open("log", "log")
    with ON_SPARK:
        engine.count("log")
    with ON_SPARK:
        engine.load("numbers", pa.table({"n": [1]}))


def test_duckdb_keeps_to_the_configured_memory_and_folder(tmp_path: Path) -> None:
    limits = DuckDbSettings(memory="123MiB", threads=3, spill=tmp_path)
    (configured,) = (
        connect(Settings(duckdb=limits))
        .execute(
            "SELECT current_setting('memory_limit'), current_setting('threads'), "
            "current_setting('temp_directory'), current_setting('TimeZone')"
        )
        .fetchall()
    )
    assert configured == ("123.0 MiB", 3, str(scratch_folder(tmp_path) / "duckdb"), "UTC")
