"""Checks by their statement alone; Great Expectations around it takes ten times as long.

The folders `expectations`, `validate` and `end_to_end` check by the library, as all processes do
that tests start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from weir.expectations import run
from weir.expectations.held_rows import HeldRows, InMemory
from weir.expectations.run import Check
from weir.expectations.run import validations as by_the_library
from weir.expectations.statement import unexpected_rows


@contextmanager
def quick_checks() -> Iterator[None]:
    """A context in which rows in memory and in DuckDB are checked without the library."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(run, "validations", by_statement)
        patched.setattr(run, "import_ahead", lambda: None)
        yield


@contextmanager
def checks_by_the_library() -> Iterator[None]:
    """A context in which Great Expectations checks, as outside of tests."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(run, "validations", by_the_library)
        yield


def by_statement(checks: Sequence[Check]) -> list[Any]:
    """What `validations` returns, as far as `run_checks` reads it: only results that failed.

    Raises:
        ValueError: a frame lacks a column of its suite.
        RuntimeError: a statement failed.
    """
    return [_validation(check) for check in checks]


def _validation(check: Check) -> Any:
    rows = InMemory(check.frame) if isinstance(check.frame, pa.Table) else check.frame
    if not isinstance(rows, HeldRows):
        return by_the_library([check])[0]
    run._must_have_columns(check)
    try:
        unexpected = rows.query(unexpected_rows(check.suites, "duckdb"))
    except Exception as error:  # noqa: BLE001  (as the library, which keeps the message only)
        names = ", ".join(suite.name for suite in check.suites)
        raise RuntimeError(f"{names} could not be computed: {error}") from None
    return SimpleNamespace(results=[_failed(row) for (array,) in unexpected for row in array])


def _failed(unexpected: Mapping[str, Any]) -> SimpleNamespace:
    scope = {
        "scope": unexpected["scope"],
        "unexpected_rows": unexpected["unexpected_rows"],
        "examples": list(dict.fromkeys((unexpected["first"], unexpected["last"]))),
    }
    return SimpleNamespace(
        expectation_config=SimpleNamespace(
            kwargs={"suite": unexpected["suite"]}, type=unexpected["expectation"]
        ),
        result={"details": {"scopes": [scope]}},
    )
