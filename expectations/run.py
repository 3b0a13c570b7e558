"""Run suites with Great Expectations; the only module that imports it."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from expectations.suite import Expectation, QualityResult, Suite

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EXAMPLE_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Check:
    """Suites and the rows that they are about.

    Attributes:
        frame: Spark frame with the suites' columns and `scope`; it is read once.
        scopes: the scopes that get results even when they have no row.
    """

    suites: tuple[Suite, ...]
    frame: DataFrame
    scopes: tuple[str, ...] = ("",)


def run_suite(
    frame: DataFrame, suite: Suite, scopes: Sequence[str] = ("",)
) -> tuple[QualityResult, ...]:
    """One result per scope and expectation of `suite`, for the rows of `frame`."""
    return run_checks([Check((suite,), frame, tuple(scopes))])


def run_checks(checks: Sequence[Check]) -> tuple[QualityResult, ...]:
    """One result per check, scope, suite and expectation, in this order.

    Not from parallel threads: Great Expectations gives every batch the same temporary view.

    Raises:
        ValueError: a frame lacks a column of its suite, or has broken rows of a scope not named.
        RuntimeError: Great Expectations could not compute a suite.
    """
    broken = _with_great_expectations(checks)
    results: list[QualityResult] = []
    for check, found in zip(checks, broken, strict=True):
        for scope, suite in product(check.scopes, check.suites):
            for expectation in suite.expectations:
                rows, examples = found.pop((scope, suite.name, expectation.name), (0, ()))
                results.append(
                    QualityResult(
                        suite=suite.name,
                        scope=scope,
                        expectation=expectation.name,
                        sentence=expectation.sentence,
                        success=rows == 0,
                        unexpected_rows=rows,
                        examples=examples,
                    )
                )
        if found:
            raise ValueError(f"rows of unnamed scopes are broken: {found}")
    return tuple(results)


def unexpected_rows_query(suites: Sequence[Suite]) -> str:
    """One row with what is broken, or none: an array of structs, one per scope and expectation.

    All expectations are conditions over the same rows, so one pass finds what is broken. `{batch}`
    stands for the checked rows.
    """
    broken = ", ".join(_mark(suite, e) for suite in suites for e in suite.expectations)
    marked = f"SELECT scope, inline(array_compact(array({broken}))) FROM {{batch}}"
    counted = (
        "SELECT scope, suite, expectation, count(*) AS unexpected_rows,"
        f" min(example) AS first, max(example) AS last FROM ({marked})"
        " GROUP BY scope, suite, expectation"
    )
    found = "struct(scope, suite, expectation, unexpected_rows, first, last)"
    return f"SELECT collect_list({found}) AS broken FROM ({counted}) HAVING count(*) > 0"


def _mark(suite: Suite, expectation: Expectation) -> str:
    """What a row that breaks the expectation is marked with; null for one that does not."""
    example = f"left(to_json(struct({', '.join(suite.shown)})), {_EXAMPLE_CHARACTERS})"
    return (
        f"CASE WHEN NOT ({suite.rows}) OR coalesce({expectation.holds}, false) THEN NULL ELSE "
        f"struct('{suite.name}' AS suite, '{expectation.name}' AS expectation,"
        f" {example} AS example) END"
    )


_Broken = dict[tuple[str, str, str], tuple[int, tuple[str, ...]]]


def _with_great_expectations(checks: Sequence[Check]) -> list[_Broken]:
    """What is broken, per check: (scope, suite, expectation) -> (rows, examples)."""
    gx = library()
    from great_expectations.data_context.types.base import ProgressBarsConfig

    from expectations.folded import FoldedExpectations

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    source = context.data_sources.add_spark("rows", persist=False)
    found: list[_Broken] = []
    for number, check in enumerate(checks):
        name = f"{', '.join(suite.name for suite in check.suites)} {number}"
        _must_have_columns(check)
        batch = source.add_dataframe_asset(name).add_batch_definition_whole_dataframe(name)
        folded = FoldedExpectations(unexpected_rows_query=unexpected_rows_query(check.suites))
        expectations = context.suites.add(gx.ExpectationSuite(name, expectations=[folded]))
        validation = gx.ValidationDefinition(name=name, data=batch, suite=expectations)
        outcome = validation.run(
            batch_parameters={"dataframe": check.frame}, result_format="COMPLETE"
        ).results[0]
        if outcome.exception_info.get("raised_exception", True):
            raise RuntimeError(f"{name} could not be computed: {outcome.exception_info}")
        found.append(
            {
                (row["scope"], row["suite"], row["expectation"]): (
                    row["unexpected_rows"],
                    tuple(dict.fromkeys((row["first"], row["last"]))),
                )
                for details in outcome.result["details"]["unexpected_rows"]
                for row in details["broken"]
            }
        )
    return found


def _must_have_columns(check: Check) -> None:
    for suite in check.suites:
        missing = {"scope", *suite.columns} - set(check.frame.columns)
        if missing:
            raise ValueError(f"suite {suite.name}: the frame lacks {', '.join(sorted(missing))}")


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

        import expectations.folded  # noqa: F401
    return great_expectations
