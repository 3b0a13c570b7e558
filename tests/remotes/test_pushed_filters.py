"""Remotes that are given the FILTERs around blocks: the same answers from fewer solutions."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

import pyoxigraph as ox
import pytest

from tests.support.projects.replicas import IRI, ReplicaProject

pytestmark = pytest.mark.usefixtures("sampled")

USERS = 40
QUERIES = {
    "filter": f"""SELECT ?user ?n WHERE {{
  ?user <http://x/city> ?city
  SERVICE <{IRI}> {{ ?city <http://x/population> ?n }}
  FILTER (?n > 70)
}}
""",
    "optional": f"""SELECT ?user ?n WHERE {{
  ?user <http://x/city> ?city
  OPTIONAL {{ SERVICE <{IRI}> {{ ?city <http://x/population> ?n }} FILTER (?n IN (3, 4, 5)) }}
}}
""",
}
LIVES = [f"A <http://x/u{user}> <http://x/city> <http://x/c{user}> ." for user in range(USERS)]


def graph() -> ox.Store:
    """The graph in which each user lives in a city."""
    store = ox.Store()
    for user in range(USERS):
        nodes = (ox.NamedNode(f"http://x/{name}") for name in (f"u{user}", "city", f"c{user}"))
        store.add(ox.Quad(*nodes))
    return store


def test_answers_follow_the_remote_with_filters_given_and_without(tmp_path: Path) -> None:
    sent = []
    for name, head in (("without", ""), ("given", "#+ push_filters: true\n")):
        rng = random.Random(3)
        project = ReplicaProject(tmp_path / name)
        project.declare_remote(budget={"keys": 1000})
        for query, text in QUERIES.items():
            project.query(query, head + text)
        project.change_set(*LIVES)
        for _ in range(3):
            for city in rng.sample(range(USERS), USERS // 2):
                numbers = [rng.randrange(100) for _ in range(rng.choice((0, 1, 1, 2)))]
                project.remote.set(f"http://x/c{city}", "http://x/population", *numbers)
            project.run()
            project.refresh()
            project.run()
            for query, text in QUERIES.items():
                assert project.answer(query) == project.federated(graph(), text), (name, query)
            project.now += timedelta(minutes=10)
        sent.append(project.remote.sent)
    without, given = sent
    assert given < without / 2
