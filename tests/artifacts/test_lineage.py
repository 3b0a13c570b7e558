"""What reads what: an edge for each thing that a definition reads, and no other."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.review.test_beside_lake import PROGRAM
from tests.support.artifacts import Documents
from tests.support.projects.project import PATCHES, SNAPSHOTS, Project
from tests.support.streams.projects import OFTEN, READINGS, SEEN

REMOTE = "http://remote.example/sparql"
READ_BY = {
    "?a :p ?b .": {"source.graph.p", "source.graph.s"},
    "GRAPH :g { ?a :q ?b }": {"source.graph.p", "source.graph.s"},
    "GRAPH <urn:weir:web:pods> { ?a :r ?b }": {"source.traversals.pods"},
    f"SERVICE <{REMOTE}> {{ ?a :s ?b }}": {"source.remotes.far"},
}
"""Parts of a query, and what each reads."""
NAMED = PROGRAM.replace('?S"}', '?S", "named(S)": {graph: "?S :name ?N"}}').replace(
    "<-", "<- named(S),"
)
"""A program that reads the graph, too."""
CHOICES = [*product((False, True), repeat=len(READ_BY))]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    """Those of a project with a query for every choice of parts, and definitions over streams."""
    project = Project(tmp_path_factory.mktemp("lineage")).declare(PATCHES, SNAPSHOTS, READINGS)
    project.remotes({"name": "far", "iri": REMOTE, "contact": "tests@example.org"})
    seeds = "seeds: ['https://a.example/'], contact: tests@example.org"
    project.write("traversals.yml", f"traversals:\n  - {{name: pods, {seeds}}}\n")
    for chosen in CHOICES:
        parts = " ".join(part for part, is_in in zip(READ_BY, chosen, strict=True) if is_in)
        text = f"PREFIX : <http://x/> SELECT ?a {{ {parts or 'VALUES ?a { 1 }'} }}"
        project.query(_name(chosen), text)
    project.query("seen", SEEN)
    project.query("often", OFTEN)
    project.query("both", OFTEN.replace("true }", "true } ?sensor ex:name ?name"))
    project.program("steady", PROGRAM)
    project.program("named", NAMED)
    return Documents.of(project)


def _name(chosen: tuple[bool, ...]) -> str:
    return "q" + "".join("01"[is_in] for is_in in chosen)


@pytest.mark.parametrize("chosen", CHOICES, ids=_name)
def test_a_query_depends_on_what_the_parts_of_its_text_read(
    documents: Documents, chosen: tuple[bool, ...]
) -> None:
    parts = zip(READ_BY.values(), chosen, strict=True)
    expected = set[str]().union(*(read for read, is_in in parts if is_in))
    assert documents.reads(_name(chosen)) == expected


def test_what_reads_a_stream_depends_on_its_source_or_on_the_query_that_gives_it(
    documents: Documents,
) -> None:
    graph = {"source.graph.p", "source.graph.s"}
    assert {name: documents.reads(name) for name in ("seen", "often", "both")} == {
        "seen": {"source.streams.readings"},
        "often": {"model.seen"},
        "both": {"model.seen", *graph},
    }
    assert documents.reads("steady") == {"source.streams.readings"}
    assert documents.reads("named") == {"source.streams.readings", *graph}


def test_every_edge_is_between_two_nodes_and_is_known_from_both(documents: Documents) -> None:
    manifest = documents.manifest
    nodes = {*manifest.nodes, *manifest.sources}
    assert manifest.parent_map is not None
    assert manifest.child_map is not None
    assert nodes == {*manifest.parent_map} == {*manifest.child_map}
    down = {(up, name) for name, ups in manifest.parent_map.items() for up in ups}
    assert down == {(name, low) for name, lows in manifest.child_map.items() for low in lows}
    assert {up for up, _ in down} < nodes


def test_a_query_over_what_is_not_declared_has_no_edge_to_it(tmp_path: Path) -> None:
    project = Project(tmp_path).declare()
    project.query("seen", SEEN)
    assert Documents.of(project).reads("seen") == set()
