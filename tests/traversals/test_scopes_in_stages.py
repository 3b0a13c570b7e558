"""Queries over a traversal through all stages: beside a window, misspelt, and not declared."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.projects.project import Project
from tests.support.streams.projects import READINGS, readings
from tests.traversals.test_stages import SEEDS, START, TRAVERSALS, evaluate
from tests.traversals.webs import Web
from weir.errors import WeirError

pytestmark = pytest.mark.usefixtures("sampled")

EX = "http://example.org/"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
MISSPELT = "<http://www.w3.org/2000/01/rdf-schema#lable>"
NOSE = "<urn:weir:web:nose>"
DOCUMENT = SEEDS[1]
WINDOW = "FROM NAMED WINDOW <http://w/> ON readings [RANGE PT10S STEP PT10S]"
READ = f"WINDOW <http://w/> {{ ?r <{EX}of> ?s }}"


def described(label: str) -> Web:
    """A web of one document, with the label of a sensor."""
    return Web({DOCUMENT: [(f"<{EX}s1>", LABEL, f'"{label}"')]})


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A stream, and a traversal that has not begun."""
    project = Project(tmp_path).declare(READINGS)
    project.folders("events")
    project.write("traversals.yml", TRAVERSALS)
    return project


@pytest.mark.parametrize(
    ("dataset", "pattern"),
    [
        ("", f"GRAPH {NOSE} {{ ?s {LABEL} ?l }}"),
        (f"FROM {NOSE}", f"?s {LABEL} ?l"),
        (f"FROM NAMED {NOSE}", f"GRAPH ?g {{ ?s {LABEL} ?l }}"),
        (f"FROM NAMED {NOSE}", f"GRAPH <{DOCUMENT}> {{ ?s {LABEL} ?l }}"),
    ],
)
def test_a_window_is_joined_with_the_documents_of_its_time(
    project: Project, dataset: str, pattern: str
) -> None:
    project.query("q", f"SELECT ?l {dataset} {WINDOW} {{ {READ} {pattern} }}")
    for number, label in enumerate(("before", "after")):
        evaluate(project, described(label), START + timedelta(hours=number))
        project.run()
        second = 20_000 * number
        project.write(f"events/{number}.ttl", readings(("s1", second), ("s1", second + 9_000)))
        project.run()
    labels = {row["l"] for row in project.table("answers/q")}
    assert labels == {'"before"', '"after"'}


def test_what_no_document_has_is_said_of_the_traversal(project: Project) -> None:
    def warnings() -> list[str]:
        project.ingest()
        return [line for line in project.maintain().warnings if "no triple" in line]

    # Nothing is misspelt where there is no document yet.
    project.query("early", f"SELECT * FROM {NOSE} {{ ?s {LABEL} ?l }}")
    project.write("events/1.ttl", readings(("s1", 1)))
    assert warnings() == []
    evaluate(project, described("a label"), START)
    project.query("misspelt", f"SELECT * FROM {NOSE} {{ ?s {MISSPELT} ?l }}")
    assert warnings() == [
        f"misspelt: no triple of the traversal nose has the predicate {MISSPELT} (near: {LABEL})"
    ]


def test_a_query_over_no_declared_traversal_is_left_out_and_the_others_are_maintained(
    project: Project,
) -> None:
    project.query("q", f"SELECT * FROM {NOSE} {{ ?s {LABEL} ?l }}")
    project.query("wrong", "SELECT *\nFROM <urn:weir:web:noose> { ?s ?p ?l }")
    evaluate(project, described("a label"), START)
    project.ingest()
    with pytest.raises(WeirError, match=r"wrong\.rq:2:6: .*no traversal is named noose"):
        project.maintain()
    project.stages("validate", "publish")
    assert project.answer("q").total() == 1
