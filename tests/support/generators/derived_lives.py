"""Random lives of derived graphs and their readers: edited as the graph changes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyoxigraph as ox

from tests.support.generators.registry_life import change_set
from tests.support.oracles.projects import solutions, states
from tests.support.projects.project import Project, Solution

GIVERS = ("up", "mid")
"""Queries that give a graph; the second one reads that of the first."""
READERS = ("by_reads", "by_from", "by_graph", "by_both")
_CONSTRUCTS = (
    "CONSTRUCT { ?b <urn:knows> ?a } WHERE { ?a <urn:knows> ?b }",
    "CONSTRUCT { ?a <urn:knows> ?c } WHERE { ?a <urn:knows> ?b . ?b <urn:knows> ?c }",
    "CONSTRUCT { ?a <urn:is> ?n . ?a <urn:knows> ?a } WHERE { ?a <urn:name> ?n }",
    "CONSTRUCT { ?a <urn:is> ?n } WHERE { ?a <urn:knows>+ ?b . ?b <urn:name> ?n }",
    "CONSTRUCT { ?a <urn:knows> <urn:d> } WHERE { ?a ?p ?b MINUS { ?a <urn:name> ?n } }",
)
_PATTERNS = (
    "?a <urn:knows> ?b . ?b <urn:knows> ?c",
    "?a <urn:is> ?n OPTIONAL { ?a <urn:knows> ?b }",
    "?a <urn:knows>+ ?b FILTER(?a != ?b)",
    "?a ?p ?b MINUS { ?b <urn:knows> ?c }",
)
_READS = {"by_reads": ("up",), "by_both": ("mid", "up"), "mid": ("up",)}


@dataclass
class DerivedLife:
    """A project with derived graphs, and what its files say.

    Attributes:
        project: the project.
        rng: of the life.
        patterns: the template and pattern, or the pattern, of each query.
    """

    project: Project
    rng: random.Random
    patterns: dict[str, str] = field(default_factory=dict)

    def begin(self) -> None:
        """Declare all queries."""
        for name in (*GIVERS, *READERS):
            self.edit(name)

    def edit(self, name: str) -> None:
        """Give a query another text."""
        choices = _CONSTRUCTS if name in GIVERS else _PATTERNS
        self.patterns[name] = self.rng.choice(choices)
        self.project.query(name, self._text(name))

    def advance(self) -> Sequence[str]:
        """Change the graph, once or several times, and maybe edit queries; gives their names."""
        for _ in range(self.rng.randint(0, 3)):
            self.project.change_set(*change_set(self.rng))
        edited = [name for name in (*GIVERS, *READERS) if self.rng.random() < 0.1]
        for name in edited:
            self.edit(name)
        return edited

    def expected(self) -> Mapping[str, Sequence[Counter[Solution]]]:
        """By reader, the answers after each change set, of the texts as they are."""
        answers: dict[str, list[Counter[Solution]]] = {name: [] for name in READERS}
        for quads in states(self.project):
            graph = [ox.Quad(q.subject, q.predicate, q.object) for q in quads]
            up = self._constructed("up", graph)
            mid = self._constructed("mid", [*graph, *up])
            named = [
                ox.Quad(q.subject, q.predicate, q.object, ox.NamedNode("urn:d:up")) for q in up
            ]
            data = {
                "by_reads": [*graph, *up],
                "by_from": mid,
                "by_graph": [*graph, *named],
                "by_both": [*graph, *up, *mid],
            }
            for name in READERS:
                store = ox.Store()
                store.extend(data[name])
                answers[name].append(solutions(store, self._select(name)))
        return answers

    def _constructed(self, name: str, quads: Sequence[ox.Quad]) -> list[ox.Quad]:
        store = ox.Store()
        store.extend(quads)
        result = store.query(self.patterns[name])
        assert isinstance(result, ox.QueryTriples)
        return [ox.Quad(triple.subject, triple.predicate, triple.object) for triple in result]

    def _select(self, name: str) -> str:
        pattern = self.patterns[name]
        if name == "by_graph":
            pattern = f"?s <urn:knows> ?o . GRAPH <urn:d:up> {{ {pattern} }}"
        return f"SELECT * WHERE {{ {pattern} }}"

    def _text(self, name: str) -> str:
        reads = f"#+ reads: [{', '.join(_READS[name])}]\n" if name in _READS else ""
        if name in GIVERS:
            return f"#+ graph: urn:d:{name}\n{reads}{self.patterns[name]}\n"
        source = "FROM <urn:d:mid> " if name == "by_from" else ""
        return reads + self._select(name).replace("WHERE", f"{source}WHERE")
