"""A lake in an object store: requests and seconds of commands, with and without latency.

The store is SeaweedFS on this machine; a proxy before it counts requests and delays them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.object_store import running_store
from bench.places import COMPILED, WORK, Project, patches, project
from bench.processes import run_process
from bench.results import Scenario, Target, Timing, machine
from bench.store_proxy import StoreProxy, proxy_of

FULL_QUERIES = 10
LATENCIES = (0, 10, 50)
"""Milliseconds before each answer of the store."""
AIMS = {"nothing new": 15, "show": 10}
"""Requests."""
_AIM_OF_CHANGES = 100
_QUERY = "SELECT ?x ?z WHERE {{ ?x <urn:p{number}> ?y . ?y <urn:p{number}> ?z }}"


@dataclass(slots=True)
class Store:
    """The scenario: a first run, change sets, an empty run, `show` and an audit.

    Args:
        queries: so many are registered; a change set touches one, or all of them.
        progress: receives a line per step.
    """

    queries: int
    progress: Callable[[str], None]

    def run(self) -> Scenario:
        """All commands with each latency."""
        timings: list[Timing] = []
        counts: dict[str, list[int]] = {}
        with TemporaryDirectory() as folder, running_store(Path(folder)) as store:
            for latency in LATENCIES:
                with proxy_of(store) as proxy:
                    proxy.latency = latency / 1_000
                    for what, seconds, requests in self._commands(proxy):
                        self.progress(f"{latency} ms: {what}, {requests} requests")
                        timings.append(Timing(f"{what}, {latency} ms", "cold", (seconds,)))
                        counts.setdefault(what, []).append(requests)
        aims = AIMS | {f"a change set, {self.queries} queries": _AIM_OF_CHANGES}
        most = {what: max(numbers) for what, numbers in counts.items()}
        targets = [
            Target(f"{what}: requests", f"<= {aim}", str(most[what]), most[what] <= aim)
            for what, aim in aims.items()
        ]
        return Scenario(
            name="store",
            title=f"A lake in an object store, {self.queries} queries",
            sizes={"queries": self.queries},
            full=self.queries == FULL_QUERIES,
            timings=timings,
            targets=targets,
            notes=[
                "Requests grow with the queries that are touched, not with those that are"
                " registered, nor with the length of the history."
            ],
            machine=machine(),
            summary=[
                ("command", "requests"),
                *((what, str(requests)) for what, requests in most.items()),
            ],
        )

    def _commands(self, proxy: StoreProxy) -> Iterator[tuple[str, float, int]]:
        """What was done, its seconds and its requests."""
        made = self._project(proxy)
        changes = made.folder / "changes"

        def call(what: str, *arguments: str) -> tuple[str, float, int]:
            proxy.counts()
            start = time.monotonic()
            weir = Path(sys.executable).with_name("weir")
            run_process([weir, "--config", made.config, *arguments], made)
            return what, time.monotonic() - start, proxy.counts().total()

        self._change(changes, 1, self.queries)
        yield call("first run", "run")
        yield call("nothing new", "run")
        self._change(changes, 2, 1)
        yield call("a change set, 1 query", "run")
        self._change(changes, 3, self.queries)
        yield call(f"a change set, {self.queries} queries", "run")
        yield call("show", "show", "q0")
        yield call("audit", "audit")

    def _project(self, proxy: StoreProxy) -> Project:
        folder = WORK / "store"
        queries = folder / "queries"
        made = project(folder, queries, {"name": "p", "kind": "patches", "location": "changes"})
        patches(folder / "changes", [])
        queries.mkdir()
        for number in range(self.queries):
            (queries / f"q{number}.rq").write_text(_QUERY.format(number=number))
        options = "".join(f"{name} = {json.dumps(o)}\n" for name, o in proxy.store.options.items())
        address = json.dumps(proxy.store.empty())
        text = made.config.read_text().replace('lake = "lake"', f"lake = {address}")
        made.config.write_text(
            f"{text}cache = {json.dumps(str(folder / COMPILED))}\n[storage_options]\n{options}"
        )
        made.config.chmod(0o600)
        return made

    def _change(self, changes: Path, number: int, queries: int) -> None:
        """Write a change set that adds a row to the answers of some queries."""
        lines = [f"A <urn:s{number}> <urn:p{query}> <urn:s{number}> ." for query in range(queries)]
        (changes / f"{number:04}.rdfp").write_text("\n".join(["TX .", *lines, "TC .", ""]))
