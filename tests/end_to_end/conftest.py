"""The command line for end-to-end tests, and checks as in the product."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.checks import checks_by_the_library
from tests.support.projects.command_line import Weir


@pytest.fixture
def weir(capsys: pytest.CaptureFixture[str]) -> Weir:
    """`weir` in the current folder."""
    return Weir(capsys)


@pytest.fixture(scope="module", autouse=True)
def _checks_are_by_the_library() -> Iterator[None]:
    """Great Expectations checks."""
    with checks_by_the_library():
        yield
