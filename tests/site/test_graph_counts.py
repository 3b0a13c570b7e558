"""The counts of predicates and classes: extended by changes, they are those of the whole graph."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyoxigraph as ox

from tests.support.projects.museum import Museum
from weir.answers.plain_values import connect_with_plain_values
from weir.lake.delta.bindings import Bindings
from weir.project import Project
from weir.settings import CONFIG_FILE, Settings
from weir.site.graph_counts import GraphCounts

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def counts(museum: Museum, known: GraphCounts | None) -> GraphCounts:
    project = Project(Settings.load(museum.folder / CONFIG_FILE))
    bindings = Bindings(connect_with_plain_values(project.settings))
    try:
        lake = project.open_lake()
        head = lake.rows("transactions", ["epoch"]).num_rows
        return GraphCounts.of(bindings, lake, head, {} if known is None else known.to_json())
    finally:
        bindings.connection.close()
        project.close()


def test_counts_that_are_extended_are_those_of_the_newest_graph(tmp_path: Path) -> None:
    museum, known = Museum(tmp_path / "museum"), None
    for version in range(1, 4):
        museum.live(1)
        known = counts(museum, known)
        file = museum.folder / f"data/{version:03}.ttl"
        triples = [*ox.parse(file.read_bytes(), ox.RdfFormat.TURTLE)]
        assert known.predicates == Counter(str(triple.predicate) for triple in triples)
        typed = (str(triple.object) for triple in triples if str(triple.predicate) == TYPE)
        assert known.classes == Counter(typed)
        assert known == counts(museum, None)


def test_the_counts_over_time_of_the_largest_end_with_those_of_now(tmp_path: Path) -> None:
    museum, known = Museum(tmp_path / "museum"), None
    for _ in range(3):
        museum.live(1)
        known = counts(museum, known)
        for series, totals in (
            (known.predicates_over_time, known.predicates),
            (known.classes_over_time, known.classes),
        ):
            assert totals is not None
            assert {term: points[-1][1] for term, points in series.items()} == {
                term: totals[term] for term in series
            }
            others = [count for term, count in totals.items() if term not in series]
            assert min(totals[term] for term in series) >= max(others, default=0)
    assert known is not None
    assert known.predicates_over_time["<http://example.org/lent_to>"] == [(2, 1)]


def test_the_counts_of_another_lake_are_not_extended(tmp_path: Path) -> None:
    museum, other = (Museum(tmp_path / name, exhibits=n) for name, n in (("a", 30), ("b", 20)))
    museum.live(2)
    other.live(3)
    assert counts(other, counts(museum, None)) == counts(other, None)


def test_void_is_turtle_with_the_counts() -> None:
    known = GraphCounts("", 3, {"<http://a/p>": 2, TYPE: 1}, {"<http://a/C>": 1, "_:b": 1})
    graph = ox.Store()
    graph.load(known.void().encode(), ox.RdfFormat.TURTLE, base_iri="http://x/")
    partitions = """PREFIX void: <http://rdfs.org/ns/void#> SELECT ?p ?n {
        ?d void:triples 3 ; void:propertyPartition [ void:property ?p ; void:triples ?n ] }"""
    rows = {(str(row["p"]), row["n"].value) for row in graph.query(partitions)}  # type: ignore
    assert rows == {("<http://a/p>", "2"), (TYPE, "1")}
    classes = """PREFIX void: <http://rdfs.org/ns/void#> SELECT ?c {
        ?d void:classPartition [ void:class ?c ; void:entities 1 ] }"""
    assert [str(row["c"]) for row in graph.query(classes)] == ["<http://a/C>"]  # type: ignore
