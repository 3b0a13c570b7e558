"""A lake with the published answer of a CONSTRUCT, written by hand."""

from __future__ import annotations

import pytest

from tests.support.projects.exported import Answer
from tests.support.projects.handmade import HandMadeLake


@pytest.fixture
def answer(lake: HandMadeLake) -> Answer:
    """No row of it is published yet."""
    return Answer(lake)
