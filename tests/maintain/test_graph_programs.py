"""A program that gives a graph, in a lake: with readers, edits, deaths and audits."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from tests.support.built import AsBuilt
from tests.support.dying import dies_at
from tests.support.projects.project import PATCHES, Change, Project
from weir.audit.stage import examined
from weir.lake.tables import DERIVED
from weir.project import Project as Opened
from weir.rules import held_atoms
from weir.stage import silent

REACH = """%+ graph: urn:d:reach
%+ prefixes: {"": "urn:"}
reach(X,Y) <- p(X,Y).
reach(X,Z) <- reach(X,Y), p(Y,Z).
"""
READER = "#+ reads: [reach]\nSELECT ?x WHERE { ?x <urn:reach> ?x ; a <urn:Part> }"


def step(one: str, other: str) -> str:
    return f"<urn:{one}> <urn:p> <urn:{other}>"


def begun(folder: Path) -> Project:
    project = Project(folder).declare(PATCHES)
    project.program("reach", REACH)
    project.query("loops", READER)
    lines = [f"A {step(*pair)}" for pair in ("ab", "bc", "ca", "de", "ef")]
    project.change(*lines, "A <urn:a> a <urn:Part>".replace(" a ", f" {TYPE} "))
    project.run()
    return project


@pytest.fixture
def project(as_built: AsBuilt) -> Project:
    """A cycle, a path, and a reader of what is on a cycle and is a part."""
    return as_built(begun)


TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def test_readers_have_what_rules_derive_in_the_same_run(project: Project) -> None:
    assert project.answer("loops") == {(("x", "<urn:a>"),): 1}
    project.change("D " + step("b", "c"))
    assert project.run().modes == {"reach": "incremental", "loops": "incremental"}
    assert project.answer("loops") == {}
    ends = [
        (weight, dict(row)["subject"])
        for epoch, weight, row in project.signed("reach")
        if epoch == 2
    ]
    assert len(ends) == 6


_OVER_LINKS = """%+ graph: urn:d:reach
%+ reads: [links]
%+ prefixes: {"": "urn:"}
reach(X,Y) <- link(X,Y).
reach(X,Z) <- reach(X,Y), p(Y,Z).
"""
_LINKS = "#+ graph: urn:d:links\nCONSTRUCT { ?x <urn:link> ?y } WHERE { ?x <urn:p> ?y }"


def _log_of_changes(project: Project, least: float) -> list[Change]:
    """The log of reach; atoms are looked up in a state of at least so many."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(held_atoms, "LEAST", least)
        patched.setattr(held_atoms, "FEW", 0)
        project.query("links", _LINKS)
        project.program("reach", _OVER_LINKS)
        project.change(*(f"A {step(*pair)}" for pair in ("ab", "bc", "ca", "de", "ef")))
        project.run()
        for change in ("D " + step("b", "c"), "A " + step("c", "d"), "A " + step("b", "c")):
            project.change(change)
            assert project.run().modes["reach"] == "incremental"
    return project.signed("reach")


@pytest.fixture(scope="module")
def read_whole(tmp_path_factory: pytest.TempPathFactory) -> list[Change]:
    """The log of reach where nothing is looked up."""
    project = Project(tmp_path_factory.mktemp("whole")).declare(PATCHES)
    return _log_of_changes(project, inf)


@pytest.mark.parametrize("index", ["off", "on"])
def test_what_is_looked_up_gives_what_is_read_whole(
    tmp_path: Path,
    read_whole: list[Change],
    monkeypatch: pytest.MonkeyPatch,
    index: str,
) -> None:
    """By an index or by scans, over a graph that is a merge."""
    monkeypatch.setenv("WEIR_INDEX", index)
    project = Project(tmp_path).declare(PATCHES)
    assert _log_of_changes(project, 0) == read_whole
    made = {file.parent.name for file in tmp_path.rglob("index.json")}
    assert ("v0" in made) == (index == "on")


def test_an_edited_program_recomputes_its_readers(project: Project) -> None:
    project.program("reach", REACH.replace("reach(X,Z) <-", "reach(Z,X) <-"))
    assert project.run().modes == {"reach": "edited", "loops": "rebased"}


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("moment", ["after:embeddings/reach", "after:derived/reach"])
def test_a_run_that_dies_is_completed_by_the_next(
    project: Project, tmp_path: Path, moment: str
) -> None:
    project.change("D " + step("b", "c"))
    project.change("A " + step("c", "d"))
    whole = project.copy(tmp_path / "whole")
    whole.run()
    with dies_at(f"maintain:{moment}"):
        project.maintain()
    project.run()
    assert project.rows(DERIVED.name("reach")) == whole.rows(DERIVED.name("reach"))
    assert project.signed("loops") == whole.signed("loops")


def test_an_audit_derives_the_answer_again(project: Project) -> None:
    project.change("D " + step("b", "c"))
    project.run()
    with Opened(project.settings) as opened:
        assert not examined(opened, "audit", silent, full=True).failed


_SHAPES = """#+ entailment: owl-rl
@prefix sh: <http://www.w3.org/ns/shacl#> .
<urn:S> a sh:NodeShape ; sh:targetClass <urn:Asset> ;
  sh:property [ sh:path <urn:site> ; sh:minCount 1 ] .
"""
_SUBCLASS = "<urn:Pump> <http://www.w3.org/2002/07/owl#equivalentClass> <urn:Asset>"


def test_queries_and_shapes_are_over_what_follows_by_owl_2_rl(tmp_path: Path) -> None:
    """Computed once for both; a deleted statement of the schema takes back what followed by it."""
    project = Project(tmp_path).declare(PATCHES)
    project.program("owl", "%+ rules: owl-rl\n%+ graph: urn:d:owl\n")
    project.query("assets", "#+ entailment: owl-rl\nSELECT ?x { ?x a <urn:Asset> }")
    project.write("shapes/sites.ttl", _SHAPES)
    project.change(f"A <urn:p1> {TYPE} <urn:Pump>", f"A {_SUBCLASS}")
    project.run()
    assert project.answer("assets") == {(("x", "<urn:p1>"),): 1}
    assert len(project.answer("sites")) == 1
    project.change(f"D {_SUBCLASS}")
    assert {*project.run().modes.values()} == {"incremental"}
    assert project.answer("assets") == {}
    assert project.answer("sites") == {}


def test_the_own_rules_of_a_file_are_added_to_a_rule_set(tmp_path: Path) -> None:
    project = Project(tmp_path).declare(PATCHES)
    own = "d(X,near,Y) <- d(X,p,Z), d(Y,p,Z), X != Y.\n"
    head = '%+ rules: rdfs\n%+ graph: urn:d:near\n%+ prefixes: {"": "urn:"}\n'
    project.program("near", head + own)
    project.query("pairs", "#+ entailment: near\nSELECT * { ?x <urn:near> ?y }")
    project.change("A " + step("a", "c"), "A " + step("b", "c"))
    project.run()
    assert len(project.answer("pairs")) == 2
