"""The lake of each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.handmade import HandMadeLake, empty_lake


@pytest.fixture
def lake(tmp_path: Path) -> HandMadeLake:
    """An empty lake of a project with the query `q`."""
    made = empty_lake(tmp_path)
    made.query("q", "SELECT ?s ?o WHERE { ?s <http://a/p> ?o }")
    return made
