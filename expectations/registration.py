"""The expectations of suites as expectations of Great Expectations, for Spark and for DuckDB.

Each is registered under its own name, and so has its own line in a validation result. Expectations
that are checked together share one metric, computed once per batch by one statement: the rows that
do not meet them. Each expectation takes its own rows from the metric's value.

Importing this module takes seconds: `weir.expectations.run.library` does it, with warnings off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any, ClassVar

import pandas as pd
from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
from great_expectations.execution_engine.sparkdf_execution_engine import SparkDFExecutionEngine
from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.expectations.metrics.metric_provider import MetricProvider, metric_value

from weir.expectations.held_rows import HeldRows
from weir.expectations.statement import CHECKED_ROWS, unexpected_rows
from weir.expectations.suite import Suite

_SUITES: dict[str, Suite] = {}
"""The registered suites by name: Great Expectations passes only plain values, such as names."""
_HELD: dict[str, HeldRows] = {}
"""The rows that placeholders stand for, by the placeholder's attribute `_NAME`."""
_NAME = "weir.rows"
_NUMBERS = count()


def register(suites: Sequence[Suite]) -> list[SuiteExpectation]:
    """The expectations of the suites, to be checked together on one batch.

    Raises:
        ValueError: another suite has the same name.
    """
    for suite in suites:
        if _SUITES.setdefault(suite.name, suite) != suite:
            raise ValueError(f"two suites have the same name: {suite.name}")
    together = [suite.name for suite in suites]
    return [
        _registered(expectation.name)(
            suite=suite.name, together=together, description=expectation.sentence
        )
        for suite in suites
        for expectation in suite.expectations
    ]


@cache
def _registered(name: str) -> type[SuiteExpectation]:
    """The expectation of this name; defining the class registers it."""
    return type(name, (SuiteExpectation,), {"__module__": __name__})


class UnexpectedRows(MetricProvider):
    """The rows of a batch that do not meet expectations: a dictionary per expectation and scope.

    Its keys are those of the structs that `weir.expectations.statement.unexpected_rows` returns.
    The statement is in the dialect of the engine: Spark for a Spark frame, DuckDB for a pandas
    frame, which is the `placeholder` of rows in DuckDB.
    """

    metric_name = "weir.unexpected_rows"
    domain_keys = ("batch_id",)
    value_keys = ("together",)

    @metric_value(engine=SparkDFExecutionEngine)
    def _spark(
        cls,  # noqa: N805  (it is registered as a class method)
        execution_engine: SparkDFExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        **_: Any,
    ) -> list[dict[str, Any]]:
        statement = unexpected_rows(_suites(metric_value_kwargs), "spark")
        frame = _batch(execution_engine, metric_domain_kwargs)
        frame.createTempView(CHECKED_ROWS)
        try:
            rows = execution_engine.spark.sql(statement).collect()
        finally:
            execution_engine.spark.catalog.dropTempView(CHECKED_ROWS)
        return [unexpected.asDict() for row in rows for unexpected in row["unexpected"]]

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(
        cls,  # noqa: N805
        execution_engine: PandasExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        **_: Any,
    ) -> list[dict[str, Any]]:
        statement = unexpected_rows(_suites(metric_value_kwargs), "duckdb")
        frame = _batch(execution_engine, metric_domain_kwargs)
        rows = _HELD[frame.attrs[_NAME]].query(statement)
        return [unexpected for (array,) in rows for unexpected in array]


@contextmanager
def placeholder(rows: HeldRows) -> Iterator[pd.DataFrame]:
    """An empty pandas frame that Great Expectations takes in place of rows in DuckDB.

    In the block, checks of the frame check the rows, which stay in DuckDB.
    """
    frame = pd.DataFrame(columns=[*rows.column_names])
    name = f"rows {next(_NUMBERS)}"
    frame.attrs[_NAME] = name
    _HELD[name] = rows
    try:
        yield frame
    finally:
        del _HELD[name]


def _suites(value_kwargs: dict[str, Any]) -> tuple[Suite, ...]:
    return tuple(_SUITES[name] for name in value_kwargs["together"])


def _batch(execution_engine: Any, domain: dict[str, Any]) -> Any:
    frame, _, _ = execution_engine.get_compute_domain(domain, domain_type=MetricDomainTypes.TABLE)
    return frame


class SuiteExpectation(BatchExpectation):
    """One expectation of a suite; its type is the expectation's name.

    Attributes:
        suite: the suite that it belongs to.
        together: the suites that are checked together; equal for all that share the metric.
    """

    suite: str
    together: list[str]

    metric_dependencies: ClassVar[tuple[str, ...]] = (UnexpectedRows.metric_name,)
    success_keys: ClassVar[tuple[str, ...]] = ("suite", "together")
    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id",)

    def _validate(
        self,
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any] | None = None,
        execution_engine: Any = None,
    ) -> dict[str, Any]:
        """Success, the number of unexpected rows, examples, and the same per scope."""
        del runtime_configuration, execution_engine
        of_this = (self.suite, self.expectation_type)
        scopes = [
            {
                "scope": unexpected["scope"],
                "unexpected_rows": unexpected["unexpected_rows"],
                "examples": list(dict.fromkeys((unexpected["first"], unexpected["last"]))),
            }
            for unexpected in metrics[UnexpectedRows.metric_name]
            if (unexpected["suite"], unexpected["expectation"]) == of_this
        ]
        examples = [example for scope in scopes for example in scope["examples"]]
        return {
            "success": not scopes,
            "result": {
                "unexpected_count": sum(scope["unexpected_rows"] for scope in scopes),
                "partial_unexpected_list": list(dict.fromkeys(examples)),
                "details": {"scopes": scopes},
            },
        }
