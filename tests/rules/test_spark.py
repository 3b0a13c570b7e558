"""Spark and DuckDB give the same rows of programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.duck import DuckOfTest
from tests.support.laws import Seeds
from tests.support.rules.cases import rule_case
from tests.support.rules.memory import ProgramMemory
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


@pytest.mark.law("programs on Spark")
def test_spark_records_what_duckdb_records(on_spark: Engine, seeds: Seeds) -> None:
    case = rule_case(seeds.one())
    logs = []
    for engine in (None, on_spark):
        memory = ProgramMemory(
            case.checked, case.epochs, case.axis, case.corrects_back, engine=engine
        )
        memory.run(0, len(case.epochs))
        logs.append(memory.log())
    assert logs[0] == logs[1]
