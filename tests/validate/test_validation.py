"""A check that fails: one query hinders no other, and Spark takes what DuckDB has no memory for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest

from tests.support.opened import engine_of, no_spark
from tests.support.projects.handmade import HandMadeLake
from weir.compute.engine import RowsOnDriver
from weir.compute.session import Spark
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
OUT_OF_MEMORY = duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate 2 GiB")
DAMAGED = duckdb.IOException("IO Error: not a Parquet file")


@pytest.fixture
def written(lake: HandMadeLake) -> HandMadeLake:
    """Rows of two queries: of `q`, one is taken away that was never there."""
    for query, weight in zip(QUERIES, (1, -1), strict=True):
        row = {"node": "answer", "epoch": 1, "weight": weight, "v0": "<http://a/a>"}
        write(open_lake(lake.settings), embeddings(query, 1), [row], Metadata("m", "maintain", 1))
    return lake


def validations(lake: HandMadeLake, spark: Spark) -> list[Validation]:
    metadata = Metadata("m", "maintain", 1, base=1, extra={"columns": [["x", 0]]})
    maintained = Watermark(1, 1, metadata, 1)
    rules = AnswerRules("select", False)
    work = [(Backlog(query, maintained, None, False, ""), rules) for query in QUERIES]
    stored = open_lake(lake.settings)
    with engine_of(lake.settings, "validate", spark, stored) as engine:
        return validate_queries(engine, work)


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
