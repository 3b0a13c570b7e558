"""The baseline: a query evaluated over the whole graph, written without our engine.

One scan per triple pattern, joined where variables are shared; by Spark SQL, and the same statement
by DuckDB. The text is read by rdflib; only `SELECT *` over a basic graph pattern is understood,
which is all that the benchmark has. The rows go to Spark's `noop` sink, or are fetched in batches
and dropped, so the baseline writes nothing, while Weir's times include its commits.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlglot
from deltalake import DeltaTable
from pyspark.sql import Observation
from pyspark.sql import functions as F  # noqa: N812
from rdflib.plugins.sparql import prepareQuery
from rdflib.term import Variable

from weir.compute.connection import connect
from weir.lake.delta.bindings import Bindings
from weir.lake.delta.scan import attach

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from weir.settings import Settings

_POSITIONS = ("subject", "predicate", "object")
CODEGEN = "spark.sql.codegen.wholeStage"
COMPILED, INTERPRETED, DUCKDB = "compiled stages", "interpreted stages", "DuckDB"
METHODS = (COMPILED, INTERPRETED, DUCKDB)
"""How queries are evaluated: Spark SQL with and without code generation, and DuckDB."""


@dataclass(frozen=True, slots=True)
class Recomputed:
    """One evaluation of a query over the whole graph, by one of the `METHODS`."""

    query: str
    method: str
    rows: int
    seconds: float


def state_sql(table: str) -> str:
    """The triples that hold at the head of a log: asserted, and not retracted since."""
    same = " AND ".join(f"a.{name} = r.{name}" for name in _POSITIONS)
    return (
        f"SELECT a.subject, a.predicate, a.object FROM {table} a LEFT ANTI JOIN "
        f"(SELECT subject, predicate, object, epoch FROM {table} WHERE weight < 0) r "
        f"ON {same} AND r.epoch > a.epoch WHERE a.weight > 0"
    )


def query_sql(text: str, relation: str) -> str:
    """A basic graph pattern as a join of `relation` (subject, predicate, object) with itself.

    Raises:
        ValueError: the query is more than `SELECT *` over triple patterns.
    """
    algebra = prepareQuery(text).algebra
    pattern = algebra.p.p
    if algebra.name != "SelectQuery" or pattern.name != "BGP":
        raise ValueError(f"not SELECT * over triple patterns: {pattern.name}")
    bound: dict[str, str] = {}
    conditions: list[str] = []
    for number, triple in enumerate(pattern.triples):
        for position, node in zip(_POSITIONS, triple, strict=True):
            cell = f"t{number}.{position}"
            if not isinstance(node, Variable):
                term = node.n3().replace("\\", "\\\\").replace("'", "\\'")
                conditions.append(f"{cell} = '{term}'")
            elif str(node) in bound:
                conditions.append(f"{bound[str(node)]} = {cell}")
            else:
                bound[str(node)] = cell
    tables = ", ".join(f"{relation} t{number}" for number in range(len(pattern.triples)))
    columns = ", ".join(f"{cell} AS `{name}`" for name, cell in bound.items())
    return f"SELECT {columns} FROM {tables} WHERE {' AND '.join(conditions)}"


def recompute(
    spark: SparkSession, triples: str, queries: dict[str, str], *, codegen: bool
) -> list[Recomputed]:
    """Evaluate every query over the head of the table at `triples`, by Spark.

    Args:
        spark: the session that Weir ran in.
        triples: folder of the log of triples.
        queries: texts by name.
        codegen: whether stages are compiled.
    """
    before = spark.conf.get(CODEGEN)
    spark.conf.set(CODEGEN, str(codegen).lower())
    try:
        spark.read.format("delta").load(triples).createOrReplaceTempView("bench_log")
        spark.sql(state_sql("bench_log")).createOrReplaceTempView("bench_state")
        method = COMPILED if codegen else INTERPRETED
        return [_evaluate(spark, name, text, method) for name, text in queries.items()]
    finally:
        spark.conf.set(CODEGEN, str(before))
        for view in ("bench_log", "bench_state"):
            spark.catalog.dropTempView(view)


def _evaluate(spark: SparkSession, name: str, text: str, method: str) -> Recomputed:
    started = time.monotonic()
    counted = Observation()
    rows = spark.sql(query_sql(text, "bench_state")).observe(
        counted, F.count(F.lit(1)).alias("rows")
    )
    rows.write.format("noop").mode("overwrite").save()
    seconds = time.monotonic() - started
    return Recomputed(name, method, int(counted.get["rows"]), seconds)


def recompute_here(settings: Settings, triples: str, queries: dict[str, str]) -> list[Recomputed]:
    """Evaluate every query over the head of the table at `triples`, by DuckDB in this process.

    It has the memory, threads and reader that Weir's own DuckDB has.
    """
    recomputed = []
    with connect(settings) as connection:
        attach(Bindings(connection), "bench_log", DeltaTable(triples))
        connection.execute(f"CREATE TEMP VIEW bench_state AS {_for_duckdb(state_sql('bench_log'))}")
        for name, text in queries.items():
            started = time.monotonic()
            rows = connection.sql(_for_duckdb(query_sql(text, "bench_state")))
            count = sum(batch.num_rows for batch in rows.to_arrow_reader(100_000))
            recomputed.append(Recomputed(name, DUCKDB, count, time.monotonic() - started))
    return recomputed


def _for_duckdb(statement: str) -> str:
    (translated,) = sqlglot.transpile(statement, read="spark", write="duckdb")
    return translated
