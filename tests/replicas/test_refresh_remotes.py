"""Refresh on a lake: rounds become epochs, answers follow, budgets hold."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pyoxigraph as ox
import pytest

from tests.support.projects.replicas import IRI, ReplicaProject

QUERY = f"""SELECT ?user ?n WHERE {{
  ?user <http://x/city> ?city
  SERVICE <{IRI}> {{ ?city <http://x/population> ?n }}
}}
"""
POPULATION = "http://x/population"


@pytest.fixture
def project(tmp_path: Path) -> ReplicaProject:
    found = ReplicaProject(tmp_path)
    found.declare()
    found.query("cities", QUERY)
    for city, n in (("a", 1), ("b", 2), ("c", 3)):
        found.remote.set(f"http://x/{city}", POPULATION, n)
    found.patch(
        "A <http://x/u> <http://x/city> <http://x/a> .",
        "A <http://x/v> <http://x/city> <http://x/b> .",
    )
    return found


def graph(*pairs: str) -> ox.Store:
    found = ox.Store()
    city = ox.NamedNode("http://x/city")
    for user, name in pairs:
        found.add(ox.Quad(ox.NamedNode(f"http://x/{user}"), city, ox.NamedNode(f"http://x/{name}")))
    return found


def test_an_answer_follows_the_remote_after_refresh_and_run(project: ReplicaProject) -> None:
    project.run()
    project.refresh()
    project.run()
    assert project.answer("cities") == project.federated(graph("ua", "vb"), QUERY)
    project.remote.set("http://x/a", POPULATION, 10, 11)
    project.now += timedelta(minutes=10)
    project.refresh()
    project.run()
    assert project.answer("cities") == project.federated(graph("ua", "vb"), QUERY)
    assert len(project.answer("cities")) == 3
