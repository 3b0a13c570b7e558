"""`weir serve` on a generated graph: lookups per second, and what the mirror costs.

Beside it are pyoxigraph with the graph in memory, in the process that asks, and Fuseki with the
graph in TDB2. All are asked the same questions by one client and by two: what a person has, the
names of those whom somebody knows, and some who belong to an organization.

    python -m bench.endpoint serve CONFIG       the server, with its port and what the copy took
    python -m bench.endpoint memory FILE        pyoxigraph; answers files of questions
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyoxigraph as ox

from bench.graph import NAMESPACE, Change, Graph, write_graph
from bench.oxigraph import write_head
from bench.places import COMPILED, WORK, Project, project
from bench.processes import LineProcess, resident
from bench.results import Rows, Scenario, Timing, machine, seconds_text
from demo.fuseki import load_tdb2, running_fuseki
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.runs import SUCCEEDED, LedgerRow, record
from weir.lake.tables import QUADS, TRANSACTIONS, TRIPLES
from weir.serve.app import application
from weir.serve.server import listen, server_of
from weir.settings import Settings

FULL_QUADS = 10_000_000
LOOKUPS, CHANGES, CHANGE_SETS = 3_000, 100, 5
_CLIENTS = (1, 2)
_LOOKED_AT = 0.5
"""Seconds after which the server looks at the lake again."""
_JSON = "application/sparql-results+json"
_OF_PERSON = "SELECT ?p ?o WHERE {{ <{0}person/{1:08d}> ?p ?o }}"
_KNOWN = "SELECT ?n WHERE {{ <{0}person/{1:08d}> <{0}knows> ?b . ?b <{0}name> ?n }}"
_MEMBERS = (
    "SELECT ?a WHERE {{ ?a <{0}memberOf> <{0}organization/{1:08d}> ; <{0}name> ?n }}"
    " ORDER BY ?a LIMIT 20"
)
Ask = Callable[[str], int]
"""The number of rows of a query."""


def questions(graph: Graph) -> list[str]:
    """Different lookups, spread over the graph."""
    kinds = ((_OF_PERSON, graph.people), (_KNOWN, graph.people), (_MEMBERS, graph.organizations))
    return [
        text.format(NAMESPACE, i * 7919 % most)
        for i in range(LOOKUPS)
        for text, most in (kinds[i % len(kinds)],)
    ]


@dataclass(frozen=True, slots=True)
class Side:
    """Somebody who was asked.

    Attributes:
        name: of it.
        load: seconds until it could answer.
        size: bytes that it has on the disk.
        memory: bytes that its processes have resident after all questions.
        rates: lookups per second, by the number of clients.
        rows: of all answers.
    """

    name: str
    load: float
    size: int
    memory: int
    rates: Sequence[float]
    rows: int

    @property
    def line(self) -> tuple[str, ...]:
        """Its line in the summary."""
        return (
            self.name,
            seconds_text(self.load),
            f"{self.size / 1e6:,.0f}" if self.size else "",
            f"{self.memory / 1e6:,.0f}",
            *(f"{rate:,.0f}" for rate in self.rates),
        )


@dataclass(slots=True)
class Endpoint:
    """The scenario.

    Args:
        quads: of the graph.
        progress: receives a line per step.
    """

    quads: int
    progress: Callable[[str], None]

    def run(self) -> Scenario:
        """Ask all sides."""
        graph = Graph(self.quads)
        asked = questions(graph)
        queries = WORK / "endpoint_queries"
        queries.mkdir(parents=True, exist_ok=True)
        made = project(WORK / "endpoint", queries)
        self.progress(f"writing {self.quads:,} quads")
        write_graph(made.lake, graph)
        _checked(made, 1)
        head = WORK / "endpoint.nt"
        quads = write_head(made.lake / "triples", head)
        weir, extended = self._weir(made, graph, asked)
        sides = [weir, self._in_memory(head, asked), self._fuseki(head, asked)]
        head.unlink()
        return Scenario(
            "endpoint",
            "Lookups by SPARQL over HTTP",
            {"quads": quads, "lookups": LOOKUPS, "changes": CHANGES},
            full=self.quads >= FULL_QUADS,
            timings=[
                Timing("copying the graph", "cold", (weir.load,)),
                Timing(f"a query after {CHANGES} changes", "warm", tuple(extended)),
            ],
            rows=[Rows("all lookups", weir.rows, oxigraph=sides[1].rows, differing=_off(sides))],
            machine=machine(),
            summary=[
                ("", "load, s", "MB on disk", "MB in memory", "1 client, /s", "2 clients, /s"),
                *(side.line for side in sides),
            ],
        )

    def _weir(
        self, made: Project, graph: Graph, asked: Sequence[str]
    ) -> tuple[Side, Sequence[float]]:
        """The server; and seconds of the first query after each of some change sets."""
        self.progress("weir serve")
        server = LineProcess("bench.endpoint", "serve", made.config)
        try:
            started = server.answer()
            path = "/sparql?query={}"
            rates, rows = _rates(path, started["port"], asked)
            mirror = made.folder / COMPILED / "mirror"
            memory, size = server.ask("memory"), _bytes(mirror)
            self.progress("extending the mirror")
            seconds = []
            for number, changes in enumerate(graph.changes([CHANGES] * CHANGE_SETS), 2):
                _write_changes(made, number, changes)
                time.sleep(_LOOKED_AT)
                began = time.monotonic()
                with _connected(path, started["port"]) as ask:
                    ask("ASK {}")
                seconds.append(time.monotonic() - began)
        finally:
            server.end()
        return Side("weir serve", started["seconds"], size, memory, rates, rows), seconds

    def _in_memory(self, head: Path, asked: Sequence[str]) -> Side:
        self.progress("pyoxigraph in memory")
        file = WORK / "endpoint_questions.json"
        file.write_text(json.dumps([*asked]))
        process = LineProcess("bench.endpoint", "memory", head)
        try:
            load, done = process.answer(), process.ask(file)
        finally:
            process.end()
        return Side("pyoxigraph in memory", load, 0, done["memory"], done["rates"], done["rows"])

    def _fuseki(self, head: Path, asked: Sequence[str]) -> Side:
        self.progress("Fuseki with TDB2")
        folder = WORK / "endpoint_fuseki"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        store = folder / "tdb2"
        began = time.monotonic()
        load_tdb2(store, head, folder / "load.log")
        load = time.monotonic() - began
        with running_fuseki(folder, tdb2=store) as fuseki:
            rates, rows = _rates("/ds/query?query={}", fuseki.port, asked)
            memory = resident(os.getpid()) - _own_memory()
        size = _bytes(store)
        shutil.rmtree(folder)
        return Side("Fuseki, TDB2", load, size, memory, rates, rows)


def _off(sides: Sequence[Side]) -> int:
    return max(side.rows for side in sides) - min(side.rows for side in sides)


def _own_memory() -> int:
    """Bytes of this process alone."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _checked(made: Project, epoch: int) -> None:
    """Note that the graph was checked up to an epoch: what it says is published."""
    record(Lake(str(made.lake)), [LedgerRow("v", "validate", epoch, SUCCEEDED, to_epoch=epoch)])


