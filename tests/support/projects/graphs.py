"""A small graph of people, its history, and queries of every class over it."""

from __future__ import annotations

from tests.support.projects.project import Project

PAIRS = "SELECT ?a ?b WHERE { ?a <urn:knows> ?b }"
NAMES = "SELECT ?a ?n WHERE { ?a <urn:knows> ?b . ?b <urn:name> ?n }"
KNOWERS = "SELECT DISTINCT ?a WHERE { ?a <urn:knows> ?b . ?b <urn:name> ?n }"
PRODUCT = "SELECT * WHERE { ?a <urn:knows> ?b . ?c <urn:name> ?n }"
MUTUAL = "ASK { ?a <urn:knows> ?b . ?b <urn:knows> ?a }"
ONE_GRAPH = "SELECT ?a ?n FROM <urn:g> WHERE { ?a <urn:knows> ?b . ?b <urn:name> ?n }"
TWO_GRAPHS = ONE_GRAPH.replace("WHERE", "FROM <urn:h> WHERE")
QUERIES = {
    "pairs": PAIRS,
    "names": NAMES,
    "knowers": KNOWERS,
    "product": PRODUCT,
    "mutual": MUTUAL,
    "one_graph": ONE_GRAPH,
    "two_graphs": TWO_GRAPHS,
}


def knows(a: str, b: str, graph: str = "g") -> str:
    return f"<urn:{a}> <urn:knows> <urn:{b}> <urn:{graph}>"


def name(a: str, n: str, graph: str = "g") -> str:
    return f'<urn:{a}> <urn:name> "{n}" <urn:{graph}>'


FIRST = (
    ("A " + knows("a", "b"), "A " + knows("a", "c"), "A " + name("b", "B"), "A " + name("c", "C")),
    ("D " + knows("a", "c"), "A " + knows("b", "c"), "A " + knows("b", "c", "h")),
)
"""Epochs 1 and 2."""

LATER = (
    ("A " + knows("c", "b"), "D " + name("b", "B"), "A " + name("b", "Bea")),
    ("D " + knows("b", "c"),),  # still in <urn:h>
    ("A " + name("b", "B"), "D " + knows("b", "c", "h"), "A " + knows("a", "c")),
    ("D " + name("b", "B"), "D " + knows("c", "b"), "A " + name("d", "D")),
)
"""Epochs 3 to 6."""


def ingest_change_sets(project: Project, change_sets: tuple[tuple[str, ...], ...]) -> None:
    for change_set in change_sets:
        project.change(*change_set)
