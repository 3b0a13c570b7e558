"""Random histories of a remote and of a graph, an evaluation after each step.

A step is played by a function of its own, in this process or in one that is killed: what the remote
is at a step does not depend on what was asked before.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

from tests.support.projects.replicas import IRI, START, RemoteStore, ReplicaProject
from weir.lake.delta import commit
from weir.remotes.asking import Fetched
from weir.remotes.budget import Amount
from weir.remotes.http.outcomes import Failure

CITIES = 14
EVERY = timedelta(minutes=10)
QUERIES = {
    "cities": f"""SELECT ?user ?n WHERE {{
  ?user <http://x/city> ?city SERVICE <{IRI}> {{ ?city <http://x/population> ?n }}
}}
""",
    "mayors": f"""SELECT ?user ?m WHERE {{
  ?user <http://x/city> ?city OPTIONAL {{ SERVICE <{IRI}> {{ ?city <http://x/mayor> ?m }} }}
}}
""",
}
SENT = "sent.jsonl"
"""The file in which the remote notes what each request really took."""


@dataclass(frozen=True)
class Step:
    """What is before an evaluation.

    Attributes:
        number: of the step, from 0.
        patch: changes of the graph.
        population: the numbers of each city.
        mayors: those of each city that has one.
        broken: a city about which no question is answered.
        transient: so many requests fail in a way that is tried again.
        throttled: whether the remote asks to wait.
    """

    number: int
    patch: tuple[str, ...]
    population: Mapping[str, tuple[int, ...]]
    mayors: Mapping[str, int]
    broken: str | None = None
    transient: int = 0
    throttled: bool = False


@dataclass
class PlannedRemote(RemoteStore):
    """The remote of a step.

    Attributes:
        step: the step.
        folder: where it notes what requests took.
    """

    step: Step | None = None
    folder: Path = field(default_factory=Path)

    def fetch(self, query: str, most: Amount, bindings: int) -> Fetched:
        commit.checkpoint("refresh:before:send")
        assert self.step is not None
        if self.step.throttled:
            self.failures = [Failure("throttled", "later", 429, 1500.0)]
        elif self.step.broken is not None and f"{self.step.broken}>" in query:
            self.failures = [Failure("not_results", "this city is broken")]
        fetched = RemoteStore.fetch(self, query, most, bindings)
        took = fetched.took
        with (self.folder / SENT).open("a") as file:
            amounts = (took.requests, took.keys, took.bytes, took.seconds)
            file.write(json.dumps([self.step.number, *amounts]) + "\n")
        commit.checkpoint("refresh:after:send")
        return fetched


def random_steps(seed: int, count: int) -> list[Step]:
    """A history: users move, the remote changes, forgets all for a step, and fails now and then.

    Nothing fails at the end, so that every key is answered.
    """
    rng = random.Random(f"evaluations {seed}")
    cities = [f"http://x/c{number}" for number in range(CITIES)]
    population: dict[str, tuple[int, ...]] = {city: (rng.randint(0, 9),) for city in cities}
    mayors: dict[str, int] = {}
    users: dict[str, str] = {}
    steps = []
    for number in range(count):
        patch = []
        for user in (f"http://x/u{i}" for i in range(CITIES + 2)):
            if rng.random() < (0.15 if number else 0.9):
                triple = "{} <http://x/city> {} ."
                if user in users:
                    patch.append(f"D {triple.format(f'<{user}>', f'<{users.pop(user)}>')}")
                if rng.random() < 0.8 or not number:
                    users[user] = rng.choice(cities)
                    patch.append(f"A {triple.format(f'<{user}>', f'<{users[user]}>')}")
        for city in rng.sample(cities, rng.randint(0, 5)):
            population[city] = tuple(rng.randint(0, 9) for _ in range(rng.choice((0, 1, 1, 2))))
            if rng.random() < 0.5:
                mayors[city] = rng.randint(0, 9)
            else:
                mayors.pop(city, None)
        is_calm = number >= count - 3
        is_lost = rng.random() < 0.15 and not is_calm
        steps.append(
            Step(
                number,
                tuple(patch) if rng.random() < 0.5 or not number else (),
                {} if is_lost else dict(population),
                {} if is_lost else dict(mayors),
                rng.choice(cities) if rng.random() < 0.2 and not is_calm else None,
                rng.choice((0, 0, 0, 1)),
                rng.random() < 0.08 and not is_calm,
            )
        )
        if not steps[-1].patch and patch:
            users = _undone(users, patch)
    return steps


def _undone(users: dict[str, str], patch: list[str]) -> dict[str, str]:
    """The users before a patch that was dropped."""
    before = dict(users)
    for line in reversed(patch):
        sign, user, _, city, _ = line.split()
        if sign == "A":
            before.pop(user[1:-1])
        else:
            before[user[1:-1]] = city[1:-1]
    return before


def declared(folder: Path, **settings: Any) -> None:
    """A project with the queries."""
    project = ReplicaProject(folder)
    project.declare_remote(batch_keys=7, **settings)
    for name, text in QUERIES.items():
        project.query(name, text)


def filled(remote: PlannedRemote) -> PlannedRemote:
    """The remote with the data of its step."""
    assert remote.step is not None
    for city, numbers in remote.step.population.items():
        remote.set(city, "http://x/population", *numbers)
    for city, mayor in remote.step.mayors.items():
        remote.set(city, "http://x/mayor", mayor)
    remote.failures = [Failure("server_error", "busy", 503)] * remote.step.transient
    return remote


def refresh(folder: Path, step: Step, late: float) -> None:
    """Evaluate the remote of a step, so many seconds after its time."""
    remote = filled(PlannedRemote(step=step, folder=folder))
    now = START + EVERY * step.number + timedelta(seconds=late)
    # A summary is written often, so that runs are killed around it too.
    with mock.patch("weir.remotes.known_keys._COMMITS", 2):
        result = ReplicaProject(folder, remote, now).refresh()
    assert not result.errors, result.errors


def ingest(folder: Path) -> None:
    """Ingest what has come."""
    ReplicaProject(folder).stages("ingest")
