"""Shapes graphs as definitions: a report is an answer like any other."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pyoxigraph as ox
import pytest

from tests.support.built import AsBuilt
from tests.support.projects.project import PATCHES, Project
from tests.support.shacl.results import Graph, results_of_report
from weir.definitions.catalog import Catalog
from weir.definitions.checks import mistakes_of_checks
from weir.errors import ConfigurationError, QualityError
from weir.export.rdf import write_rdf
from weir.project import Project as OpenProject

_SHAPES = """\
#+ description: Exhibits are in one room.
@prefix : <http://x/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
:Exhibit a sh:NodeShape ; sh:targetSubjectsOf :title ;
  sh:property [ sh:path :room ; sh:minCount 1 ; sh:message "where is it?" ] .
"""
_MISSING = '<http://x/vase> <http://x/title> "vase" .'
_ROOM = '<http://x/vase> <http://x/room> "1" .'


def begun(folder: Path) -> Project:
    project = Project(folder).declare(PATCHES)
    project.write("shapes/exhibits.ttl", _SHAPES)
    project.change_set(f"A {_MISSING}")
    project.run()
    return project


@pytest.fixture
def project(as_built: AsBuilt) -> Project:
    """A project with shapes, and an exhibit without a room."""
    return as_built(begun)


def test_a_result_opens_and_closes_with_the_data(project: Project) -> None:
    project.change_set(f"A {_ROOM}")
    project.run()
    changes = [(epoch, weight) for epoch, weight, _ in project.signed("exhibits")]
    assert changes == [(1, 1), (2, -1)]


def test_an_edit_of_a_shape_is_the_report_of_the_new_text(project: Project) -> None:
    project.write("shapes/exhibits.ttl", _SHAPES.replace("minCount 1", "minCount 0"))
    project.run()
    assert project.answer("exhibits") == {}


def _report(project: Project, epoch: int | None = None) -> bytes:
    output = io.BytesIO()
    with OpenProject(project.settings) as opened:
        write_rdf(opened, "exhibits", output, epoch=epoch)
    return output.getvalue()


def test_the_report_is_written_as_of_any_epoch(project: Project) -> None:
    project.change_set(f"A {_ROOM}")
    project.run()
    reports = [_report(project, epoch) for epoch in (1, 2, None)]
    conforms = [b"sh:conforms true" in report for report in reports]
    assert conforms == [False, True, True]
    assert reports[1] == reports[2]


def test_the_report_has_the_properties_of_a_validation_result(project: Project) -> None:
    quads = ox.parse(_report(project), ox.RdfFormat.TURTLE)
    graph = Graph(quad.triple for quad in quads)
    (result,) = results_of_report(graph, ox.NamedNode("urn:weir:report"))
    assert result.focus_node == "<http://x/vase>"
    assert result.path == "<http://x/room>"
    assert result.component == "<http://www.w3.org/ns/shacl#MinCountConstraintComponent>"
    assert b'"where is it?"' in _report(project)


def test_a_mistake_in_the_front_matter_has_its_line(tmp_path: Path) -> None:
    project = Project(tmp_path).declare(PATCHES)
    project.write("shapes/exhibits.ttl", f"#+ subclases: data\n{_SHAPES}")
    with pytest.raises(ConfigurationError, match=r"exhibits\.ttl:1.*subclases"):
        Catalog.of(project.settings).member("exhibits")


def test_a_gate_holds_answers_while_a_violation_is_open(project: Project) -> None:
    project.write("shapes/exhibits.ttl", f"#+ gate: {{stops: [titles]}}\n{_SHAPES}")
    project.query("titles", "SELECT ?title { ?exhibit <http://x/title> ?title }")
    with pytest.raises(QualityError, match="gate_exhibits"):
        project.run()
    project.change_set(f"A {_ROOM}")
    project.run()
    assert [*project.answer("titles")] == [(("title", '"vase"'),)]


def test_a_gate_of_less_than_a_violation_holds_for_violations_too(project: Project) -> None:
    project.write("shapes/exhibits.ttl", f"#+ gate: {{stops: all, severity: Info}}\n{_SHAPES}")
    project.query("titles", "SELECT ?title { ?exhibit <http://x/title> ?title }")
    with pytest.raises(QualityError, match="gate_exhibits"):
        project.run()


def test_a_gate_of_a_name_that_is_not_declared_is_a_mistake(project: Project) -> None:
    project.write("shapes/exhibits.ttl", f"#+ gate: {{stops: [title]}}\n{_SHAPES}")
    catalog = Catalog.of(project.settings)
    mistakes = mistakes_of_checks(project.settings.expectations, catalog, catalog.names)
    assert [mistake.where for mistake in mistakes] == ["shapes/exhibits.ttl:1"]


@pytest.mark.parametrize(
    ("gate", "what"),
    [
        ("{stop: [titles]}", r"gate\.stops: it is missing"),
        ("{stops: [titles], severity: Warn}", "gate.severity"),
        ("{stops: []}", "gate.stops"),
    ],
)
def test_a_mistake_in_a_gate_names_its_own_keys(tmp_path: Path, gate: str, what: str) -> None:
    project = Project(tmp_path).declare(PATCHES)
    project.write("shapes/exhibits.ttl", f"#+ gate: {gate}\n{_SHAPES}")
    with pytest.raises(ConfigurationError) as raised:
        Catalog.of(project.settings).member("exhibits")
    said = "\n".join(map(str, (raised.value, *raised.value.others)))
    assert re.search(what, said)
    assert "description, owner" not in said
