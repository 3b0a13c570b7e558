"""Spark and DuckDB give the same rows of programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.duck import DuckOfTest
from tests.support.laws import Seeds
from tests.support.rules.cases import RuleCase, rule_case
from tests.support.rules.given import given_case
from tests.support.rules.memory import LogRow, ProgramMemory, memory_of
from tests.support.rules.papers import paper_example
from weir.compute.engine import Engine, SparkShape
from weir.compute.placement import Placement
from weir.lake.lake import Lake


@pytest.fixture
def on_spark(quick_spark: SparkSession) -> Iterator[Engine]:
    """An engine that computes everything with Spark."""
    with Engine(
        Lake("no tables are stored"),
        lambda: quick_spark,
        DuckOfTest(),
        Placement(0, 10**9, 10**9, 10**9),
        SparkShape(broadcast_rows=10, rows_per_file=10**9),
    ) as engine:
        yield engine


@pytest.mark.parametrize(
    "name", ["8-fig4-cooling", "16-tuple-windows", "17-recursion-in-a-stratum"]
)
def test_spark_gives_the_log_that_duckdb_gives_of_programs_of_the_paper(
    on_spark: Engine, shared: Path, name: str
) -> None:
    example = paper_example(shared / "papers" / "examples" / f"004-{name}")
    memory = ProgramMemory(
        example.program, example.epochs(at_once=True), starts=example.first, engine=on_spark
    )
    memory.run(0, 1)
    expected = ProgramMemory(example.program, example.epochs(at_once=True), starts=example.first)
    expected.run(0, 1)
    assert memory.log() == expected.log()


@pytest.mark.parametrize("name", ["windows that hop", "windows that count some tuples"])
def test_spark_records_what_duckdb_records_of_each_kind_of_window(
    on_spark: Engine, name: str
) -> None:
    assert _log(given_case(name), on_spark) == _log(given_case(name), None)


@pytest.mark.law("programs on Spark")
def test_spark_records_what_duckdb_records(on_spark: Engine, seeds: Seeds) -> None:
    case = rule_case(seeds.one())
    assert _log(case, on_spark) == _log(case, None)


def _log(case: RuleCase, engine: Engine | None) -> list[LogRow]:
    """The log of one run; of DuckDB without an engine."""
    memory = memory_of(case, engine=engine)
    memory.run(0, len(case.epochs))
    return memory.log()
