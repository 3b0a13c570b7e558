"""What a new query names and no triple has is said, wherever it looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.project import PATCHES, Project
from tests.support.streams.projects import READINGS, event_project, readings

EX = "http://example.org/"
WINDOW = "FROM NAMED WINDOW :w ON readings [RANGE PT10S STEP PT10S]"
RULES = """%+ stream: readings
%+ prefixes: {"": "http://example.org/"}
%+ atoms:
%+   of(R,S): "?R :off ?S"
%+   room(S,X): {graph: "?S :rooom ?X"}
seen(S,X) <- of(R,S), room(S,X).
"""
GRAPH = "no triple has the predicate"
STREAM = "no triple of the stream readings has the predicate"
OF = f"{STREAM} <{EX}off> (near: <{EX}of>)"
OUTSIDE = f"{GRAPH} <{EX}of>, but the stream readings has it"
KIND = f"nothing of the stream readings has the type <{EX}Reeding> (near: <{EX}Reading>)"
ROOM = f"{GRAPH} <{EX}rooom> (near: <{EX}room>)"


def select(pattern: str) -> tuple[str, str]:
    """The file of a query, and its text."""
    return "queries/x.rq", f"PREFIX : <{EX}> SELECT ?s {WINDOW} {{ {pattern} }}"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A stream without events, and a graph."""
    project = event_project(tmp_path, "SELECT * { ?s ?p ?o }")
    project.declare(PATCHES | {"name": "data"}, READINGS)
    project.change_set(f"A <{EX}s1> <{EX}room> <{EX}r1> .")
    return project


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("is_before", [True, False], ids=["before its events", "after its events"])
@pytest.mark.parametrize(
    ("file", "said"),
    [
        (select("WINDOW :w { ?r :off ?s }"), OF),
        (select("WINDOW :w { ?s a :Reeding }"), KIND),
        (select("WINDOW :w { ?r :of ?s } OPTIONAL { ?s :rooom ?x }"), ROOM),
        (select("WINDOW :w { ?s :room ?x }"), f"{STREAM} <{EX}room>, but the graph has it"),
        (
            select("WINDOW :w { ?r ?p ?s } ?r :of ?s"),
            f"{GRAPH} <{EX}of>, but the stream readings has it",
        ),
        (("programs/x.lars", RULES), f"{OF}; {ROOM}"),
    ],
    ids=[
        "window",
        "type in a window",
        "graph beside a window",
        "of the graph in a window",
        "of a stream outside of windows",
        "program",
    ],
)
def test_a_misspelt_name_of_what_reads_streams_is_said_once(
    project: Project, file: tuple[str, str], said: str, is_before: bool
) -> None:
    name, text = file
    if is_before:
        project.write(name, text)
        assert _warnings(project) == []
    project.write(
        "events/1.ttl",
        readings(("s1", 1), ("s1", 20), ("s1", 9_000)) + f"<{EX}s1/1> a <{EX}Reading> .\n",
    )
    project.write(name, text)
    assert _warnings(project) == [f"x: {said}"]
    assert _warnings(project) == []
    for wrong, right in (("off", "of"), ("rooom", "room"), ("Reeding", "Reading")):
        text = text.replace(wrong, right)
    text = text.replace("{ ?s :room ?x", "{ ?s ?q ?x").replace("} ?r :of ?s", "} ?r ?q ?s")
    project.write(name, text)
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
