"""A project whose graph changes by patches, its queries, and their answers by pyoxigraph."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from jobs.compute.session import Spark
from jobs.maintain.outcome import MaintainResult
from jobs.maintain_queries import maintain_queries
from jobs.plan.lower import CONSTRUCT_COLUMNS
from jobs.progress.completion import Completion
from jobs.publish_answers import PublishResult, publish_answers
from jobs.validate_answers import validate_answers
from tests.support.projects.ingest import Project

PATCHES = {"name": "p", "kind": "patches", "location": "changes"}
_BOOLEAN = "http://www.w3.org/2001/XMLSchema#boolean"
_FROM = re.compile(r"FROM <([^>]*)>")

Solution = tuple[tuple[str, str], ...]
"""The bound variables and their terms, sorted, so that the order of columns does not matter."""

Change = tuple[int, int, Solution]
"""epoch, weight, solution."""


@dataclass(frozen=True)
class MaintainedProject(Project):
    """A folder with one source of patches and a folder of queries.

    Attributes:
        states: the quads that hold after each change set.
    """

    states: list[frozenset[ox.Quad]] = field(default_factory=list)

    def begin(self, **limits: float | str) -> None:
        """Write the configuration."""
        self.declare(PATCHES, **limits)
        (self.folder / "queries").mkdir(exist_ok=True)

    def query(self, name: str, text: str) -> None:
        """Register a query, or edit it."""
        self.write(f"queries/{name}.rq", text)

    def remove_query(self, name: str) -> None:
        """Take a query out of the registry."""
        (self.folder / f"queries/{name}.rq").unlink()

    def change(self, *lines: str) -> None:
        """Write a change set of `A ...` and `D ...` lines and ingest it."""
        held = {*(self.states[-1] if self.states else ())}
        for line in lines:
            (quad,) = ox.parse(f"{line[2:]} .".encode(), format=ox.RdfFormat.N_QUADS)
            (held.add if line[0] == "A" else held.discard)(quad)
        self.states.append(frozenset(held))
        self.patch(f"changes/{len(self.states):04}.rdfp", *(f"{line} ." for line in lines))
        self.ingest()

    def maintain(self, spark: Spark) -> MaintainResult:
        """Run maintain."""
        return maintain_queries(spark, self.settings, "test")

    def publish(self, spark: Spark) -> PublishResult:
        """Run validate and publish."""
        validate_answers(spark, self.settings, "test")
        return publish_answers(spark, self.settings, "test")

    def run(self, spark: Spark) -> MaintainResult:
        """Run all stages after ingest; returns the result of maintain."""
        result = self.maintain(spark)
        self.publish(spark)
        return result

    def copy(self, folder: Path) -> MaintainedProject:
        """The same project in another folder."""
        shutil.copytree(self.folder, folder)
        return replace(self, folder=folder, states=[*self.states])

    def signed(self, name: str) -> list[Change]:
        """The rows of the published log as they are stored, without event times, sorted."""
        return sorted(
            (
                (row.pop("epoch"), row.pop("weight"), _bound(row))
                for row in self.table(f"answers/{name}")
            ),
            key=repr,
        )

    def answer(self, name: str, epoch: int) -> Counter[Solution]:
        """The published answer at an epoch."""
        held: Counter[Solution] = Counter()
        for at, weight, solution in self.signed(name):
            if at <= epoch:
                held[solution] += weight
        assert min(held.values(), default=0) >= 0, "a negative multiplicity"
        return +held

    def expected(self, name: str, epoch: int) -> Counter[Solution]:
        """The answer of the query, as its text is now, at an epoch, by pyoxigraph."""
        return evaluate((self.folder / f"queries/{name}.rq").read_text(), self.states[epoch - 1])

    def check_answers(self, name: str, first: int, last: int) -> None:
        """Compare the published answer with pyoxigraph's at every epoch of `first`..`last`."""
        for epoch in range(first, last + 1):
            assert self.answer(name, epoch) == self.expected(name, epoch), (name, epoch)

    def watermark(self, name: str) -> int:
        """The epoch up to which the embeddings of a query are complete."""
        found = Completion.read(self.settings.open_lake()).maintained(name)
        assert found is not None
        return found.epoch

    def table(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table."""
        return self.settings.open_lake().rows(name).to_pylist()

    def columns(self, name: str) -> list[str]:
        """The columns of a table."""
        return self.settings.open_lake().rows(name).column_names

    def ledger(self, job: str) -> dict[str, dict[str, Any]]:
        """Per query, its row by the last run of a job; the row of the run itself is under ""."""
        rows = [row for row in self.table("runs") if row["job"] == job]
        last = max(row["number"] for row in rows)
        return {
            row["query"] or "": row
            for row in rows
            if row["number"] == last and row["status"] != "claimed"
        }

    def all_versions(self) -> dict[str, int | None]:
        """The newest version of every table of the lake, but for the ledger and its summary."""
        folder, lake = Path(self.settings.lake), self.settings.open_lake()
        logs = sorted(folder.rglob("_delta_log"))
        names = {str(log.parent.relative_to(folder)) for log in logs}
        return {name: lake.version(name) for name in sorted(names - {"runs", "ledger_summary"})}


def evaluate(query: str, quads: Iterable[ox.Quad]) -> Counter[Solution]:
    """The answer of a query over the merge of all graphs, or of those after FROM.

    The merge is made here: pyoxigraph counts a triple once per graph.
    """
    graphs = {ox.NamedNode(graph) for graph in _FROM.findall(query)}
    store = ox.Store()
    store.extend(
        ox.Quad(quad.subject, quad.predicate, quad.object)
        for quad in quads
        if not graphs or quad.graph_name in graphs
    )
    result = store.query(_FROM.sub("", query))
    if isinstance(result, ox.QueryBoolean):
        return Counter([_bound({"answer": f'"{str(bool(result)).lower()}"^^<{_BOOLEAN}>'})])
    if isinstance(result, ox.QueryTriples):
        triples = {(t.subject, t.predicate, t.object) for t in result}
        return Counter(
            _bound(dict(zip(CONSTRUCT_COLUMNS, triple, strict=True))) for triple in triples
        )
    assert isinstance(result, ox.QuerySolutions)
    names = [variable.value for variable in result.variables]
    return Counter(_bound({name: row[name] for name in names}) for row in result)


def _bound(row: Mapping[str, Any]) -> Solution:
    return tuple(
        sorted(
            (name, str(term))
            for name, term in row.items()
            if term is not None and name != "event_time"
        )
    )
