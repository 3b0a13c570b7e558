"""Spark and DuckDB give the same rows of every leg of a query over streams.

A case is a query and one section of its history, as in `test_laws`. The histories have few late
events and so few legs: Spark takes as long for a leg of one section as for one of twenty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from jobs.plan.lower import lower
from jobs.plan.plan import Plan
from tests.support.streams.cases import StreamCase, stream_case
from tests.support.streams.memory import StreamMemory
from tests.support.streams.on_spark import SparkStreamMemory

SECTIONS = 15
LATE = 0.08
"""The share of sections with late events, which begin legs."""
SEEDS = (6, 17, 23, 38, 39, 40, 42, 76, 81, 87, 88, 93, 95, 98, 102, 104, 105, 109, 114, 115)
"""The first whose histories have two or three legs: one from nothing, the others correct."""

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def case_of(seed: int) -> StreamCase:
    return stream_case(seed, SECTIONS, LATE)


def plan_of(case: StreamCase) -> Plan:
    return lower(case.parsed(), allow_product=True)


@pytest.fixture(scope="module")
def quick(spark: SparkSession) -> Iterator[SparkSession]:
    """The session without what takes longer than computing a test's rows."""
    settings = {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.leafNodeDefaultParallelism": "1",
    }
    before = {key: spark.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    yield spark
    for key, was in before.items():
        if was is None:
            spark.conf.unset(key)
        else:
            spark.conf.set(key, was)


@pytest.mark.parametrize("seed", SEEDS)
def test_spark_stores_the_rows_that_duckdb_stores(quick: SparkSession, seed: int) -> None:
    """Of every leg and node, with instants and epochs."""
    case = case_of(seed)
    plan, last = plan_of(case), len(case.epochs)
    expected = StreamMemory.of(case, plan)
    legs = expected.run(0, last)
    found = SparkStreamMemory.of(case, plan)
    found.spark = quick
    assert found.run(0, last) == legs
    assert any(leg.corrects for leg in legs)
    assert found.stored() == expected.stored()


def test_there_are_300_cases_with_every_window_and_the_graph() -> None:
    found: Counter[str] = Counter()
    for case in map(case_of, SEEDS):
        found.update({type(window).__name__ for window in case.windows.values()})
        found["the graph"] += any(c.scope.window is None for c in plan_of(case).components)
    least = {"SlidingWindow": 4, "SteppedWindow": 8, "LastElements": 2, "the graph": 4}
    assert {name: found[name] for name, n in least.items() if found[name] < n} == {}
    assert len(SEEDS) * SECTIONS >= 300
