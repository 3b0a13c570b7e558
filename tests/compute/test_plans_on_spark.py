"""What Spark has to compute is bounded, and computed once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from threading import Barrier

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from sqlglot import exp

from tests.support.spark_harness import spark_engine
from weir.compute.duck import DuckEngine
from weir.compute.engine import Engine, SparkShape
from weir.compute.placement import Placement
from weir.compute.relations import Keep, Statement
from weir.compute.spark import SparkEngine
from weir.compute.sql import column, inner_join, rows_of, select, subquery, text, union_all
from weir.lake.lake import Lake


def _joined(relation: str, times: int) -> exp.Query:
    """The rows of a relation, joined with itself."""
    if times == 0:
        return select(column("a"), from_=rows_of(relation))
    inner = union_all([_joined(relation, times - 1), select(column("a"), from_=rows_of(relation))])
    is_same = column("a", "l").eq(column("a", "r"))
    return select(
        column("a", "l"),
        from_=subquery(inner, "l"),
        joins=[inner_join(rows_of(relation, "r"), is_same)],
        distinct=True,
    )


@pytest.mark.parametrize("keep", ["view", "cache"])
@pytest.mark.parametrize(("relations", "joins"), [(60, 1), (12, 6)])
def test_relations_that_no_job_has_computed_do_not_exceed_the_stack_of_a_task(
    quick_spark: SparkSession, relations: int, joins: int, keep: Keep
) -> None:
    """Uncut, 25 relations of one join did, and so did eight of ten joins."""
    engine = SparkEngine(quick_spark, broadcast_rows=10)
    try:
        rows = quick_spark.createDataFrame(pa.table({"a": ["x", "y"]}))
        engine.register("r0", rows, "cache")
        for number in range(relations):
            query = _joined(f"r{number}", joins)
            engine.make(Statement(f"r{number + 1}", query, keep))
        last = select(column("a"), from_=rows_of(f"r{relations}"))
        assert sorted(engine.rows(last)) == [("x",), ("y",)]
    finally:
        engine.release()


def _jobs(spark: SparkSession) -> int:
    """How many jobs the session has started."""
    return int(spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs())


def _newest_description(spark: SparkSession) -> str:
    """What the session's page of jobs says of the newest one."""
    jobs = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    return str(jobs.head().description().get())


def test_a_job_is_described_by_its_stage_and_relation(quick_spark: SparkSession) -> None:
    engine = SparkEngine(quick_spark, broadcast_rows=10, job="maintain")
    try:
        with engine.cancellable():
            rows = quick_spark.createDataFrame(pa.table({"a": ["x", "y"]}))
            engine.register("keys", rows, "small")
        assert _newest_description(quick_spark) == "maintain: keys"
    finally:
        engine.release()


def _stored(spark: SparkSession) -> dict[int, bool]:
    """By number, whether stored rows may be in memory."""
    stored = spark.sparkContext._jsc.getPersistentRDDs()
    return {int(number): bool(stored[number].getStorageLevel().useMemory()) for number in stored}


@pytest.mark.parametrize(("most", "in_memory"), [(2, True), (1_000_001, False), (None, False)])
def test_what_is_made_of_many_rows_is_stored_on_disk_alone(
    quick_spark: SparkSession, most: int | None, in_memory: bool
) -> None:
    """Spark takes a partition into memory to read it, if it is stored in memory and on disk."""
    before = _stored(quick_spark)
    with spark_engine(quick_spark) as engine:
        rows = quick_spark.createDataFrame(pa.table({"a": ["x", "y"]}))
        engine.load("rows", rows, most=most)
        engine.make(Statement("made", select(column("a"), from_=rows_of("rows")), "cache"))
        assert engine.count("made") == 2
        stored = _stored(quick_spark)
    assert {stored[number] for number in stored.keys() - before.keys()} == {in_memory}


@pytest.mark.parametrize(
    ("keep", "jobs"), [("cache", (0, 1, 0)), ("small", (1, 0, 0)), ("broadcast", (1, 0, 0))]
)
def test_the_rows_of_a_relation_are_computed_and_counted_by_one_job(
    quick_spark: SparkSession, keep: Keep, jobs: tuple[int, ...]
) -> None:
    engine = SparkEngine(quick_spark, broadcast_rows=10)
    try:
        query = select(column("id"), from_=exp.to_table("range(0, 6, 1, 3)", dialect="spark"))
        started = [_jobs(quick_spark)]
        engine.make(Statement("r", query, keep))
        started.append(_jobs(quick_spark))
        for _ in range(2):
            assert engine.count("r") == 6
            started.append(_jobs(quick_spark))
        assert tuple(after - before for before, after in pairwise(started)) == jobs
        # Few rows are in one partition, and are still the rows.
        assert quick_spark.table("r").rdd.getNumPartitions() == 1
        assert sorted(engine.rows(select(column("id"), from_=rows_of("r")))) == [
            (number,) for number in range(6)
        ]
    finally:
        engine.release()


@pytest.mark.parametrize("keep", ["cache", "small", "broadcast"])
def test_what_reads_no_rows_starts_no_job(quick_spark: SparkSession, keep: Keep) -> None:
    engine = SparkEngine(quick_spark, broadcast_rows=10)
    try:
        rows = quick_spark.createDataFrame(pa.table({"a": ["x", "y"]}))
        engine.register("all", rows, "cache")
        nothing = select(column("a"), from_=rows_of("all"), where=[column("a").eq(text("z"))])
        engine.make(Statement("none", nothing, keep))
        assert engine.count("none") == 0
        started = _jobs(quick_spark)
        is_same = column("a", "l").eq(column("a", "r"))
        joined = select(
            column("a", "l"),
            from_=rows_of("all", "l"),
            joins=[inner_join(rows_of("none", "r"), is_same)],
        )
        assert engine.rows(joined) == []
        assert _jobs(quick_spark) == started
    finally:
        engine.release()


def test_a_relation_of_the_driver_that_threads_need_on_spark_at_once_is_sent_once(
    quick_spark: SparkSession, tmp_path: Path
) -> None:
    placement = Placement(9, 1, driver_scan_rows=9, driver_parse_bytes=0)
    shape = SparkShape(broadcast_rows=10, rows_per_file=1000)
    local = DuckEngine(duckdb.connect())
    threads = 4
    start = Barrier(threads)

    def rows(engine: Engine, number: int) -> int:
        start.wait(60)
        return engine.frame(f"numbers{number}").count()

    with Engine(Lake(str(tmp_path)), lambda: quick_spark, local, placement, shape) as engine:
        for number in range(3):
            engine.load(f"numbers{number}", pa.table({"n": range(5)}))
            with ThreadPoolExecutor(threads) as pool:
                assert [*pool.map(rows, [engine] * threads, [number] * threads)] == [5] * threads
