"""A project with a remote: pyoxigraph in this process, and a clock that tests set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import yaml

from jobs.refresh_remotes import RefreshResult, Surroundings, refresh_remotes
from jobs.replicas.answers import Solution
from jobs.replicas.asking import Fetch, Fetched
from jobs.replicas.budget import Amount
from jobs.replicas.evaluation import Clock
from jobs.replicas.remotes import Remote
from jobs.settings import Settings
from jobs.web.outcomes import Failure
from tests.support.projects.ingest import Project, no_spark
from tests.support.stages import STAGES

IRI = "http://remote.example/sparql"
START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class RemoteStore:
    """A remote in this process.

    Attributes:
        store: its data.
        failures: what the next requests give instead of an answer; None for an answer.
        asked: the queries that it was sent.
    """

    store: ox.Store = field(default_factory=ox.Store)
    failures: list[Failure | None] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    seconds: float = 0.25

    def fetch(self, query: str, most: Amount, bindings: int) -> Fetched:
        """Answer a query, or fail as planned."""
        self.asked.append(query)
        took = Amount(1, most.keys, min(most.bytes, 5_000), min(most.seconds, self.seconds))
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            return Fetched(failure, took, peer="127.0.0.1")
        found = self.store.query(query)
        assert isinstance(found, ox.QuerySolutions)
        names = [each.value for each in found.variables]
        solutions: list[Solution] = [
            {n: str(row[n]) for n in names if row[n] is not None} for row in found
        ]
        return Fetched(solutions[:bindings], took, peer="127.0.0.1")

    def set(self, subject: str, predicate: str, *values: object) -> None:
        """Replace the objects of a subject and a predicate by some numbers."""
        s, p = ox.NamedNode(subject), ox.NamedNode(predicate)
        for quad in self.store.quads_for_pattern(s, p, None, None):
            self.store.remove(quad)
        for value in values:
            self.store.add(ox.Quad(s, p, ox.Literal(value)))  # type: ignore[arg-type]


@dataclass
class ReplicaProject:
    """A folder with a source of patches, queries and a remote.

    Attributes:
        folder: the folder.
        remote: who is asked.
        now: the time; it goes on while a request is sent, and where the run waits.
    """

    folder: Path
    remote: RemoteStore = field(default_factory=RemoteStore)
    now: datetime = START

    def declare(self, **settings: Any) -> None:
        """Write the configuration, a source `data`, and the remote `wd` with some settings."""
        project = Project(self.folder)
        project.declare({"name": "data", "kind": "patches", "location": "patches"})
        (self.folder / "patches").mkdir(exist_ok=True)
        (self.folder / "queries").mkdir(exist_ok=True)
        declared = {
            "name": "wd",
            "iri": IRI,
            "every": "PT10M",
            "contact": "tests@example.org",
            "pause": "PT0S",
            **settings,
        }
        text = yaml.safe_dump({"remotes": [declared]})
        (self.folder / "remotes.yml").write_text(text)

    def query(self, name: str, text: str) -> None:
        """Register a query."""
        (self.folder / "queries" / f"{name}.rq").write_text(text)

    def patch(self, *lines: str) -> None:
        """Change the graph."""
        number = len([*(self.folder / "patches").iterdir()])
        Project(self.folder).patch(f"patches/{number:04}.rdfp", *lines)

    @property
    def settings(self) -> Settings:
        return Settings.load(self.folder / "weir.toml")

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
        return refresh_remotes(no_spark, self.settings, run_id, surroundings=self.surroundings())

    def run(self) -> None:
        """Ingest, maintain, validate and publish, without Spark."""
        self.stages(*STAGES)

    def stages(self, *names: str) -> None:
        """Some of these, without Spark."""
        for name in names:
            STAGES[name](no_spark, self.settings, "test")

    def answer(self, name: str) -> Counter[tuple[str | None, ...]]:
        """The published answer of a query."""
        rows = self.settings.open_lake().rows(f"answers/{name}").to_pylist()
        return _bag(rows, ("epoch", "weight", "event_time"))

    def table(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table."""
        found: list[dict[str, Any]] = self.settings.open_lake().rows(name).to_pylist()
        return found

    def freshness(self) -> list[dict[str, Any]]:
        """The rows of `freshness`, in the order of rounds."""
        return sorted(self.table("freshness"), key=lambda row: row["round"])

    def federated(self, graph: ox.Store, query: str) -> Counter[tuple[str | None, ...]]:
        """The answer of a query over `graph` in which SERVICE reads the remote as it is now."""
        whole = ox.Store()
        whole.extend(graph)
        name = ox.NamedNode(IRI)
        whole.extend(
            ox.Quad(each.subject, each.predicate, each.object, name) for each in self.remote.store
        )
        found = whole.query(query.replace("SERVICE", "GRAPH"))
        assert isinstance(found, ox.QuerySolutions)
        names = [each.value for each in found.variables]
        return Counter(
            tuple(None if row[n] is None else str(row[n]) for n in names) for row in found
        )


def _bag(
    rows: Sequence[Mapping[str, Any]], without: Sequence[str]
) -> Counter[tuple[str | None, ...]]:
    found: Counter[tuple[str | None, ...]] = Counter()
    for row in rows:
        cells = tuple(value for name, value in row.items() if name not in without)
        found[cells] += row["weight"]
    return Counter({row: times for row, times in found.items() if times})
