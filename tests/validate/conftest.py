"""A lake written by hand, which the validation queries read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.handmade import HandMadeLake, empty_lake


@pytest.fixture
def lake(tmp_path: Path) -> HandMadeLake:
    """An empty lake of a project without queries."""
    return empty_lake(tmp_path)
