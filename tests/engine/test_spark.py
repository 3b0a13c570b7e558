"""Spark and DuckDB give the same rows for every statement."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from tests.engine.test_laws import plan_of
from tests.engine.test_papers import BAGS, NUMBERED, deltas_of, fixture, plan_for
from tests.engine.test_w3c_histories import evaluation_cases, history_to
from tests.support.generators.basic_cases import case
from tests.support.generators.grammar_cases import WholeCase, long_paths_case, whole_case
from tests.support.harness import WHOLE, History, Memory, run_in_cuts, state
from tests.support.laws import Seeds
from tests.support.shared_shapes import GroupMemory, group_cases
from tests.support.spark_harness import SparkGroupMemory, SparkMemory
from weir.compute.plan_size import PlanSize
from weir.compute.spark import SparkEngine
from weir.plan.lower import lower
from weir.sparql.frontend.translate import translate

_PER_STATEMENT = 600
"""Most nodes of the analysed plan of a statement.

With nested operators the largest had 185; of 36 random cases, that of a CONSTRUCT of three triples
407, and the next 153.
"""


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many nodes the analysed plan of each statement has that Spark is given from now on."""
    counts: list[int] = []
    planned = SparkEngine.planned

    def counted(engine: SparkEngine, query: exp.Query) -> tuple[DataFrame, PlanSize]:
        frame, size = planned(engine, query)
        counts.append(frame._jdf.queryExecution().analyzed().treeString().count("\n"))
        return frame, size

    monkeypatch.setattr(SparkEngine, "planned", counted)
    return counts


@pytest.mark.law("compiled plans on Spark")
def test_spark_stores_the_rows_that_duckdb_stores_with_compiled_plans(
    spark: SparkSession, seeds: Seeds
) -> None:
    """In several partitions, as in production."""
    _compare(spark, seeds)


@pytest.mark.law("whole grammar on Spark")
def test_spark_stores_the_rows_that_duckdb_stores_of_the_whole_grammar(
    quick_spark: SparkSession, seeds: Seeds, nodes: list[int]
) -> None:
    """At registration, or in a run of the epochs that follow; with plans of limited size."""

    def broken_laws(seed: int) -> Iterator[str]:
        nodes.clear()
        yield from _differences(quick_spark, _whole_or_long(seed))
        if max(nodes) > _PER_STATEMENT:
            yield f"seed {seed}: a plan of {max(nodes)} nodes"

    seeds.check(broken_laws)


def _whole_or_long(seed: int) -> WholeCase:
    return long_paths_case(seed // 6) if seed % 6 == 0 else whole_case(seed)


def _differences(spark: SparkSession, pair: WholeCase) -> Iterator[str]:
    """Every other seed continues on Spark what DuckDB has stored."""
    plan = lower(
        translate(pair.query, pair.default_graph),  # type: ignore[arg-type]
        allow_product=True,
    )
    history, rng = pair.histories[0], random.Random(pair.seed)
    last = len(history)
    by_duckdb, by_spark = Memory(plan, history), SparkMemory(spark, plan, history)
    if pair.seed % 2:
        base = rng.randint(1, last)
        by_duckdb.run(base - 1, base, initial=True)
        by_spark.run(base - 1, base, initial=True)
    else:
        base = rng.randint(1, last - 1)
        by_duckdb.run(base - 1, base, initial=True)
        by_spark.connection.register("begun", by_duckdb.connection.table("stored").to_arrow_table())
        by_spark.connection.execute("INSERT INTO stored SELECT * FROM begun")
        by_duckdb.run(base, last)
        by_spark.run(base, last)
    if by_duckdb.stored() != by_spark.stored():
        yield f"seed {pair.seed}: {pair.query}"


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


_DEEPER = (
    "{inner} OPTIONAL {{ ?x{n} :p ?x{next} }}",
    "{inner} OPTIONAL {{ ?x0 :q ?y{n} FILTER(?y{n} != ?x{n}) }}",
    "{{ {inner} }} UNION {{ ?x0 :q ?x{n} }}",
    "{inner} MINUS {{ ?x{n} :q ?x0 }}",
    "{inner} FILTER NOT EXISTS {{ ?x{n} :q ?z }}",
    "{{ SELECT DISTINCT * {{ {inner} }} }} OPTIONAL {{ ?x{n} :p/:q ?x{next} }}",
)


@pytest.mark.parametrize("depth", [4, 8, 12])
def test_what_spark_analyses_for_a_statement_does_not_grow_with_the_depth_of_the_query(
    quick_spark: SparkSession, nodes: list[int], depth: int
) -> None:
    """Spark expands a view wherever it is named, so uncut plans would double with each operator."""
    rng = random.Random(depth)
    text = "?x0 :p ?x1"
    for n in range(1, depth + 1):
        text = rng.choice(_DEEPER).format(inner=text, n=n, next=n + 1)
    plan = plan_for(f"PREFIX : <http://example.org/> SELECT * {{ {text} }}")
    steps = [(f"<http://example.org/n{i}>", f"<http://example.org/n{i + 1}>") for i in range(4)]
    quads = {("", one, f"<http://example.org/{p}>", other) for one, other in steps for p in "pq"}
    history: History = (
        (frozenset(), frozenset(quads)),
        (frozenset([min(quads)]), frozenset()),
    )
    memory = SparkMemory(quick_spark, plan, history)
    memory.run(0, 1, initial=True)
    memory.run(1, 2)
    by_duckdb = run_in_cuts(Memory(plan, history), 2, (1,))
    assert state(memory.log(), 2) == state(by_duckdb.log(), 2)
    assert max(nodes) <= _PER_STATEMENT


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
        in_memory = run_in_cuts(memory, len(history), (), thresholds=WHOLE)
        if in_memory.stored() != expected.stored():
            differing.append(test.name)
    assert not differing
