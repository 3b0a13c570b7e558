"""A name of an engine stands for one relation, until the scope ends in which it was given."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp, parse_one

from tests.support.opened import no_spark
from weir.compute.duck import DuckEngine
from weir.compute.engine import Engine, SparkShape
from weir.compute.placement import Placement
from weir.compute.relations import LakeQuery, Statement, StoredTable, StoredTables
from weir.lake.delta.bindings import NameIsBound
from weir.lake.delta.commit import create_if_missing, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import Column, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EMPTY = Table("empty", "No rows.", (Column("n", "BIGINT", "number"),))
FULL = Table("full", "A row.", (Column("n", "BIGINT", "number"),))


def engine_at(
    folder: Path, session: Callable[[], SparkSession] = no_spark, driver_rows: int = 1000
) -> Engine:
    lake = Lake(str(folder))
    create_if_missing(lake, EMPTY)
    if not lake.exists("full"):
        write(lake, FULL, [{"n": 1}], Metadata("test", "maintain", 1))
    placement = Placement(driver_rows, 10**9, 10**9, 0)
    local = DuckEngine(duckdb.connect())
    return Engine(lake, session, local, placement, SparkShape(1000, 1000))


def query(text: str) -> exp.Query:
    parsed = parse_one(text, dialect="duckdb")
    assert isinstance(parsed, exp.Query)
    return parsed


WAYS: dict[str, Callable[[Engine, str], None]] = {
    "an empty table": lambda engine, name: engine.open(name, "empty"),
    "a table": lambda engine, name: engine.open(name, "full"),
    "some rows of a table": lambda engine, name: engine.open(
        name, "full", where=exp.column("n").eq(1)
    ),
    "tables": lambda engine, name: engine.open_all(
        StoredTables(name, "key", {"a": StoredTable("a", "full")}, ("n",))
    ),
    "given rows": lambda engine, name: engine.load(name, pa.table({"n": [2]})),
    "a view": lambda engine, name: engine.make(Statement(name, query("SELECT 3 AS n"))),
    "a statement": lambda engine, name: engine.make(
        Statement(name, query("SELECT 3 AS n"), "cache")
    ),
}


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("first", WAYS)
@pytest.mark.parametrize("second", WAYS)
def test_a_second_relation_of_a_name_is_refused(tmp_path: Path, first: str, second: str) -> None:
    engine = engine_at(tmp_path)
    WAYS[first](engine, "named")
    before = engine.rows(query("SELECT n FROM named"))
    for name in ("named", "NAMED"):
        with pytest.raises(NameIsBound):
            WAYS[second](engine, name)
    assert engine.rows(query("SELECT n FROM named")) == before


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("first", WAYS)
@pytest.mark.parametrize("second", WAYS)
def test_a_name_is_free_after_its_scope(tmp_path: Path, first: str, second: str) -> None:
    engine = engine_at(tmp_path)
    with engine.scope() as own:
        WAYS[first](own, "named")
    WAYS[second](engine, "named")
    expected = engine_at(tmp_path)
    WAYS[second](expected, "named")
    rows = query("SELECT n FROM named")
    assert engine.rows(rows) == expected.rows(rows)


def test_names_are_free_after_a_scope_that_failed(tmp_path: Path) -> None:
    engine = engine_at(tmp_path)

    def fail() -> None:
        with engine.scope() as own:
            own.load("named", pa.table({"n": [1]}))
            own.make(Statement("other", query("SELECT missing FROM named"), "cache"))

    with pytest.raises(duckdb.Error):
        fail()
    engine.load("named", pa.table({"n": [2]}))
    assert engine.rows(query("SELECT n FROM named")) == [(2,)]


def test_scopes_of_threads_do_not_end_what_others_made(tmp_path: Path) -> None:
    engine = engine_at(tmp_path)

    def work(number: int) -> list[tuple[object, ...]]:
        for _ in range(20):
            with engine.scope() as own:
                own.load(f"rows_{number}", pa.table({"n": [number]}))
                rows = own.rows(query(f"SELECT n FROM rows_{number}"))
        return rows

    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(work, range(4))] == [[(number,)] for number in range(4)]


def test_a_stored_table_that_two_queries_read_is_opened_once(tmp_path: Path) -> None:
    engine = engine_at(tmp_path)
    table = StoredTable("stored", "full")
    for name in ("one", "other"):
        engine.query(name, LakeQuery(query("SELECT n FROM stored"), (table,)))
    with pytest.raises(NameIsBound):
        engine.query("third", LakeQuery(query("SELECT 1"), (StoredTable("stored", "empty"),)))


def test_a_name_on_spark_is_refused_and_free_after_its_scope(
    spark: SparkSession, tmp_path: Path
) -> None:
    with engine_at(tmp_path, lambda: spark, driver_rows=0) as engine:
        for _ in range(2):
            with engine.scope() as own:
                own.load("named", pa.table({"n": [1]}))
                own.make(Statement("kept", query("SELECT n FROM named"), "cache"))
                with pytest.raises(NameIsBound):
                    own.open("named", "full")
                assert own.count("kept") == 1
        assert not spark.catalog.tableExists("named")
