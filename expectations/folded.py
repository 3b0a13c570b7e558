"""One expectation of Great Expectations for whole suites, on Spark and on rows in memory.

Importing this module takes seconds: `expectations.run.library` does it, quietly.
"""

from __future__ import annotations

from typing import Any, ClassVar

import duckdb
import pandas as pd
import pyarrow as pa
from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
from great_expectations.execution_engine.sparkdf_execution_engine import SparkDFExecutionEngine
from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.expectations.metrics.metric_provider import MetricProvider, metric_value

from expectations.statement import CHECKED_ROWS


class BrokenRows(MetricProvider):
    """The value of `broken_rows` for a batch: what is broken, a dictionary each.

    The statement is in the dialect of what runs it: Spark for a Spark frame, DuckDB for a pandas
    frame, which `in_memory` makes of an Arrow table.
    """

    metric_name = "weir.broken_rows"
    domain_keys = ("batch_id",)
    value_keys = ("statement",)

    @metric_value(engine=SparkDFExecutionEngine)
    def _spark(
        cls,  # noqa: N805  (it is registered as a class method)
        execution_engine: SparkDFExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        **_: Any,
    ) -> list[dict[str, Any]]:
        frame = _batch(execution_engine, metric_domain_kwargs)
        frame.createOrReplaceTempView(CHECKED_ROWS)
        found = execution_engine.spark.sql(metric_value_kwargs["statement"]).collect()
        return [broken.asDict() for row in found for broken in row["broken"]]

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(
        cls,  # noqa: N805
        execution_engine: PandasExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        **_: Any,
    ) -> list[dict[str, Any]]:
        frame = _batch(execution_engine, metric_domain_kwargs)
        with duckdb.connect() as connection:
            connection.register(CHECKED_ROWS, pa.Table.from_pandas(frame, preserve_index=False))
            found = connection.sql(metric_value_kwargs["statement"]).fetchall()
        return [broken for (row,) in found for broken in row]


def in_memory(rows: pa.Table) -> pd.DataFrame:
    """The rows as Great Expectations takes them; the columns stay Arrow's."""
    frame: pd.DataFrame = rows.to_pandas(types_mapper=pd.ArrowDtype)
    return frame


def _batch(execution_engine: Any, domain: dict[str, Any]) -> Any:
    frame, _, _ = execution_engine.get_compute_domain(domain, domain_type=MetricDomainTypes.TABLE)
    return frame


class FoldedExpectations(BatchExpectation):
    """All expectations of some suites; holds if nothing is broken."""

    statement: str

    metric_dependencies: ClassVar[tuple[str, ...]] = (BrokenRows.metric_name,)
    success_keys: ClassVar[tuple[str, ...]] = ("statement",)
    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id",)

    def _validate(
        self,
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any] | None = None,
        execution_engine: Any = None,
    ) -> dict[str, Any]:
        del runtime_configuration, execution_engine
        broken = metrics[BrokenRows.metric_name]
        return {
            "success": not broken,
            "result": {"observed_value": len(broken), "details": {"broken": broken}},
        }
