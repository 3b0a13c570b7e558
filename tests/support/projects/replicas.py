"""A project with a remote: pyoxigraph in this process, and a clock that tests set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pyoxigraph as ox
import yaml

from tests.support.opened import call
from tests.support.oracles.projects import solutions
from tests.support.projects.project import PATCHES, Project, Solution
from weir.refresh.stage import RefreshResult, Surroundings, refresh_remotes
from weir.remotes.asking import Fetch, Fetched
from weir.remotes.budget import Amount
from weir.remotes.declarations import Remote
from weir.remotes.evaluation import Clock
from weir.remotes.http.outcomes import Failure

IRI = "http://remote.example/sparql"
START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class RemoteStore:
    """A remote in this process.

    Attributes:
        store: its data.
        failures: what the next requests give instead of an answer; None for an answer.
        asked: the queries that it was sent.
        sent: the number of solutions that it has sent.
    """

    store: ox.Store = field(default_factory=ox.Store)
    failures: list[Failure | None] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    sent: int = 0
    seconds: float = 0.25

    def fetch(self, query: str, most: Amount, bindings: int) -> Fetched:
        """Answer a query, or fail as planned."""
        self.asked.append(query)
        took = Amount(1, most.keys, min(most.bytes, 5_000), min(most.seconds, self.seconds))
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            return Fetched(failure, took, peer="127.0.0.1")
        result = self.store.query(query)
        assert isinstance(result, ox.QuerySolutions)
        names = [variable.value for variable in result.variables]
        mappings: list[Mapping[str, str]] = [
            {n: str(row[n]) for n in names if row[n] is not None} for row in result
        ]
        self.sent += len(mappings)
        return Fetched(mappings[:bindings], took, peer="127.0.0.1")

    def set(self, subject: str, predicate: str, *values: object) -> None:
        """Replace the objects of a subject and a predicate by some numbers."""
        s, p = ox.NamedNode(subject), ox.NamedNode(predicate)
        for quad in self.store.quads_for_pattern(s, p, None, None):
            self.store.remove(quad)
        for value in values:
            self.store.add(ox.Quad(s, p, ox.Literal(value)))  # type: ignore[arg-type]


@dataclass(eq=False)
class ReplicaProject(Project):
    """A project with a source of change sets, queries and a remote.

    Attributes:
        remote: who is asked.
        now: the time; it goes on while a request is sent, and where the run waits.
    """

    remote: RemoteStore = field(default_factory=RemoteStore)
    now: datetime = START

    def declare_remote(self, **settings: Any) -> None:
        """Write the configuration, a source `data`, and the remote `wd` with some settings."""
        self.declare(PATCHES | {"name": "data"})
        self.folders("changes")
        declared = {
            "name": "wd",
            "iri": IRI,
            "every": "PT10M",
            "contact": "tests@example.org",
            "pause": "PT0S",
        }
        self.remotes(declared | settings)

    @property
    def declared(self) -> dict[str, Any]:
        """The settings of the first remote."""
        remotes = yaml.safe_load((self.folder / "remotes.yml").read_text())
        return {**remotes["remotes"][0]}

    def surroundings(self) -> Surroundings:
        """What a refresh has around it."""

        def sleep(wait: timedelta) -> None:
            self.now += max(wait, timedelta())

        def opened(remote: Remote, sent: Sequence[datetime]) -> Fetch:
            del remote, sent

            def fetch(query: str, most: Amount, bindings: int) -> Fetched:
                started_at = self.now
                fetched = self.remote.fetch(query, most, bindings)
                self.now += timedelta(seconds=fetched.took.seconds)
                return Fetched(fetched.result, fetched.took, started_at, "GET", fetched.peer)

            return fetch

        return Surroundings(clock=Clock(lambda: self.now, sleep), open=opened)

    def refresh(self, run_id: str = "refresh") -> RefreshResult:
        """Refresh in this process, without Spark."""
        return call(refresh_remotes, self.settings, run_id, surroundings=self.surroundings())

    def freshness(self) -> list[dict[str, Any]]:
        """The rows of `freshness`, in the order of rounds."""
        return sorted(self.table("freshness"), key=lambda row: row["round"])

    def federated(self, graph: ox.Store, query: str) -> Counter[Solution]:
        """The answer of a query over `graph` in which SERVICE reads the remote as it is now."""
        whole = ox.Store()
        whole.extend(graph)
        name = ox.NamedNode(IRI)
        whole.extend(ox.Quad(q.subject, q.predicate, q.object, name) for q in self.remote.store)
        return solutions(whole, query.replace("SERVICE", "GRAPH"))
