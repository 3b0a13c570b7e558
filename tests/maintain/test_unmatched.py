"""What a new query names and no triple has is said, wherever it looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.project import PATCHES, Project
from tests.support.streams.projects import READINGS, event_project, readings

WINDOW = "FROM NAMED WINDOW :w ON readings [RANGE PT10S STEP PT10S]"
SUM = f"PREFIX : <http://example.org/> SELECT ?s {WINDOW} {{ WINDOW :w {{ ?r :off ?s }} }}"
BESIDE = (
    f"PREFIX : <http://example.org/> SELECT ?s {WINDOW}"
    " { WINDOW :w { ?r :of ?s } OPTIONAL { ?s :rooom ?x } }"
)
TYPE = f"PREFIX : <http://example.org/> SELECT ?r {WINDOW} {{ WINDOW :w {{ ?r a :Reeding }} }}"
RULES = """%+ stream: readings
%+ prefixes: {"": "http://example.org/"}
%+ atoms:
%+   of(R,S): "?R :off ?S"
%+   room(S,X): {graph: "?S :rooom ?X"}
seen(S,X) <- of(R,S), room(S,X).
"""
EX = "http://example.org/"
OF = f"no triple of the stream readings has the predicate <{EX}off> (near: <{EX}of>)"
KIND = f"nothing of the stream readings has the type <{EX}Reeding> (near: <{EX}Reading>)"
ROOM = f"no triple has the predicate <{EX}rooom> (near: <{EX}room>)"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A stream without events, and a graph."""
    project = event_project(tmp_path, "SELECT * { ?s ?p ?o }")
    project.declare(PATCHES | {"name": "data"}, READINGS)
    project.change_set(f"A <{EX}s1> <{EX}room> <{EX}r1> .")
    return project


@pytest.mark.parametrize("is_before", [True, False], ids=["before its events", "after its events"])
@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("queries/x.rq", SUM, OF),
        ("queries/x.rq", TYPE, KIND),
        ("queries/x.rq", BESIDE, ROOM),
        ("programs/x.lars", RULES, f"{OF}; {ROOM}"),
    ],
    ids=["window", "type in a window", "graph beside a window", "program"],
)
def test_a_misspelt_name_of_what_reads_streams_is_said_once(
    project: Project, file: str, text: str, said: str, is_before: bool
) -> None:
    if is_before:
        project.write(file, text)
        assert _warnings(project) == []
    project.write(
        "events/1.ttl",
        readings(("s1", 1), ("s1", 20), ("s1", 9_000)) + f"<{EX}s1/1> a <{EX}Reading> .\n",
    )
    project.write(file, text)
    assert _warnings(project) == [f"x: {said}"]
    assert _warnings(project) == []
    correct = text.replace("off", "of").replace("rooom", "room").replace("Reeding", "Reading")
    project.write(file, correct)
    assert _warnings(project) == []


def test_two_windows_are_looked_at_one_by_one(project: Project) -> None:
    other = WINDOW.replace(":w", ":v")
    text = (
        f"PREFIX : <{EX}> SELECT ?s {WINDOW} {other}"
        " { WINDOW :w { ?r :of ?s } WINDOW :v { ?r :off ?s } }"
    )
    project.write("queries/x.rq", text)
    project.write("events/1.ttl", readings(("s1", 1), ("s1", 9_000)))
    assert _warnings(project) == [f"x: {OF}"]


def _warnings(project: Project) -> list[str]:
    project.ingest()
    return [warning for warning in project.maintain().warnings if " has the " in warning]
