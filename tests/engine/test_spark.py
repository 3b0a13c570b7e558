"""Spark and DuckDB give the same rows for every statement."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.plan.lower import lower
from jobs.sparql.frontend.translate import translate
from tests.engine.test_laws import plan_of
from tests.engine.test_papers import BAGS, NUMBERED, deltas_of, fixture, plan_for
from tests.engine.test_w3c_histories import evaluation_cases, history_to
from tests.support.generators.basic_cases import case
from tests.support.harness import WHOLE, Memory, run_in_cuts
from tests.support.laws import Seeds
from tests.support.shared_shapes import GroupMemory, group_cases
from tests.support.spark_harness import SparkGroupMemory, SparkMemory


@pytest.mark.law("compiled plans on Spark")
def test_spark_stores_the_rows_that_duckdb_stores_with_compiled_plans(
    spark: SparkSession, seeds: Seeds
) -> None:
    """In several partitions, as in production."""
    _compare(spark, seeds)


@pytest.mark.law("graph patterns on Spark")
def test_spark_stores_the_rows_that_duckdb_stores(quick_spark: SparkSession, seeds: Seeds) -> None:
    _compare(quick_spark, seeds)


def _compare(spark: SparkSession, seeds: Seeds) -> None:
    for seed in seeds:
        pair = case(seed)
        plan, last = plan_of(pair), len(pair.history)
        cut = random.Random(seed).randint(1, last)
        by_duckdb = run_in_cuts(Memory(plan, pair.history), last, (cut,))
        by_spark = run_in_cuts(SparkMemory(spark, plan, pair.history), last, (cut,))
        assert by_spark.stored() == by_duckdb.stored()


@pytest.mark.law("groups on Spark")
def test_spark_stores_the_rows_that_duckdb_stores_of_a_group(
    quick_spark: SparkSession, seeds: Seeds
) -> None:
    """`test_shared_shapes` compares what DuckDB stores with what each member stores by itself."""
    for seed in seeds:
        case = group_cases(seed)[0]
        last = len(case.history)
        cut = random.Random(seed).randint(1, last)
        by_duckdb = run_in_cuts(GroupMemory(case.members, case.history), last, (cut,))
        on_spark = SparkGroupMemory(quick_spark, case.members, case.history)
        by_spark = run_in_cuts(on_spark, last, (cut,))
        assert by_spark.stored() == by_duckdb.stored()


@pytest.mark.parametrize("driver_rows", [3, 10])
def test_relations_may_be_split_between_driver_and_spark(
    spark: SparkSession, driver_rows: int
) -> None:
    """Some relations exceed the limit and some do not, within one run."""
    seeds = [seed for seed in range(200) if len(plan_of(case(seed)).stored) > 1][:4]
    for seed in seeds:
        pair = case(seed)
        plan, last = plan_of(pair), len(pair.history)
        expected = run_in_cuts(Memory(plan, pair.history), last, (1,))
        mixed = run_in_cuts(SparkMemory(spark, plan, pair.history, driver_rows), last, (1,))
        assert mixed.stored() == expected.stored(), seed


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("name", NUMBERED)
def test_spark_gives_the_deltas_of_the_paper(
    quick_spark: SparkSession, shared: Path, name: str
) -> None:
    golden = fixture(shared, name)
    memory = SparkMemory(quick_spark, plan_for(golden.query), golden.history)
    memory.run(0, 1)
    memory.run(1, len(golden.history))
    assert deltas_of(memory, len(golden.history)) == golden.deltas


@pytest.mark.parametrize("number", BAGS)
def test_spark_gives_the_deltas_of_the_bag(
    quick_spark: SparkSession, shared: Path, number: int
) -> None:
    golden = fixture(shared, f"001-{number}")
    assert golden.bag_query is not None
    memory = SparkMemory(quick_spark, plan_for(golden.bag_query), golden.history)
    memory.run(0, len(golden.history))
    assert deltas_of(memory, len(golden.history)) == golden.bag_deltas


@pytest.mark.law("w3c histories on Spark")
def test_spark_stores_the_rows_that_duckdb_stores_of_the_w3c_tests(
    quick_spark: SparkSession, shared: Path, seeds: Seeds
) -> None:
    """In one run over all epochs of the whole graph, as `history: full` begins.

    Ten seeds in a row are all tests.

    `test_w3c_histories` compares what DuckDB stores with the oracles.
    """
    differing = []
    for test in evaluation_cases(shared)[seeds.one() % 10 :: 10]:
        plan = lower(translate(test.text, "default"), allow_product=True)
        history = history_to(test.quads, seed=0)
        expected = run_in_cuts(Memory(plan, history), len(history), ())
        memory = SparkMemory(quick_spark, plan, history)
        found = run_in_cuts(memory, len(history), (), thresholds=WHOLE)
        if found.stored() != expected.stored():
            differing.append(test.name)
    assert not differing
