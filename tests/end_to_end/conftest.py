"""The command line for end-to-end tests."""

from __future__ import annotations

import pytest

from tests.support.projects.command_line import Weir


@pytest.fixture
def weir(capsys: pytest.CaptureFixture[str]) -> Weir:
    """`weir` in the current folder."""
    return Weir(capsys)
