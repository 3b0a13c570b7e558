"""Rows in memory or as a Spark frame, so that a test runs on both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from tests.support.checks import checks_by_the_library

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Held = Callable[[pa.Table], "DataFrame | pa.Table"]


@pytest.fixture(params=["memory", pytest.param("spark", marks=pytest.mark.spark)])
def held(request: pytest.FixtureRequest) -> Held:
    """Where the rows of a test are held: in memory, or by Spark."""
    if request.param == "memory":
        return lambda rows: rows
    spark: Any = request.getfixturevalue("spark")
    return lambda rows: spark.createDataFrame(rows).coalesce(1).cache()


@pytest.fixture(scope="module", autouse=True)
def _checks_are_by_the_library() -> Iterator[None]:
    """Great Expectations checks."""
    with checks_by_the_library():
        yield
