"""Checks of end-to-end tests are as in the product."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.checks import checks_by_the_library


@pytest.fixture(scope="module", autouse=True)
def _checks_are_by_the_library() -> Iterator[None]:
    """Great Expectations checks."""
    with checks_by_the_library():
        yield
