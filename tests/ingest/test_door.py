"""The door of shapes: a change set that would open a result stops its source, uncommitted."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.built import AsBuilt
from tests.support.projects.project import PATCHES, SNAPSHOTS, Project
from weir.errors import ConfigurationError
from weir.ingest.stopped_sources import stopped_sources
from weir.project import open_lake

_SHAPES = """\
#+ door: {sources: [p]}
@prefix : <http://x/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
:Exhibit a sh:NodeShape ; sh:targetSubjectsOf :title ;
  sh:property [ sh:path :room ; sh:minCount 1 ; sh:message "where is it?" ] .
"""


def _title(name: str) -> str:
    return f'<http://x/{name}> <http://x/title> "{name}" .'


def _room(name: str) -> str:
    return f'<http://x/{name}> <http://x/room> "1" .'


def begun(folder: Path) -> Project:
    project = Project(folder).declare(PATCHES)
    project.write("shapes/exhibits.ttl", _SHAPES)
    project.change_set(f"A {_title('vase')}", f"A {_room('vase')}")
    assert project.deliver().errors == ()
    project.stages("maintain", "validate", "publish")
    return project


@pytest.fixture
def project(as_built: AsBuilt) -> Project:
    """A project with a door and an exhibit in a room."""
    return as_built(begun)


def test_a_change_set_that_opens_a_result_is_not_taken(project: Project) -> None:
    project.change_set(f"A {_title('coin')}")
    (error,) = project.deliver().errors
    assert "0002.rdfp opens 1 result of exhibits: <http://x/coin> <http://x/room>" in error.what
    assert error.exit_code == 3
    assert len(project.table("transactions")) == 1
    assert project.state(9) == project.state(1)


def test_the_change_sets_before_it_are_taken(project: Project) -> None:
    project.change_set(f"A {_title('coin')}", f"A {_room('coin')}")
    project.change_set(f"D {_room('vase')}")
    result = project.deliver()
    assert result.to_epoch == 2
    assert stopped_sources(open_lake(project.settings))["p"].position == "0003.rdfp"


def test_a_result_that_a_later_change_set_would_close_is_one(project: Project) -> None:
    project.change_set(f"D {_room('vase')}")
    project.change_set(f"A {_room('vase')}")
    assert project.deliver().to_epoch == 1


def test_a_corrected_change_set_is_taken(project: Project) -> None:
    project.change_set(f"A {_title('coin')}")
    assert project.deliver().errors
    project.patch("changes/0002.rdfp", f"A {_title('coin')}", f"A {_room('coin')}")
    assert not project.deliver().errors


def test_an_accepted_change_set_is_taken_once(project: Project) -> None:
    project.change_set(f"A {_title('coin')}")
    assert project.deliver().errors
    assert not project.deliver(("p",)).errors
    project.change_set(f"A {_title('mask')}")
    assert project.deliver(("p",)).errors


def test_another_try_of_a_run_does_not_accept_what_its_first_one_stopped_at(
    project: Project,
) -> None:
    project.change_set(f"A {_title('coin')}")
    assert project.deliver().errors
    project.change_set(f"A {_title('mask')}")
    for _ in range(2):
        result = project.deliver(("p",), run_id="accepting the coin")
        assert "0003.rdfp" in result.errors[0].what


def test_what_is_other_than_when_it_was_refused_is_not_accepted(project: Project) -> None:
    project.change_set(f"A {_title('coin')}")
    assert project.deliver().errors
    project.patch("changes/0002.rdfp", f"A {_title('coin')}", f"A {_title('mask')}")
    assert project.deliver(("p",)).errors


def test_a_change_set_that_closes_a_result_is_taken(project: Project) -> None:
    project.change_set(f"A {_title('coin')}")
    assert project.deliver().errors
    assert not project.deliver(("p",)).errors
    project.change_set(f"A {_room('coin')}")
    assert not project.deliver().errors


def test_what_is_wrong_without_any_data_is_not_opened_by_the_first(tmp_path: Path) -> None:
    project = Project(tmp_path).declare(PATCHES)
    shapes = _SHAPES.replace("sh:targetSubjectsOf :title", "sh:targetNode :desk")
    project.write("shapes/exhibits.ttl", shapes)
    project.change_set(f"A {_title('vase')}")
    assert not project.deliver().errors


def test_a_result_that_is_open_stops_nothing(project: Project) -> None:
    project.change_set(f"A {_title('coin')}")
    assert project.deliver().errors
    assert not project.deliver(("p",)).errors
    project.change_set('A <http://x/coin> <http://x/title> "old coin" .')
    assert not project.deliver().errors


def test_the_first_delivery_passes_the_door_too(tmp_path: Path) -> None:
    project = Project(tmp_path).declare(PATCHES)
    project.write("shapes/exhibits.ttl", _SHAPES)
    project.change_set(f"A {_title('vase')}")
    assert project.deliver().errors


def test_sources_that_the_door_does_not_name_pass(project: Project) -> None:
    project.declare(PATCHES, {**SNAPSHOTS, "graph": "http://x/s"})
    project.write("versions/1.nt", _title("coin"))
    assert not project.deliver().errors


def test_a_report_that_is_behind_is_brought_up_to_date_first(project: Project) -> None:
    project.change_set(f"A {_title('coin')}", f"A {_room('coin')}")
    assert not project.deliver().errors
    project.change_set(f"D {_room('coin')}")
    assert project.deliver().errors


def test_results_below_the_severity_of_the_door_pass(project: Project) -> None:
    warning = _SHAPES.replace("sh:minCount 1 ;", "sh:minCount 1 ; sh:severity sh:Warning ;")
    project.write("shapes/exhibits.ttl", warning)
    project.change_set(f"A {_title('coin')}")
    assert not project.deliver().errors


@pytest.mark.spark
def test_the_door_is_asked_where_spark_alone_computes(
    project: Project, spark: SparkSession
) -> None:
    project.configure(driver_rows=0, broadcast_rows=1)
    project.change_set(f"A {_title('coin')}", f"A {_room('coin')}")
    project.change_set(f"D {_room('vase')}")
    result = project.deliver(spark=lambda: spark)
    assert result.to_epoch == 2
    assert "0003.rdfp opens 1 result" in result.errors[0].what


def test_nothing_passes_a_door_whose_file_has_an_error(project: Project) -> None:
    project.write("shapes/exhibits.ttl", _SHAPES.replace("sh:minCount 1", 'sh:minCount "one"'))
    project.change_set(f"A {_title('coin')}")
    epochs = len(project.table("transactions"))
    with pytest.raises(ConfigurationError, match=r"exhibits\.ttl:\d+"):
        project.deliver()
    assert len(project.table("transactions")) == epochs


def test_a_file_with_an_error_and_without_a_door_stops_nothing(project: Project) -> None:
    project.write("shapes/others.ttl", "no Turtle")
    project.change_set(f"A {_title('coin')}", f"A {_room('coin')}")
    assert not project.deliver().errors


def test_a_door_of_a_source_that_there_is_not_is_a_mistake(project: Project) -> None:
    project.write("shapes/exhibits.ttl", _SHAPES.replace("[p]", "[q]"))
    with pytest.raises(ConfigurationError, match="there is no source q"):
        project.deliver()