def _write_changes(made: Project, epoch: int, changes: Sequence[Change]) -> None:
    """Write an epoch as ingest would; the generated changes are net."""
    root, metadata = str(made.lake), Metadata("generated", "ingest", epoch)
    triples = pa.table(
        {
            "subject": [change.subject for change in changes],
            "predicate": [change.predicate for change in changes],
            "object": [change.object for change in changes],
            "epoch": pa.array([epoch] * len(changes), pa.int64()),
            "weight": pa.array([1 if change.insert else -1 for change in changes], pa.int32()),
        }
    )
    quads = triples.append_column("graph", pa.array([""] * len(changes)))
    versions = (
        write(Lake(root), QUADS, quads, metadata),
        write(Lake(root), TRIPLES, triples, metadata),
    )
    inserted = sum(change.insert for change in changes)
    transaction = {
        "epoch": epoch,
        "source": "generated",
        "position": f"{epoch:04}.rdfp",
        "ingested_at": datetime(2026, 1, 1, tzinfo=UTC),
        "inserted": inserted,
        "deleted": len(changes) - inserted,
        "rejected": 0,
        "quads_version": versions[0],
        "triples_version": versions[1],
        "run_id": "generated",
    }
    write(Lake(root), TRANSACTIONS, [transaction], metadata)
    _checked(made, epoch)


