"""Spark and DuckDB give the same rows of every leg of a query over streams.

A case is a query and one section of its history, as in `test_laws`. The histories have few late
events and so few legs: Spark takes as long for a leg of one section as for one of twenty.
"""

from __future__ import annotations

from collections import Counter

import pytest
from pyspark.sql import SparkSession

from tests.support.laws import LAWS, Seeds
from tests.support.streams.cases import StreamCase, stream_case
from tests.support.streams.memory import StreamMemory
from tests.support.streams.on_spark import SparkStreamMemory
from weir.plan.lower import lower
from weir.plan.plan import Plan

SECTIONS = 15
LATE = 0.08
"""The share of sections with late events, which begin legs."""
CANDIDATES = 100
"""So many seeds of cases are tried for a seed of the law."""


def case_of(seed: int) -> StreamCase:
    return stream_case(seed, SECTIONS, LATE)


def plan_of(case: StreamCase) -> Plan:
    return lower(case.parsed(), allow_product=True)


def case_with_two_legs(seed: int) -> StreamCase:
    """The first whose history has two legs: one from nothing, and one that corrects."""
    for case in map(case_of, range(CANDIDATES * seed, CANDIDATES * (seed + 1))):
        last = len(case.epochs)
        legs = StreamMemory.of(case, plan_of(case)).timeline(last).legs(0, last)
        if len(legs) == 2 and any(leg.corrects for leg in legs):
            return case
    raise AssertionError(f"none of {CANDIDATES} cases has two legs")


@pytest.mark.law("streams on Spark")
def test_spark_stores_the_rows_that_duckdb_stores(quick_spark: SparkSession, seeds: Seeds) -> None:
    """Of every leg and node, with instants and epochs."""
    case = case_with_two_legs(seeds.one())
    plan, last = plan_of(case), len(case.epochs)
    expected = StreamMemory.of(case, plan)
    legs = expected.run(0, last)
    of_spark = SparkStreamMemory.of(case, plan)
    of_spark.spark = quick_spark
    assert of_spark.run(0, last) == legs
    assert of_spark.stored() == expected.stored()


@pytest.mark.usefixtures("spark")
def test_the_cases_have_every_window_and_the_graph() -> None:
    counts: Counter[str] = Counter()
    for case in map(case_with_two_legs, range(LAWS["streams on Spark"].size)):
        counts.update({type(window).__name__ for window in case.windows.values()})
        counts["the graph"] += any(c.scope.window is None for c in plan_of(case).components)
    least = {"SlidingWindow": 4, "SteppedWindow": 8, "LastElements": 2, "the graph": 4}
    assert {name: counts[name] for name, n in least.items() if counts[name] < n} == {}
