"""What one job of Spark has to compute is bounded, however many relations follow one another."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from sqlglot import exp

from weir.compute.relations import Keep, Statement
from weir.compute.spark import SparkEngine
from weir.compute.sql import column, inner_join, rows_of, select, subquery, union_all


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
