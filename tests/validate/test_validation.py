"""A check that fails: one query hinders no other, and Spark takes what DuckDB has no memory for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Semaphore
from typing import TYPE_CHECKING

import duckdb
import pytest

from tests.support.opened import engine_of, no_spark
from tests.support.projects.handmade import HandMadeLake
from weir.compute.engine import RowsOnDriver
from weir.compute.session import Spark
from weir.definitions.definition import Form
from weir.expectations import run
from weir.expectations.run import Check, run_checks
from weir.expectations.suite import QualityResult
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.tables import embeddings
from weir.process import address_space
from weir.progress.backlog import Backlog
from weir.progress.watermarks import Watermark
from weir.project import open_lake
from weir.validate.answer_rows import AnswerRules
from weir.validate.validation import Validation, validate_queries

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = ("p", "q")
DRIVER = ("driver_rows", "driver_table_bytes", "driver_scan_rows", "driver_parse_bytes")
OUT_OF_MEMORY = duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate 2 GiB")
DAMAGED = duckdb.IOException("IO Error: not a Parquet file")


@pytest.fixture
def written(lake: HandMadeLake) -> HandMadeLake:
    """Rows of two queries: of `q`, one is taken away that was never there."""
    for query, weight in zip(QUERIES, (1, -1), strict=True):
        row = {"node": "answer", "epoch": 1, "weight": weight, "v0": "<http://a/a>"}
        write(open_lake(lake.settings), embeddings(query, 1), [row], Metadata("m", "maintain", 1))
    return lake


def validations(
    lake: HandMadeLake,
    spark: Spark,
    forms: Sequence[Form] = ("select", "select"),
    parallel: int = 1,
) -> list[Validation]:
    metadata = Metadata("m", "maintain", 1, base=1, extra={"columns": [["x", 0]]})
    maintained = Watermark(1, 1, metadata, 1)
    work = [
        (Backlog(query, maintained, None, False, ""), AnswerRules(form, False))
        for query, form in zip(QUERIES, forms, strict=True)
    ]
    stored = open_lake(lake.settings)
    with engine_of(lake.settings, "validate", spark, stored) as engine:
        return validate_queries(engine, work, parallel)


def fail_for(query: str, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every statement of DuckDB fail that checks the rows of `query`."""
    run = RowsOnDriver.query

    def failing(rows: RowsOnDriver, statement: str) -> list[tuple[object, ...]]:
        held = {name for (name,) in run(rows, "SELECT DISTINCT scope FROM checked_rows")}
        if query in held:
            raise error
        return run(rows, statement)

    monkeypatch.setattr(RowsOnDriver, "query", failing)


def test_a_query_that_cannot_be_checked_fails_alone(
    written: HandMadeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked, _ = validations(written, no_spark)
    fail_for("q", DAMAGED, monkeypatch)
    assert validations(written, no_spark)[0] == checked
    (result,) = validations(written, no_spark)[1].results
    assert (result.expectation, result.success) == ("rows_can_be_read", False)
    assert result.examples == (f"embeddings, answers could not be computed: {DAMAGED}",)


def test_memory_that_the_system_refuses_is_no_fault_of_a_query(
    written: HandMadeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(address_space, "limit", lambda: 1 << 30)
    fail_for("q", RuntimeError("malloc of size 64 failed"), monkeypatch)
    with pytest.raises(RuntimeError, match="malloc of size 64 failed"):
        validations(written, no_spark)


def test_spark_checks_what_duckdb_has_no_memory_for(
    written: HandMadeLake, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = validations(written, no_spark)
    assert [outcome.success for outcome in expected] == [True, False]
    fail_for("q", OUT_OF_MEMORY, monkeypatch)
    assert validations(written, spark) == expected


def test_kinds_of_queries_that_spark_checks_at_once_have_their_own_results(
    written: HandMadeLake, spark: SparkSession
) -> None:
    kinds: tuple[Form, Form] = ("select", "construct")
    alone = validations(written, no_spark, kinds)
    assert [outcome.success for outcome in alone] == [True, False]
    written.project.configure(**dict.fromkeys(DRIVER, 0))
    assert validations(written, spark, kinds, parallel=2) == alone


def test_one_call_at_a_time_uses_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """All Spark frames are checked under the same temporary view."""
    both, inside = Barrier(2), Semaphore(1)

    def checking(_checks: Sequence[Check]) -> list[object]:
        assert inside.acquire(blocking=False), "another call is in progress"
        time.sleep(0.05)
        inside.release()
        return []

    def call(_number: int) -> tuple[QualityResult, ...]:
        both.wait()
        return run_checks([])

    monkeypatch.setattr(run, "validations", checking)
    with ThreadPoolExecutor(2) as threads:
        assert [*threads.map(call, range(2))] == [(), ()]