@contextmanager
def _connected(path: str, port: int) -> Iterator[Ask]:
    connection = HTTPConnection("127.0.0.1", port, timeout=3600)

    def ask(text: str) -> int:
        connection.request("GET", path.format(quote(text)), headers={"Accept": _JSON})
        answer = connection.getresponse()
        content = json.loads(answer.read())
        assert answer.status == 200, content
        return len(content["results"]["bindings"]) if "results" in content else 1

    try:
        yield ask
    finally:
        connection.close()


def _rates(path: str, port: int, asked: Sequence[str]) -> tuple[list[float], int]:
    """Lookups per second by each number of clients, and the rows of all."""

    def share(first: int, step: int) -> int:
        with _connected(path, port) as ask:
            return sum(map(ask, asked[first::step]))

    share(0, 10)
    rates, rows = [], 0
    for clients in _CLIENTS:
        began = time.monotonic()
        with ThreadPoolExecutor(clients) as threads:
            rows = sum(threads.map(share, range(clients), [clients] * clients))
        rates.append(len(asked) / (time.monotonic() - began))
    return rates, rows


def _bytes(folder: Path) -> int:
    """Bytes on the disk; a file that several copies share counts once."""
    files = [file.stat() for file in folder.rglob("*") if file.is_file()]
    return sum({(stat.st_dev, stat.st_ino): stat.st_blocks * 512 for stat in files}.values())


def _say(value: Any) -> None:
    print(json.dumps(value), flush=True)


def _serve(config: Path) -> None:
    """Serve a project until standard input ends; each line of it asks for the memory."""
    began = time.monotonic()
    with listen("127.0.0.1", 0) as listening:
        server, port = server_of(application(Settings.load(config))), listening.getsockname()[1]
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not _is_ready(port):
            time.sleep(0.1)
        _say({"port": port, "seconds": time.monotonic() - began})
        for _ in sys.stdin:
            _say(resident(os.getpid()))
        server.should_exit = True
        thread.join()


def _is_ready(port: int) -> bool:
    try:
        with _connected("/sparql?query={}", port) as ask:
            return ask("ASK {}") == 1
    except AssertionError:
        return False  # the graph is being copied


def _in_memory(head: Path) -> None:
    """Load a graph into memory; each line of standard input is a file of questions."""
    began, store = time.monotonic(), ox.Store()
    store.bulk_load(path=str(head), format=ox.RdfFormat.N_TRIPLES)
    _say(time.monotonic() - began)

    def ask(text: str) -> int:
        results: Any = store.query(text)
        return len(
            json.loads(results.serialize(format=ox.QueryResultsFormat.JSON))["results"]["bindings"]
        )

    for line in sys.stdin:
        asked = json.loads(Path(line.strip()).read_text())
        rates, rows = [], 0
        for clients in _CLIENTS:
            began = time.monotonic()
            with ThreadPoolExecutor(clients) as threads:
                rows = sum(threads.map(ask, asked))
            rates.append(len(asked) / (time.monotonic() - began))
        _say({"rates": rates, "rows": rows, "memory": resident(os.getpid())})


if __name__ == "__main__":
    {"serve": _serve, "memory": _in_memory}[sys.argv[1]](Path(sys.argv[2]))
