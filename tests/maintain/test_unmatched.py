"""What a new query names and no triple has is said, wherever it looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.project import PATCHES
from tests.support.streams.projects import READINGS, event_project, readings

WINDOW = "FROM NAMED WINDOW :w ON readings [RANGE PT10S STEP PT10S]"
SUM = f"PREFIX : <http://example.org/> SELECT ?s {WINDOW} {{ WINDOW :w {{ ?r :off ?s }} }}"
BESIDE = (
    f"PREFIX : <http://example.org/> SELECT ?s {WINDOW}"
    " { WINDOW :w { ?r :of ?s } OPTIONAL { ?s :rooom ?x } }"
)
RULES = """%+ stream: readings
%+ prefixes: {"": "http://example.org/"}
%+ atoms:
%+   of(R,S): "?R :off ?S"
%+   room(S,X): {graph: "?S :rooom ?X"}
seen(S,X) <- of(R,S), room(S,X).
"""
EX = "http://example.org/"
OF = f"no triple of the stream readings has the predicate <{EX}off> (near: <{EX}of>)"
ROOM = f"no triple has the predicate <{EX}rooom> (near: <{EX}room>)"


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("queries/x.rq", SUM, OF),
        ("queries/x.rq", BESIDE, ROOM),
        ("programs/x.lars", RULES, f"{OF}; {ROOM}"),
    ],
    ids=["window", "graph beside a window", "program"],
)
def test_a_misspelt_predicate_of_what_reads_streams_is_said_once(
    tmp_path: Path, file: str, text: str, said: str
) -> None:
    project = event_project(tmp_path, "SELECT * { ?s ?p ?o }")
    project.declare(PATCHES | {"name": "data"}, READINGS)
    project.change_set(f"A <{EX}s1> <{EX}room> <{EX}r1> .")
    project.write("events/1.ttl", readings(("s1", 1), ("s1", 20)))
    project.write(file, text)
    project.ingest()
    assert _of(project.maintain().warnings) == [f"x: {said}"]
    assert _of(project.maintain().warnings) == []
    project.write(file, text.replace("off", "of").replace("rooom", "room"))
    assert _of(project.maintain().warnings) == []


def test_a_stream_without_events_makes_no_query_suspicious(tmp_path: Path) -> None:
    project = event_project(tmp_path, SUM)
    project.change_set(f"A <{EX}s1> <{EX}room> <{EX}r1> .")
    project.ingest()
    assert _of(project.maintain().warnings) == []


def _of(warnings: object) -> list[str]:
    return [warning for warning in warnings if "has the predicate" in warning]  # type: ignore[attr-defined]
