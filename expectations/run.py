"""Run suites with Great Expectations, which only this module and `registration` import."""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import product
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from weir.expectations.held_rows import HeldRows, InMemory
from weir.expectations.suite import Expectation, QualityResult, Suite

if TYPE_CHECKING:
    from great_expectations.core import ExpectationSuiteValidationResult
    from pyspark.sql import DataFrame


_CHECKING, _IMPORTING = Lock(), Lock()


@dataclass(frozen=True, slots=True)
class Check:
    """Suites and the rows that they check.

    Attributes:
        suites: their expectations are checked together.
        frame: Spark frame, rows in memory, or rows in DuckDB; with the suites' columns and `scope`.
            It is read once.
        scopes: the scopes to report on, also those without a row.
    """

    suites: tuple[Suite, ...]
    frame: DataFrame | pa.Table | HeldRows
    scopes: tuple[str, ...] = ("",)


def run_checks(checks: Sequence[Check]) -> tuple[QualityResult, ...]:
    """One result per check, scope, suite and expectation, in this order.

    One call at a time: all Spark frames are checked under the same temporary view.

    Raises:
        ValueError: a frame lacks a column of its suite, or has unexpected rows in a scope that
            `scopes` does not name.
        RuntimeError: Great Expectations could not compute a suite.
    """
    results: list[QualityResult] = []
    with _CHECKING:
        checked = validations(checks)
    for check, validation in zip(checks, checked, strict=True):
        unexpected = _by_scope(validation)
        for scope, suite in product(check.scopes, check.suites):
            for expectation in suite.expectations:
                rows, examples = unexpected.pop((scope, suite.name, expectation.name), (0, ()))
                results.append(
                    QualityResult(
                        suite=suite.name,
                        scope=scope,
                        expectation=expectation.name,
                        sentence=expectation.sentence,
                        success=rows == 0,
                        unexpected_rows=rows,
                        examples=examples,
                        detail=_detail(expectation, examples),
                    )
                )
        if unexpected:
            raise ValueError(f"rows of unnamed scopes are unexpected: {unexpected}")
    return tuple(results)


def _detail(expectation: Expectation, examples: Sequence[str]) -> str:
    """The detail of the first unexpected row, in words; empty if there is none."""
    if not expectation.detail or not examples:
        return ""
    return expectation.detail.format_map(json.loads(examples[0]))


def validations(checks: Sequence[Check]) -> list[ExpectationSuiteValidationResult]:
    """Great Expectations' validation results, one per check, each with a result per expectation.

    Raises:
        ValueError: a frame lacks a column of its suite.
        RuntimeError: Great Expectations could not compute a suite.
    """
    library()
    results: list[ExpectationSuiteValidationResult] = []
    for check in checks:
        _must_have_columns(check)
        with _as_frame(check.frame) as (frame, is_spark):
            # Not cached for Spark: the session may end, and the next one needs its own.
            prepared = _prepared(check.suites, True) if is_spark else _in_memory(check.suites)
            batch = prepared.batches.get_batch(batch_parameters={"dataframe": frame})
            validation = batch.validate(prepared.suite)
        for result in validation.results:
            if result.exception_info.get("raised_exception", True):
                names = ", ".join(suite.name for suite in check.suites)
                what = _message(result.exception_info)
                raise RuntimeError(f"{names} could not be computed: {what}")
        results.append(validation)
    return results


def _message(info: Mapping[str, Any]) -> str:
    """Why a result could not be computed; the library reports it once or per metric."""
    parts = [info, *(part for part in info.values() if isinstance(part, Mapping))]
    messages = (part.get("exception_message") for part in parts)
    return "; ".join(dict.fromkeys(str(message) for message in messages if message))


@dataclass(frozen=True, slots=True)
class _Prepared:
    """The library's suite for suites that are checked together, and the batches of their frames."""

    suite: Any
    batches: Any


@cache
def _in_memory(suites: tuple[Suite, ...]) -> _Prepared:
    """Prepared suites for rows in memory, cached: preparing takes ten times as long as a check."""
    return _prepared(suites, False)


def _prepared(suites: tuple[Suite, ...], is_spark: bool) -> _Prepared:
    gx = library()
    from great_expectations.data_context.types.base import ProgressBarsConfig

    from weir.expectations.registration import register

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    name = ", ".join(suite.name for suite in suites)
    suite = context.suites.add(gx.ExpectationSuite(name, expectations=register(suites)))
    if is_spark:
        source = context.data_sources.add_spark(name, persist=False)
    else:
        source = context.data_sources.pandas_default
    batches = source.add_dataframe_asset(name).add_batch_definition_whole_dataframe(name)
    return _Prepared(suite, batches)


@contextmanager
def _as_frame(frame: DataFrame | pa.Table | HeldRows) -> Iterator[tuple[Any, bool]]:
    """The frame that is passed to Great Expectations, and whether it is a Spark frame."""
    from weir.expectations.registration import placeholder

    if isinstance(frame, pa.Table):
        frame = InMemory(frame)
    if isinstance(frame, HeldRows):
        with placeholder(frame) as empty:
            yield empty, False
    else:
        yield frame, True


_Unexpected = dict[tuple[str, str, str], tuple[int, tuple[str, ...]]]


def _by_scope(validation: ExpectationSuiteValidationResult) -> _Unexpected:
    """(scope, suite, expectation) -> (number of unexpected rows, examples)."""
    unexpected: _Unexpected = {}
    for result in validation.results:
        expectation = result.expectation_config
        assert expectation is not None, "every result is about an expectation"
        for row in result.result["details"]["scopes"]:
            key = (row["scope"], expectation.kwargs["suite"], expectation.type)
            unexpected[key] = (row["unexpected_rows"], tuple(row["examples"]))
    return unexpected


def _must_have_columns(check: Check) -> None:
    frame = check.frame
    columns = frame.column_names if isinstance(frame, pa.Table | HeldRows) else frame.columns
    for suite in check.suites:
        missing = {"scope", *suite.columns} - set(columns)
        if missing:
            raise ValueError(f"suite {suite.name}: the frame lacks {', '.join(sorted(missing))}")


def import_ahead() -> None:
    """Start importing Great Expectations in another thread."""
    # In this thread, for the library imports it too: of two threads that import it at the same
    # time, one finds it half initialised. Where Spark is not installed, neither imports it.
    with suppress(ModuleNotFoundError):
        import pyspark.sql  # noqa: F401

    # Not a daemon: killed within an extension module, it could abort the process.
    Thread(target=_import_if_possible).start()


def _import_if_possible() -> None:
    # An error occurs again, and is reported, where the library is needed.
    with suppress(Exception):
        library()


def library() -> Any:
    """Great Expectations, with persistence, logging and analytics off.

    The first call takes seconds to import it; `import_ahead` hides them behind other work.
    """
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    # With Airflow's logging, the import would print hundreds of lines.
    logging.getLogger("great_expectations").setLevel(logging.WARNING)
    # One thread at a time: warning filters are global to the process.
    with _IMPORTING, warnings.catch_warnings():
        # It imports deprecated modules of the standard library.
        warnings.simplefilter("ignore", DeprecationWarning)
        import great_expectations

        import weir.expectations.registration  # noqa: F401
    return great_expectations
