"""Queries name traversals that are declared; another name is an error at its place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.projects.project import Project
from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.definitions.traversals import TraversalName
from weir.errors import ConfigurationError
from weir.ingest.undeclared import undeclared
from weir.remotes.names import DeclaredRemote
from weir.traversals.declarations import load_traversals
from weir.traversals.names import declared_traversals, traversal_names

CODE = Path(__file__).parents[2]
DECLARED = "traversals:\n  - {name: matches, follow: nonsense}\n  - name: pods\n"
"""The rest of a declaration is not looked at."""


def registered(folder: Path, text: str) -> tuple[Project, Definition]:
    """A project with the query of a text."""
    project = Project(folder).declare()
    project.write("traversals.yml", DECLARED)
    project.query("q", text)
    return project, Catalog.of(project.settings).member("q")


def test_only_the_names_of_a_declaration_are_read(tmp_path: Path) -> None:
    file = tmp_path / "traversals.yml"
    assert traversal_names(file) == ()
    file.write_text("# none yet\n")
    assert traversal_names(file) == ()
    file.write_text(DECLARED)
    assert traversal_names(file) == ("matches", "pods")


def test_names_and_times_are_those_of_the_whole_declaration(tmp_path: Path) -> None:
    file = tmp_path / "traversals.yml"
    rest = "seeds: ['https://a.example/'], contact: tests@example.org"
    file.write_text(
        f"traversals:\n  - {{name: pods, {rest}}}\n"
        f"  - {{name: feed, every: PT5M, connection: feed_login, {rest}}}\n"
    )
    whole = [declared.traversal for declared in load_traversals(file).values()]
    assert declared_traversals(file) == tuple(
        DeclaredRemote(own.name, own.inbox, own.every_us, own.connection) for own in whole
    )


@pytest.mark.parametrize(
    ("text", "what", "place"),
    [
        ("traversals:\n  - name: a\n  - name: a\n", "two traversals are named a", "3:5"),
        ("traversals:\n  - name: a b\n", "name", "2:5"),
        ("traversals: [\n", "not YAML", "2:1"),
    ],
)
def test_a_wrong_name_of_a_declaration_is_an_error_at_its_place(
    tmp_path: Path, text: str, what: str, place: str
) -> None:
    file = tmp_path / "traversals.yml"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=what) as error:
        traversal_names(file)
    assert error.value.where == f"{file}:{place}"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("SELECT *\nFROM <urn:weir:web:match> { ?s ?p ?o }", "2:6"),
        ("SELECT *\nFROM NAMED <urn:weir:web:match> { GRAPH ?g { ?s ?p ?o } }", "2:12"),
        ("PREFIX web: <urn:weir:web:>\nSELECT * { GRAPH web:match { ?s ?p ?o } }", "2:18"),
        (
            "SELECT * FROM <urn:weir:web:pods> {\n"
            " ?s ?p ?o FILTER EXISTS { GRAPH <urn:weir:web:match> { ?s ?p ?o } } }",
            "2:33",
        ),
    ],
)
def test_a_name_that_no_traversal_has_is_an_error_at_its_place(
    tmp_path: Path, text: str, place: str
) -> None:
    project, query = registered(tmp_path, text)
    error = undeclared([query], project.settings)["q"]
    assert error.what == "<urn:weir:web:match>: no traversal is named match"
    assert error.where == f"{query.file}:{place}"
    assert error.hint == (
        "Did you mean matches? Declare it in traversals.yml. Traversals: matches, pods."
    )
    project.write("traversals.yml", DECLARED.replace("matches", "match"))
    assert not undeclared([query], project.settings)


def test_the_names_of_a_query_are_in_the_order_of_its_text(tmp_path: Path) -> None:
    _, query = registered(
        tmp_path,
        "SELECT * FROM NAMED <urn:weir:web:pods> { ?s ?p ?o GRAPH <urn:weir:web:matches> {} }",
    )
    assert query.traversals == (TraversalName("pods", 1, 21), TraversalName("matches", 1, 58))


def test_a_graph_of_a_remote_is_no_traversal_of_this_project(tmp_path: Path) -> None:
    block = "SERVICE <http://remote.example/> { GRAPH <urn:weir:web:theirs> { ?s ?p ?n } }"
    _, query = registered(tmp_path, f"SELECT * {{ ?s <http://x/p> ?o {block} }}")
    assert query.traversals == ()


def test_declarations_are_read_without_the_grammar_of_queries() -> None:
    program = "import sys, weir.pending, weir.compact.stage; print('rdflib' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=CODE, capture_output=True, check=True, text=True
    )
    assert run.stdout == "False\n"
