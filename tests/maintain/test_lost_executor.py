"""Spark stores rows on executors, which may be lost while a query is computed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from tests.support.oracles.projects import check_answers
from tests.support.projects.graphs import FIRST, NAMES, PAIRS, ingest_change_sets
from tests.support.projects.project import Project
from weir.compute.engine import Engine
from weir.compute.lost_rows import ATTEMPTS
from weir.compute.writing import Commit
from weir.errors import WeirError


@pytest.fixture
def on_spark(project: Project) -> Project:
    """Two queries and a graph, which Spark alone computes."""
    project.query("pairs", PAIRS)
    project.query("names", NAMES)
    ingest_change_sets(project, FIRST)
    project.configure(driver_rows=0, driver_table_bytes=0, driver_scan_rows=0)
    return project


def _losing(spark: SparkSession, times: int) -> Callable[..., Commit]:
    """`Engine.write`, before which the rows that executors store are gone, so many times."""
    write, left = Engine.write, [None] * times

    def write_after_a_loss(engine: Engine, *arguments: object, **options: object) -> Commit:
        if left:
            left.pop()
            jvm = spark.sparkContext._jsc.sc()
            for number in [*jvm.getPersistentRDDs().keys().mkString(" ").split()]:
                jvm.env().blockManager().master().removeRdd(int(number), True)
        return write(engine, *arguments, **options)  # type: ignore[arg-type]

    return write_after_a_loss


def test_rows_that_are_lost_with_an_executor_are_computed_again_in_the_same_run(
    on_spark: Project, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "write", _losing(spark, 1))
    lines: list[str] = []
    on_spark.maintain(lambda: spark, progress=lines.append)
    assert [line for line in lines if "they are computed again" in line]
    monkeypatch.undo()
    on_spark.stages("validate", "publish", spark=lambda: spark)
    for query in ("pairs", "names"):
        check_answers(on_spark, query, 2, 2)


def test_a_query_whose_rows_are_lost_again_and_again_fails(
    on_spark: Project, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "write", _losing(spark, 10 * ATTEMPTS))
    with pytest.raises(WeirError, match="rows were lost with an executor of Spark"):
        on_spark.maintain(lambda: spark)
    monkeypatch.undo()
    on_spark.maintain(lambda: spark)
    on_spark.stages("validate", "publish", spark=lambda: spark)
    check_answers(on_spark, "pairs", 2, 2)
