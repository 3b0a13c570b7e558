"""Doors of shapes that read derived graphs: what these would have is computed first."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import pytest
from pyspark.sql import SparkSession

from tests.support.opened import opened
from tests.support.projects.project import PATCHES, SNAPSHOTS, Project
from weir.definitions.graph_program import GraphProgramBody
from weir.definitions.plan_body import PlanBody
from weir.door import guarded
from weir.ingest.stage import ingest_changes
from weir.lake.tables import DERIVED
from weir.maintain.stage import maintain_queries
from weir.rules import held_atoms

_SHAPES = """\
#+ door: {sources: [p]}
#+ reads: [parts]
@prefix : <http://x/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
:Machine a sh:NodeShape ; sh:targetSubjectsOf :runs ;
  sh:property [ sh:path :part ; sh:maxCount 2 ; sh:message "too many parts" ] .
"""
_LINKS = """\
#+ graph: http://x/links
CONSTRUCT { ?x <http://x/link> ?y } WHERE { ?x <http://x/has> ?y }
"""
_PARTS = """\
%+ graph: http://x/parts
%+ reads: [links]
%+ prefixes: {"": "http://x/"}
part(X,Y) <- link(X,Y).
part(X,Z) <- part(X,Y), link(Y,Z).
"""


def _has(one: str, other: str) -> str:
    return f"<http://x/{one}> <http://x/has> <http://x/{other}> ."


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A machine that may have two parts, and has one, by a program over a query."""
    project = Project(tmp_path_factory.mktemp("published")).declare(PATCHES)
    project.write("shapes/machines.ttl", _SHAPES)
    project.query("links", _LINKS)
    project.program("parts", _PARTS)
    project.change_set('A <http://x/m> <http://x/runs> "1" .', f"A {_has('m', 'a')}")
    assert not project.deliver_and_run().errors
    return project


@pytest.fixture
def project(published: Project, tmp_path: Path) -> Project:
    """A copy of it."""
    return published.copy(tmp_path / "project")


def _opened(project: Project) -> Sequence[str]:
    return [dict(row)["focus_node"] for row in project.answer("machines")]


def test_a_change_set_that_opens_a_result_by_what_follows_is_not_taken(project: Project) -> None:
    project.change_set(f"A {_has('a', 'b')}", f"A {_has('b', 'c')}")
    before = project.versions()
    (error,) = project.deliver().errors
    assert "0002.rdfp opens 1 result of machines: <http://x/m> <http://x/part>" in error.what
    assert {**project.versions(), "stopped_sources": 0} == {**before, "stopped_sources": 0}


def test_what_follows_from_a_change_set_does_not_stay_for_the_next_one(project: Project) -> None:
    project.change_set(f"A {_has('a', 'b')}", f"A {_has('b', 'c')}")
    assert project.deliver().errors
    project.patch("changes/0002.rdfp", f"A {_has('b', 'c')}")
    assert not project.deliver().errors


def test_change_sets_of_one_delivery_add_to_what_follows(project: Project) -> None:
    project.change_set(f"A {_has('a', 'b')}")
    project.change_set(f"A {_has('b', 'c')}")
    result = project.deliver()
    assert result.to_epoch == 2
    assert "0003.rdfp opens 1 result" in result.errors[0].what


def test_what_no_longer_follows_makes_room(project: Project) -> None:
    project.change_set(f"A {_has('a', 'b')}")
    project.change_set(f"D {_has('a', 'b')}", f"A {_has('a', 'c')}")
    assert not project.deliver_and_run().errors
    assert not _opened(project)


def test_an_accepted_change_set_is_taken_once(project: Project) -> None:
    project.change_set(f"A {_has('a', 'b')}", f"A {_has('b', 'c')}")
    assert project.deliver().errors
    assert not project.deliver_and_run(("p",)).errors
    assert _opened(project) == ["<http://x/m>"]
    project.change_set('A <http://x/a> <http://x/runs> "1" .', f"A {_has('c', 'd')}")
    assert project.deliver(("p",)).errors


def test_the_first_delivery_passes_the_door_too(tmp_path: Path, project: Project) -> None:
    first = Project(tmp_path / "first").declare(PATCHES)
    for path in ("shapes/machines.ttl", "queries/links.rq", "programs/parts.lars"):
        first.write(path, (project.folder / path).read_text())
    runs = 'A <http://x/m> <http://x/runs> "1" .'
    first.change_set(runs, *(f"A {_has('m', part)}" for part in "ab"))
    first.change_set(f"A {_has('b', 'c')}")
    result = first.deliver()
    assert result.to_epoch == 1
    assert "0002.rdfp opens 1 result" in result.errors[0].what


def test_what_holds_without_any_data_is_not_opened_by_the_first(tmp_path: Path) -> None:
    project = Project(tmp_path).declare(PATCHES)
    project.write("shapes/machines.ttl", _SHAPES.replace("maxCount 2", "maxCount 0"))
    project.query("links", _LINKS)
    without_data = "holds(p,q).\npart(X,Y) <- holds(X,Y).\nruns(X,Y) <- holds(X,Y).\n"
    project.program("parts", f"%+ output: [part, runs]\n{_PARTS}{without_data}")
    project.change_set('A <http://x/m> <http://x/runs> "1" .')
    assert not project.deliver_and_run().errors
    assert _opened(project) == ["<http://x/p>"]


def test_graphs_that_are_behind_are_brought_up_to_date_first(project: Project) -> None:
    project.change_set(f"A {_has('a', 'b')}")
    assert not project.deliver().errors
    project.change_set(f"A {_has('b', 'c')}")
    assert project.deliver().errors


def test_a_graph_that_is_gone_is_written_again_first(project: Project) -> None:
    shutil.rmtree(project.folder / "lake" / DERIVED.name("parts"))
    project.change_set(f"A {_has('a', 'b')}", f"A {_has('b', 'c')}")
    assert project.deliver().errors
    assert len(project.table(DERIVED.name("parts"))) == 1


def test_a_query_that_was_edited_is_computed_again_first(project: Project) -> None:
    project.query("links", _LINKS.replace("?x <http://x/link> ?y", "?x <http://x/link> ?x"))
    project.change_set(f"A {_has('a', 'b')}", f"A {_has('b', 'c')}")
    assert not project.deliver_and_run().errors
    project.query("links", _LINKS)
    project.change_set(f"A {_has('b', 'd')}")
    assert not project.deliver().errors, "a result that was open before it"


def test_what_reads_an_edited_query_is_computed_again_too(project: Project) -> None:
    project.query("links", _LINKS.replace("?x <http://x/link> ?y", "?x <http://x/link> ?x"))
    project.change_set(f"A {_has('a', 'b')}")
    assert not project.deliver_and_run().errors
    project.query("links", _LINKS)
    project.change_set(f"A {_has('b', 'c')}")
    assert project.deliver().errors, "the machine would have three parts"


def _with_a_product(project: Project) -> None:
    """Let the graph that is read be one that exceeds a limit once there are three things."""
    project.configure(product_rows=1)
    product = (
        "CONSTRUCT { ?x <http://x/link> ?z } WHERE { ?x <http://x/has> ?y . ?z <http://x/is> ?w }"
    )
    project.query("links", f"#+ graph: http://x/links\n{product}")


_THREE_THINGS = [f'A <http://x/{name}> <http://x/is> "1" .' for name in "xyz"]


def test_a_graph_that_cannot_be_brought_up_to_date_lets_nothing_in(project: Project) -> None:
    project.query("other", "SELECT nonsense")
    for line in _THREE_THINGS:
        project.change_set(line)
    assert not project.deliver().errors
    _with_a_product(project)
    project.change_set(f"A {_has('a', 'b')}")
    (error,) = project.deliver().errors
    assert "cannot be checked by machines: " in error.what
    assert "links cannot be brought up to date" in error.what
    assert len(project.table("transactions")) == 4


def test_a_change_set_of_which_a_graph_cannot_be_computed_stops_its_source_alone(
    project: Project,
) -> None:
    _with_a_product(project)
    assert not project.deliver_and_run().errors
    project.declare(PATCHES, SNAPSHOTS, product_rows=1)
    project.write("versions/001.ttl", "<http://x/s> <http://x/t> 1 .")
    project.change_set(*_THREE_THINGS, f"A {_has('a', 'b')}")
    (error,) = project.deliver().errors
    assert "cannot be checked by machines: " in error.what
    assert "product_rows = 1" in error.what
    assert sorted(row["source"] for row in project.table("transactions")) == ["p", "s"]


def test_a_query_with_an_error_that_no_door_reads_stops_nothing(project: Project) -> None:
    project.query("other", "SELECT nonsense")
    project.query("links", _LINKS.replace("?y }\n", "?y FILTER(?x != ?y) }\n"))
    project.change_set(f"A {_has('m', 'b')}")
    assert not project.deliver().errors


def test_what_the_door_computed_is_not_computed_again(project: Project) -> None:
    project.change_set(f"A {_has('a', 'b')}")
    again = AssertionError("it is computed again")
    with opened(project.settings) as process:
        assert not guarded(ingest_changes, process, "test").errors
        with (
            mock.patch.object(PlanBody, "delta", side_effect=again),
            mock.patch.object(GraphProgramBody, "delta", side_effect=again),
        ):
            maintain_queries(process, "test")
    assert project.watermark("parts") == project.watermark("machines") == 2
    assert len(project.table(DERIVED.name("parts"))) == 3


@pytest.mark.parametrize("index", ["off", "on"])
def test_what_is_looked_up_has_what_is_not_committed(
    project: Project, monkeypatch: pytest.MonkeyPatch, index: str
) -> None:
    monkeypatch.setenv("WEIR_INDEX", index)
    monkeypatch.setattr(held_atoms, "LEAST", 0)
    monkeypatch.setattr(held_atoms, "FEW", 0)
    project.change_set(f"A {_has('b', 'c')}", f"A {_has('x', 'y')}", f"A {_has('y', 'x')}")
    assert not project.deliver_and_run().errors
    project.change_set(f"A {_has('a', 'b')}")
    assert project.deliver().errors
    project.patch("changes/0003.rdfp", f"A {_has('a', 'd')}", f"D {_has('y', 'x')}")
    assert not project.deliver().errors


@pytest.mark.spark
def test_the_door_is_asked_where_spark_alone_computes(
    project: Project, spark: SparkSession
) -> None:
    project.configure(driver_rows=0, broadcast_rows=1)
    project.change_set(f"A {_has('a', 'b')}")
    project.change_set(f"A {_has('b', 'c')}")
    result = project.deliver(spark=lambda: spark)
    assert result.to_epoch == 2
    assert "0003.rdfp opens 1 result" in result.errors[0].what
