"""From the remote to published answers: they are those of the federated query, at every step."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

import pyoxigraph as ox
import pytest

from tests.support.projects.replicas import IRI, ReplicaProject

pytestmark = pytest.mark.usefixtures("sampled")

HISTORIES, STEPS = 2, 5
NODES = [f"http://x/n{number}" for number in range(6)]
P, Q, R = (f"<http://x/{name}>" for name in "pqr")
S = f"SERVICE <{IRI}>"
QUERIES = {
    "join": f"SELECT ?a ?b ?c {{ ?a {P} ?b {S} {{ ?b {R} ?c }} }}",
    "before": f"SELECT ?a ?b ?c {{ {S} {{ ?b {R} ?c }} ?a {P} ?b }}",
    "two_keys": f"SELECT ?a ?b ?c {{ ?a {P} ?b {S} {{ ?a {R} ?c . ?b {R} ?c }} }}",
    "optional": f"SELECT ?a ?b ?c {{ ?a {P} ?b OPTIONAL {{ {S} {{ ?b {R} ?c }} }} }}",
    "inner_optional": f"SELECT * {{ ?a {P} ?b {S} {{ ?b {R} ?c OPTIONAL {{ ?c {Q} ?d }} }} }}",
    "minus": f"SELECT ?a ?b {{ ?a {P} ?b MINUS {{ {S} {{ ?b {R} ?c }} }} }}",
    "exists": f"SELECT ?a {{ ?a {P} ?b FILTER EXISTS {{ {S} {{ ?b {R} ?c }} }} }}",
    "not_exists": f"SELECT ?a {{ ?a {P} ?b FILTER NOT EXISTS {{ {S} {{ ?b {R} ?a }} }} }}",
    "union": f"SELECT ?a ?c {{ {{ ?a {Q} ?c }} UNION {{ ?a {P} ?b {S} {{ ?b {R} ?c }} }} }}",
    "no_key": f"SELECT ?b ?n {{ {S} {{ ?b {Q} ?n }} }}",
    "filter": f"SELECT ?a ?n {{ ?a {P} ?b {S} {{ ?b {Q} ?n }} FILTER(?n > 3) }}",
    "inner_filter": f"SELECT ?a ?n {{ ?a {P} ?b {S} {{ ?b {Q} ?n FILTER(?n > 3) }} }}",
    "limit": f"SELECT ?b ?n {{ ?a {P} ?b {S} {{ ?b {Q} ?n }} }} ORDER BY DESC(?n) ?b LIMIT 2",
    "limit_inside": (
        f"SELECT ?a ?n {{ ?a {P} ?b {{ SELECT ?b ?n {{ {S} {{ ?b {Q} ?n }} }}"
        " ORDER BY ?n ?b LIMIT 2 } }"
    ),
    "count": f"SELECT ?b (COUNT(?c) AS ?n) {{ ?a {P} ?b {S} {{ ?b {R} ?c }} }} GROUP BY ?b",
    "two": f"SELECT ?a ?c ?n {{ ?a {P} ?b {S} {{ ?b {R} ?c }} {S} {{ ?c {Q} ?n }} }}",
    "variables": f"SELECT ?s ?p ?o {{ ?s ?p ?o {S} {{ ?s {R} ?c }} }}",
}


def quad(subject: str, predicate: str, value: str | int) -> ox.Quad:
    """A quad of the default graph."""
    literal = ox.Literal(value) if isinstance(value, int) else ox.NamedNode(value)
    return ox.Quad(ox.NamedNode(subject), ox.NamedNode(predicate[1:-1]), literal)


def change(rng: random.Random, store: ox.Store, predicates: tuple[str, ...]) -> list[str]:
    """Change some quads of a store; returns the lines of a patch."""
    lines = []
    for present in sorted(store, key=str):
        if rng.random() < 0.25:
            store.remove(present)
            lines.append(f"D {present.triple} .")
    for _ in range(rng.randint(1, 6)):
        predicate = rng.choice(predicates)
        value = rng.randint(0, 7) if predicate == Q else rng.choice(NODES)
        added = quad(rng.choice(NODES), predicate, value)
        if added not in store:
            store.add(added)
            lines.append(f"A {added.triple} .")
    return lines


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_published_answers_are_those_of_the_federated_query(tmp_path: Path, seed: int) -> None:
    rng = random.Random(f"chain {seed}")
    project, graph = ReplicaProject(tmp_path), ox.Store()
    project.declare_remote(budget={"keys": 1000, "requests": 200, "seconds": 3600}, batch_keys=3)
    for name, text in QUERIES.items():
        project.query(name, text)
    for step in range(STEPS):
        if step % 3 != 2 and (lines := change(rng, graph, (P, P, Q))):
            project.change_set(*lines)
        change(rng, project.remote.store, (Q, R, R))
        project.stages("ingest", "maintain")
        # The keys of a block whose partner has a block are known when that was answered.
        for _ in range(2):
            project.refresh()
            project.stages("ingest", "maintain")
            project.now += timedelta(minutes=10)
        project.stages("validate", "publish")
        for name, text in QUERIES.items():
            assert project.answer(name) == project.federated(graph, text), (step, name)
