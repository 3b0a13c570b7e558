"""The key `entailment` of queries and of shapes, and `sh:entailment`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.project import PATCHES, Project
from weir.definitions.catalog import Catalog
from weir.definitions.query import compile_query
from weir.definitions.shapes import compile_shapes_graph
from weir.errors import ConfigurationError

_KEY = "#+ entailment: rdfs\n"
_QUERY = "PREFIX : <http://x/> SELECT ?x { ?x a :Asset }"
_PREFIXES = """\
@prefix : <http://x/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
"""
_SHAPES = _PREFIXES + ":S a sh:NodeShape ; sh:targetClass :Asset ; sh:nodeKind sh:Literal .\n"
_DECLARED = _SHAPES + "<> sh:entailment <http://www.w3.org/ns/entailment/%s> .\n"
_SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
_DOMAIN = "<http://www.w3.org/2000/01/rdf-schema#domain>"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project in which a pump is an asset, by the domain of a property."""
    project = Project(tmp_path_factory.mktemp("assets")).declare(PATCHES)
    project.query("assets", _KEY + _QUERY)
    project.query("asserted", _QUERY)
    project.query("pumps", _KEY + _QUERY.replace(":Asset", ":Pump"))
    project.write("shapes/literals.ttl", _KEY + _SHAPES)
    project.change_set(
        f"A <http://x/feeds> {_DOMAIN} <http://x/Pump> .\n"
        f"A <http://x/Pump> {_SUBCLASS} <http://x/Asset> .\n"
        "A <http://x/p1> <http://x/feeds> <http://x/b1> ."
    )
    project.run()
    return project


def test_the_answer_has_what_follows(project: Project) -> None:
    assert project.answer("assets") == {(("x", "<http://x/p1>"),): 1}
    assert project.answer("asserted") == {}


def test_queries_that_differ_in_their_class_are_computed_together(project: Project) -> None:
    catalog = Catalog.of(project.settings)
    shapes = {catalog.member(name).body.shape for name in ("assets", "pumps")}
    assert len(shapes) == 1
    assert project.answer("pumps") == project.answer("assets")


def test_what_followed_from_a_deleted_statement_of_the_schema_leaves(
    project: Project, tmp_path: Path
) -> None:
    project = project.copy(tmp_path / "copy")
    project.change_set(f"D <http://x/Pump> {_SUBCLASS} <http://x/Asset> .")
    project.run()
    assert project.answer("assets") == {}
    changes = [(epoch, weight) for epoch, weight, _ in project.signed("literals")]
    assert changes == [(1, 1), (2, -1)]


def test_a_report_is_over_what_follows(project: Project) -> None:
    assert [dict(row)["focus_node"] for row in project.answer("literals")] == ["<http://x/p1>"]


def test_the_key_changes_the_fingerprint_and_none_does_not() -> None:
    plain, key = compile_query(_QUERY, "q"), compile_query(_KEY + _QUERY, "q")
    assert plain.fingerprint != key.fingerprint
    assert compile_query("#+ entailment: none\n" + _QUERY, "q").fingerprint == plain.fingerprint


def test_another_entailment_is_a_mistake_with_its_line() -> None:
    with pytest.raises(
        ConfigurationError, match="entailment: write rdfs, owl-rl or the name"
    ) as caught:
        compile_query("#+ history: full\n#+ entailment: OWL\n" + _QUERY, "q")
    assert caught.value.where == "q:2"


@pytest.mark.parametrize(
    ("query", "where", "what"),
    [
        ("SELECT * {\n  SERVICE <http://r/> { ?s ?p ?o } }", "q:3:11", "SERVICE <http://r/>"),
        ("SELECT *\nFROM <urn:weir:web:pods> { ?s ?p ?o }", "q:3:6", "traversal pods"),
        (
            "PREFIX : <http://x/> SELECT * FROM NAMED WINDOW :w ON :s [RANGE PT1H]"
            " { WINDOW :w { ?s ?p ?o } }",
            "q:1",
            "entailment is for queries without windows",
        ),
    ],
)
def test_what_is_not_of_the_graph_is_refused_with_its_place(
    query: str, where: str, what: str
) -> None:
    with pytest.raises(ConfigurationError, match=what) as caught:
        compile_query(_KEY + query, "q")
    assert caught.value.where == where


def test_a_shapes_graph_may_ask_for_entailment_itself() -> None:
    key, declared = (
        compile_shapes_graph(text, "s.ttl") for text in (_KEY + _SHAPES, _DECLARED % "RDFS")
    )
    assert key.fingerprint == declared.fingerprint
    assert compile_shapes_graph(_SHAPES, "s.ttl").fingerprint != key.fingerprint


def test_a_shapes_graph_that_asks_for_another_entailment_is_refused_with_its_place() -> None:
    with pytest.raises(ConfigurationError, match=r"OWL-Direct.*only that of RDFS") as caught:
        compile_shapes_graph(_DECLARED % "OWL-Direct", "s.ttl")
    assert caught.value.where == "s.ttl:5:4"


def test_a_class_without_instances_of_its_own_is_not_taken_for_misspelt(project: Project) -> None:
    catalog = Catalog.of(project.settings)
    patterns = {name: catalog.member(name).patterns for name in ("asserted", "assets", "literals")}
    assert len(patterns.pop("asserted")) == 1
    assert patterns == {"assets": (), "literals": ()}
