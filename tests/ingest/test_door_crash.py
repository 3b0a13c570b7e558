"""A delivery through a door that dies at any commit, repeated, leaves what a whole one leaves."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from tests.support.dying import dies_at, passed
from tests.support.projects.project import PATCHES, SNAPSHOTS, Project
from weir.ingest.stopped_sources import stopped_sources
from weir.project import open_lake

_REPORT = "exhibits"
_DOOR = "#+ door: {sources: [p]}\n"
_SHAPES = """\
@prefix : <http://x/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
:Exhibit a sh:NodeShape ; sh:targetSubjectsOf :title ;
  sh:property [ sh:path :room ; sh:minCount 1 ; sh:message "where is it?" ] .
"""
_OPENS = 'D <http://x/vase> <http://x/room> "1" .'
_PLACED = """\
@prefix : <http://x/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
:Exhibit a sh:NodeShape ; sh:targetSubjectsOf :title ;
  sh:property [ sh:path :placed ; sh:minCount 1 ; sh:message "where is it?" ] .
"""
_PLACES = """\
#+ graph: http://x/places
CONSTRUCT { ?x <http://x/in> ?room } WHERE { ?x <http://x/room> ?room }
"""
_RULES = """\
%+ graph: http://x/placed
%+ reads: [places]
%+ prefixes: {"": "http://x/"}
placed(X,Y) <- in(X,Y).
"""
WORLDS = {
    "the graph": {f"shapes/{_REPORT}.ttl": _DOOR + _SHAPES},
    "derived graphs": {
        "queries/places.rq": _PLACES,
        "programs/rules.lars": _RULES,
        f"shapes/{_REPORT}.ttl": f"{_DOOR}#+ reads: [rules]\n{_PLACED}",
    },
}
"""What shapes read, and the files of that."""
_BEHIND = {
    "the graph": (),
    "derived graphs": (
        "maintain:embeddings/places",
        "maintain:derived/places",
        "maintain:embeddings/rules",
        "maintain:derived/rules",
    ),
}
_BEFORE = ("ingest:claim", "maintain:claim")
"""The report is behind, and what it reads."""
_AFTER = (
    "maintain:embeddings/exhibits",
    "maintain:runs",
    "ingest:graphs",
    "ingest:rejected",
    "ingest:source_files",
    "ingest:quads",
    "ingest:triples",
    "ingest:transactions",
    "ingest:stopped_sources",
    "ingest:runs",
)
ACCEPTED = {"let in": (), "refused": (), "accepted": ("p",)}
"""The deliveries that die, and which sources each of them accepts."""
CASES = [
    (world, delivery, f"{job}:{moment}:{table}")
    for world, behind in _BEHIND.items()
    for delivery in ACCEPTED
    for job, table in (name.split(":") for name in (*_BEFORE, *behind, *_AFTER))
    for moment in ("before", "after")
    if delivery != "let in" or table != "stopped_sources"
]
PROJECTS = [*product(WORLDS, ACCEPTED)]


class Projects(dict[tuple[str, str], Project]):
    """By what shapes read, and by delivery: each is made when it is first needed."""

    def __init__(self, make: Callable[[str, str], Project]) -> None:
        self._make = make

    def __missing__(self, case: tuple[str, str]) -> Project:
        self[case] = self._make(*case)
        return self[case]


def _exhibit(name: str) -> tuple[str, str]:
    title, room = (f"A <http://x/{name}> <http://x/{key}>" for key in ("title", "room"))
    return f'{title} "{name}" .', f'{room} "1" .'


def _begun(project: Project, world: str, delivery: str) -> Project:
    """A project whose report is behind, before the delivery."""
    project.declare(PATCHES, {**SNAPSHOTS, "graph": "http://x/s"})
    for path, text in WORLDS[world].items():
        project.write(path, text)
    project.change_set(*_exhibit("vase"))
    project.deliver()
    project.stages("maintain", "validate", "publish")
    if delivery == "accepted":
        project.change_set(_OPENS, "broken")
        project.deliver()
    desk = '<http://x/desk> <http://x/title> "desk" .\n<http://x/shelf> <http://x/room> "1" .\n'
    project.write("versions/1.nt", desk)
    project.deliver()
    project.change_set(*_exhibit("coin"), 'A <http://x/coin> <http://x/x> "" <http://x/g> .', "bad")
    if delivery == "refused":
        project.change_set(_OPENS)
        project.change_set(*_exhibit("mask"))
    return project


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Projects:
    """The projects before each delivery."""
    folder = tmp_path_factory.mktemp("before")
    return Projects(lambda *case: _begun(Project(folder / "-".join(case)), *case))


@pytest.fixture(scope="module")
def unbroken(before: Projects, tmp_path_factory: pytest.TempPathFactory) -> Projects:
    """The projects after each delivery, and after the stages that follow."""
    folder = tmp_path_factory.mktemp("unbroken")

    def made(world: str, delivery: str) -> Project:
        project = before[world, delivery].copy(folder / f"{world}-{delivery}")
        project.deliver(ACCEPTED[delivery])
        project.stages("maintain", "validate", "publish")
        return project

    return Projects(made)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(("world", "delivery", "point"), CASES)
def test_a_delivery_that_dies_and_is_repeated_leaves_the_same_lake_and_report(
    before: Projects,
    unbroken: Projects,
    tmp_path: Path,
    world: str,
    delivery: str,
    point: str,
) -> None:
    project, accept = before[world, delivery].copy(tmp_path / "project"), ACCEPTED[delivery]
    with dies_at(point):
        project.deliver(accept)
    if delivery == "refused":
        vase = [row for row in project.table("quads") if row["subject"] == "<http://x/vase>"]
        assert [row["weight"] for row in vase] == [1, 1], "a change set that opens a result"
    project.deliver(accept)
    project.stages("maintain", "validate", "publish")
    assert _left(project) == _left(unbroken[world, delivery])
    versions = project.versions()
    project.deliver(accept)
    assert project.versions() == versions


@pytest.mark.parametrize("case", PROJECTS)
def test_these_are_all_commits_of_a_delivery(
    before: Projects, tmp_path: Path, case: tuple[str, str]
) -> None:
    project = before[case].copy(tmp_path / "project")
    with passed() as points:
        project.deliver(ACCEPTED[case[1]])
    assert points == [point for *of, point in CASES if tuple(of) == case]


def test_an_acceptance_that_dies_before_its_commit_is_none(
    before: Projects, tmp_path: Path
) -> None:
    project = before["the graph", "accepted"].copy(tmp_path / "project")
    with dies_at("ingest:before:quads"):
        project.deliver(("p",))
    assert project.deliver().errors
    assert project.rows("transactions", "position") == [("0001.rdfp",), ("1.nt",)]


def test_an_acceptance_that_dies_after_its_commit_is_finished_without_a_second_one(
    before: Projects, unbroken: Projects, tmp_path: Path
) -> None:
    project = before["the graph", "accepted"].copy(tmp_path / "project")
    with dies_at("ingest:after:quads"):
        project.deliver(("p",))
    assert not project.deliver().errors
    project.stages("maintain", "validate", "publish")
    assert _left(project) == _left(unbroken["the graph", "accepted"])


def _left(project: Project) -> tuple[object, ...]:
    """What a delivery leaves: the lake, the versions of its epochs, the report, what stopped."""
    epochs = project.rows("transactions", "epoch", "quads_version", "triples_version")
    stopped = [
        (source.source, source.position, source.excess)
        for source in stopped_sources(open_lake(project.settings)).values()
    ]
    return project.contents(), epochs, project.signed(_REPORT), stopped
