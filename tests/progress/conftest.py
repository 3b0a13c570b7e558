"""The lake of each test."""

from __future__ import annotations

import pytest

from tests.support.projects.handmade import HandMadeLake


@pytest.fixture
def lake(lake: HandMadeLake) -> HandMadeLake:
    """An empty lake of a project with the query `q`."""
    lake.query("q", "SELECT ?s ?o WHERE { ?s <http://a/p> ?o }")
    return lake
