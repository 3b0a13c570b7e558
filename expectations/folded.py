"""Great Expectations' expectation on the rows of a query, made to run the query once.

Importing this module takes seconds: `expectations.run.library` does it, quietly.
"""

from __future__ import annotations

from typing import Any, ClassVar

from great_expectations.expectations.core.unexpected_rows_expectation import (
    UnexpectedRowsExpectation,
)


class FoldedExpectations(UnexpectedRowsExpectation):
    """All expectations of some suites as one query; it holds if the query has no row.

    The class it is made of asks for the rows and, by running the query again, for their number.
    """

    metric_dependencies: ClassVar[tuple[str, ...]] = ("unexpected_rows_query.table",)

    def _validate(
        self,
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any] | None = None,
        execution_engine: Any = None,
    ) -> dict[str, Any]:
        del runtime_configuration, execution_engine
        rows = metrics["unexpected_rows_query.table"]
        return {
            "success": not rows,
            "result": {"observed_value": len(rows), "details": {"unexpected_rows": rows}},
        }
