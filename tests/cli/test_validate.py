"""`weir validate`: the report of shapes over files, with the exit codes of other validators."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest

from tests.support.projects.command_line import Weir
from tests.support.shacl.results import Graph, results_of_report

_SHAPES = """\
@prefix : <http://x/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
:Exhibit a sh:NodeShape ; sh:targetSubjectsOf :title ;
  sh:property [ sh:path :room ; sh:minCount 1 ; sh:message "where is it?" ] .
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with shapes, and data in two files: alone, the first has an exhibit without room."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shapes.ttl").write_text(_SHAPES)
    (tmp_path / "titles.ttl").write_text('<http://x/vase> <http://x/title> "vase" .')
    (tmp_path / "rooms.nt").write_text('<http://x/vase> <http://x/room> "1" .\n')
    return tmp_path


@pytest.mark.usefixtures("files")
def test_data_that_conforms_ends_with_0(weir: Weir) -> None:
    called = weir("validate", "-s", "shapes.ttl", "-d", "titles.ttl", "-d", "rooms.nt")
    assert (called.code, called.out) == (0, "Validation Report\nConforms: True\n")


@pytest.mark.usefixtures("files")
def test_a_result_ends_with_1_and_is_shown(weir: Weir) -> None:
    called = weir("validate", "--shapes", "shapes.ttl", "--data", "titles.ttl")
    assert called.code == 1
    assert "Results (1):\nConstraint Violation in MinCountConstraintComponent" in called.out
    assert '    Message: "where is it?"' in called.out


@pytest.mark.usefixtures("files")
def test_a_report_is_rdf_if_that_is_wanted(weir: Weir) -> None:
    called = weir("validate", "-s", "shapes.ttl", "-d", "titles.ttl", "--format", "nt")
    quads = ox.parse(called.out.encode(), ox.RdfFormat.N_TRIPLES)
    results = results_of_report(
        Graph(quad.triple for quad in quads), ox.NamedNode("urn:weir:report")
    )
    assert [result.focus_node for result in results] == ["<http://x/vase>"]


@pytest.mark.parametrize("wrong", ["shapes.ttl", "titles.ttl"])
def test_what_cannot_be_read_ends_with_another_code(weir: Weir, files: Path, wrong: str) -> None:
    (files / wrong).write_text("<")
    called = weir("validate", "-s", "shapes.ttl", "-d", "titles.ttl")
    assert called.code == 2
    assert f"where: {wrong}" in called.err


def test_a_line_that_cannot_be_read_is_named(weir: Weir, files: Path) -> None:
    (files / "rooms.nt").write_text("<http://x/a> <http://x/b> <http://x/c> .\nnonsense\n")
    called = weir("validate", "-s", "shapes.ttl", "-d", "rooms.nt")
    assert called.code == 2
    assert "where: rooms.nt:2" in called.err


@pytest.mark.parametrize(("named", "what"), [("nothing.ttl", "no such file"), (".", "a folder")])
@pytest.mark.usefixtures("files")
def test_what_is_no_file_is_named(weir: Weir, named: str, what: str) -> None:
    called = weir("validate", "-s", "shapes.ttl", "-d", named)
    assert called.code == 2
    assert what in called.err


@pytest.mark.usefixtures("files")
def test_nothing_is_left_in_the_folder(weir: Weir, files: Path) -> None:
    before = {*files.iterdir()}
    weir("validate", "-s", "shapes.ttl", "-d", "titles.ttl")
    assert {*files.iterdir()} == before
