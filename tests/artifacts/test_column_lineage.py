"""Which columns of which tables answers are made of, by kind of definition and of what is read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.artifacts.test_lineage import NAMED, REMOTE
from tests.review.test_beside_lake import PROGRAM
from tests.support.opened import call
from tests.support.projects.project import PATCHES, Project
from tests.support.streams.projects import OFTEN, READINGS, SEEN
from weir.artifacts.column_lineage import ColumnLineage, column_lineage
from weir.artifacts.contents import Contents, read_contents
from weir.lineage.datasets import tables_read

SHAPES = """@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix : <http://x/> .
:Shape a sh:NodeShape ; sh:targetSubjectsOf :q ;
  sh:property [ sh:path :p ; sh:nodeKind sh:IRI ] .
"""
GRAPH_PROGRAM = """%+ graph: urn:d:g
%+ prefixes: {"": "http://x/"}
%+ output: [link]
link(X,Y) <- back(X,Y).
link(X,Z) <- link(X,Y), q(Z,Y).
back(X,Y) <- link(X,Y).
back(X,Y) <- p(X,Y).
"""


ALERTS = """%+ stream: readings
%+ unit: PT5S
%+ prefixes: {"": "http://x/"}
%+ atoms: {"of(R,S)": "?R :of ?S"}
%+ write_stream: {name: alerts, "pair(R,S)": "?S :has ?R"}
pair(R,S) <- of(R,S).
"""


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    """A project with a definition for each kind, and for each thing that can be read."""
    project = Project(tmp_path_factory.mktemp("columns")).declare(PATCHES, READINGS)
    project.remotes({"name": "far", "iri": REMOTE, "contact": "tests@example.org"})
    seeds = "seeds: ['https://a.example/'], contact: tests@example.org"
    project.write("traversals.yml", f"traversals:\n  - {{name: pods, {seeds}}}\n")
    web = "urn:weir:web:pods"
    queries = {
        "all": "SELECT ?b { ?a :p ?b }",
        "unnamed": "#+ default_graph: default\nSELECT ?b { ?a :p ?b }",
        "named": "SELECT ?g ?b { GRAPH ?g { ?a :p ?b } }",
        "asked": f"SELECT ?b {{ ?a :p ?a SERVICE <{REMOTE}> {{ ?a :q ?b }} }}",
        "walked": f"SELECT ?b {{ GRAPH <{web}> {{ ?a :p ?b }} }}",
        "pages": f"SELECT ?g ?b FROM NAMED <{web}> {{ GRAPH ?g {{ ?a :p ?b }} }}",
        "up": "#+ graph: urn:d:up\nCONSTRUCT { ?a :up ?b } WHERE { ?b :p ?a }",
        "read": "#+ reads: [up]\nSELECT ?b { ?a :up ?b }",
        "entailed": "#+ entailment: rdfs\nSELECT ?b { ?a a ?b }",
    }
    for name, text in queries.items():
        head, _, body = text.rpartition("\n")
        project.query(name, f"{head}\nPREFIX : <http://x/> {body}" if head else _prefixed(body))
    project.query("seen", SEEN)
    project.query("often", OFTEN)
    project.program("steady", PROGRAM)
    project.program("both", NAMED)
    project.program("alerts", ALERTS)
    project.program("links", GRAPH_PROGRAM)
    project.write("shapes/people.ttl", SHAPES)
    now = datetime(2030, 1, 1, tzinfo=UTC)
    return call(read_contents, project.settings, now)


def _prefixed(body: str) -> str:
    return f"PREFIX : <http://x/> {body}"


def _lineage(contents: Contents, name: str) -> ColumnLineage:
    (definition,) = (m.definition for m in contents.models if m.state.name == name)
    assert definition is not None
    return column_lineage(definition, contents.remotes)


def _inputs(contents: Contents, name: str, column: str) -> dict[str, str]:
    """What a column is made of: descriptions by table and column."""
    made = _lineage(contents, name).columns[column]
    assert all(one.how == "identity" for one in made)
    return {f"{one.table}.{one.column}": one.description for one in made}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("all", {"triples.object": "object of <http://x/p>"}),
        ("unnamed", {"quads.object": "object of <http://x/p>"}),
        ("named", {"quads.object": "object of <http://x/p>"}),
        ("asked", {"replicas/far.mapping": "?b of SERVICE"}),
        ("walked", {"documents/pods.content": "object of <http://x/p>"}),
        (
            "pages",
            {
                "documents/pods.content": "object of <http://x/p>",
            },
        ),
        (
            "read",
            {"triples.object": "object of <http://x/up>"}
            | {"derived/up.object": "object of <http://x/up>"},
        ),
    ],
)
def test_a_column_is_made_of_columns_of_what_its_patterns_read(
    contents: Contents, query: str, expected: dict[str, str]
) -> None:
    assert _inputs(contents, query, "b") == expected


def test_the_names_of_graphs_have_columns_of_their_own(contents: Contents) -> None:
    assert _inputs(contents, "named", "g") == {"quads.graph": "graph"}
    assert _inputs(contents, "pages", "g") == {"documents/pods.iri": "graph"}


def test_what_windows_read_is_of_the_stream_that_they_are_on(contents: Contents) -> None:
    of = "object of <http://example.org/of>"
    assert _inputs(contents, "seen", "subject") == {"streams/readings.object": of}
    seen = "subject of <http://example.org/seen>"
    assert _inputs(contents, "often", "sensor") == {"output_streams/seen.subject": seen}


def test_a_derived_graph_is_made_of_what_its_query_reads(contents: Contents) -> None:
    made = {name: _inputs(contents, "up", name) for name in ("subject", "predicate", "object")}
    assert made == {
        "subject": {"triples.object": "object of <http://x/p>"},
        "predicate": {},
        "object": {"triples.subject": "subject of <http://x/p>"},
    }


def test_a_class_that_follows_is_made_of_the_schema_too(contents: Contents) -> None:
    rdfs = "http://www.w3.org/2000/01/rdf-schema#"
    described = _lineage(contents, "entailed").columns["b"]
    assert f"object of <{rdfs}subClassOf>" in {one.description for one in described}


def test_rules_lead_from_heads_to_the_atoms_that_are_read(contents: Contents) -> None:
    made = {name: _inputs(contents, "links", name) for name in ("subject", "predicate", "object")}
    assert made == {
        "subject": {"triples.subject": "subject of <http://x/p>"},
        "predicate": {},
        "object": {
            "triples.object": "object of <http://x/p>",
            "triples.subject": "subject of <http://x/q>",
        },
    }


def test_an_argument_of_an_atom_over_a_stream_is_of_its_events(contents: Contents) -> None:
    tables = {one.table for one in _lineage(contents, "steady").columns["a1"]}
    assert tables == {"streams/readings"}
    tables = {one.table for one in _lineage(contents, "both").columns["a1"]}
    assert tables == {"streams/readings", "triples"}


def test_the_stream_of_a_program_is_made_of_its_templates(contents: Contents) -> None:
    elements = _lineage(contents, "alerts").elements
    assert elements is not None
    assert {name: {one.column for one in made} for name, made in elements.items()} == {
        "subject": {"object"},
        "predicate": set(),
        "object": {"subject"},
    }
    assert _lineage(contents, "steady").elements is None


def test_a_report_is_made_of_what_its_shapes_read(contents: Contents) -> None:
    columns = _lineage(contents, "people").columns
    assert {one.description for one in columns["focus_node"]} >= {"subject of <http://x/q>"}
    assert {one.description for one in columns["value"]} == {"object of <http://x/p>"}
    assert columns["severity"] == ()


def test_every_table_that_columns_are_made_of_is_one_that_is_read(contents: Contents) -> None:
    read = tables_read(contents)
    for model in contents.models:
        lineage = _lineage(contents, model.state.name)
        inputs = [one for own in lineage.columns.values() for one in own]
        inputs += [one for _, one in lineage.decisions]
        assert {one.table for one in inputs} <= {*read[model.state.name]}


def test_each_column_of_an_answer_has_a_lineage(contents: Contents) -> None:
    for model in contents.models:
        assert model.definition is not None
        names = {name for name, _ in model.definition.columns}
        assert {*_lineage(contents, model.state.name).columns} == names
