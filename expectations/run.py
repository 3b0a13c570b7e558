"""Run suites with Great Expectations; the only module that imports it."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from expectations.suite import QualityResult, Suite

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EXAMPLE_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Check:
    """A suite and the rows it is for.

    Attributes:
        frame: Spark frame with the suite's columns and `scope`.
        scopes: the scopes that get results even when they have no row.
    """

    suite: Suite
    frame: DataFrame
    scopes: tuple[str, ...] = ("",)


def run_suite(
    frame: DataFrame, suite: Suite, scopes: Sequence[str] = ("",)
) -> tuple[QualityResult, ...]:
    """One result per scope and expectation of `suite`, for the rows of `frame`."""
    return run_checks([Check(suite, frame, tuple(scopes))])


def run_checks(checks: Sequence[Check]) -> tuple[QualityResult, ...]:
    """One result per check, scope and expectation, in this order.

    Not from parallel threads: Great Expectations gives every batch the same temporary view.

    Raises:
        ValueError: a frame lacks a column of its suite, or has broken rows of a scope not named.
        RuntimeError: Great Expectations could not compute a suite.
    """
    broken = _with_great_expectations(checks)
    results: list[QualityResult] = []
    for check, found in zip(checks, broken, strict=True):
        for scope in check.scopes:
            for expectation in check.suite.expectations:
                rows, examples = found.pop((scope, expectation.name), (0, ()))
                results.append(
                    QualityResult(
                        suite=check.suite.name,
                        scope=scope,
                        expectation=expectation.name,
                        sentence=expectation.sentence,
                        success=rows == 0,
                        unexpected_rows=rows,
                        examples=examples,
                    )
                )
        if found:
            raise ValueError(
                f"suite {check.suite.name}: rows of unnamed scopes are broken: {found}"
            )
    return tuple(results)


def unexpected_rows_query(suite: Suite) -> str:
    """One row with what is broken, or none: an array of (scope, expectation, rows, two examples).

    All expectations of a suite are conditions over the same rows, so one pass finds what is broken.
    `{batch}` stands for the checked rows with the suite's derived columns.
    """
    broken = ", ".join(
        f"CASE WHEN coalesce({e.holds}, false) THEN NULL ELSE '{e.name}' END"
        for e in suite.expectations
    )
    example = f"left(to_json(struct({', '.join(suite.shown)})), {_EXAMPLE_CHARACTERS})"
    marked = (
        f"SELECT scope, {example} AS example,"
        f" explode(array_compact(array({broken}))) AS expectation FROM {{batch}}"
    )
    counted = (
        "SELECT scope, expectation, count(*) AS unexpected_rows,"
        f" min(example) AS first, max(example) AS last FROM ({marked}) GROUP BY scope, expectation"
    )
    found = "struct(scope, expectation, unexpected_rows, first, last)"
    return f"SELECT collect_list({found}) AS broken FROM ({counted}) HAVING count(*) > 0"


_Broken = dict[tuple[str, str], tuple[int, tuple[str, ...]]]


def _with_great_expectations(checks: Sequence[Check]) -> list[_Broken]:
    """What is broken, per check: (scope, expectation) -> (rows, examples)."""
    gx = library()
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    source = context.data_sources.add_spark("rows", persist=False)
    found: list[_Broken] = []
    for number, check in enumerate(checks):
        suite = check.suite
        name = f"{suite.name} {number}"
        batch = source.add_dataframe_asset(name).add_batch_definition_whole_dataframe(name)
        folded = gx.expectations.UnexpectedRowsExpectation(
            unexpected_rows_query=unexpected_rows_query(suite)
        )
        expectations = context.suites.add(gx.ExpectationSuite(name, expectations=[folded]))
        validation = gx.ValidationDefinition(name=name, data=batch, suite=expectations)
        # Great Expectations runs the query once for its rows and once for their number.
        rows = _with_derived(check).cache()
        try:
            outcome = validation.run(
                batch_parameters={"dataframe": rows}, result_format="COMPLETE"
            ).results[0]
        finally:
            rows.unpersist()
        if outcome.exception_info.get("raised_exception", True):
            raise RuntimeError(
                f"suite {suite.name} could not be computed: {outcome.exception_info}"
            )
        found.append(
            {
                (row["scope"], row["expectation"]): (
                    row["unexpected_rows"],
                    tuple(dict.fromkeys((row["first"], row["last"]))),
                )
                for details in outcome.result["details"]["unexpected_rows"]
                for row in details["broken"]
            }
        )
    return found


def _with_derived(check: Check) -> DataFrame:
    """The rows that the suite is about, with its derived columns."""
    suite = check.suite
    missing = {"scope", *suite.columns} - set(check.frame.columns)
    if missing:
        raise ValueError(f"suite {suite.name}: the frame lacks {', '.join(sorted(missing))}")
    derived = check.frame.selectExpr("*", *(f"{sql} AS {name}" for name, sql in suite.derived))
    return derived.where(suite.rows)


def library() -> Any:
    """Great Expectations: it stores nothing, says nothing and calls nobody.

    The first call takes seconds of importing; made ahead, it need not be waited for.
    """
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    # Under Airflow's logging it would print hundreds of lines at import.
    logging.getLogger("great_expectations").setLevel(logging.WARNING)
    with warnings.catch_warnings():
        # It imports modules of the standard library that are going to be removed.
        warnings.simplefilter("ignore", DeprecationWarning)
        import great_expectations
        import great_expectations.expectations
    return great_expectations
