"""A log of the graph has an index by epoch, and windows read the graph by instant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.project import PATCHES, Project
from tests.support.streams.memory import StreamRow
from tests.support.streams.projects import READINGS, answer_log, readings

_QUERY = """PREFIX ex: <http://example.org/>
SELECT ?sensor ?name FROM NAMED WINDOW ex:w ON readings [RANGE PT10S STEP PT10S]
WHERE { WINDOW ex:w { ?reading ex:of ?sensor } ?sensor ex:room ?room . ?room ex:name ?name }
"""


def _triple(subject: str, predicate: str, object_: str) -> str:
    return f"<http://example.org/{subject}> <http://example.org/{predicate}> {object_}"


_ROOM = "<http://example.org/room>"
_ONE, _TWO = (_triple("room", "name", name) for name in ('"one"', '"two"'))
_IN_ROOM = tuple(_triple(sensor, "room", _ROOM) for sensor in ("s1", "s2"))
_CHANGES = (
    (*(f"A {triple}" for triple in _IN_ROOM), f"A {_ONE}"),
    (f"D {_ONE}", f"A {_TWO}"),
    (f"D {_IN_ROOM[1]}",),
)
_SECONDS = ((1, 12, 25), (3_700, 3_712, 7_400), (7_500, 7_512, 14_000))


def _log(folder: Path) -> list[StreamRow]:
    """The answer's log of a project in which room and name change between events."""
    project = Project(folder).declare(READINGS, PATCHES)
    project.folders("events")
    project.query("q", _QUERY)
    for number, (lines, (one, two, three)) in enumerate(zip(_CHANGES, _SECONDS, strict=True)):
        project.change_set(*lines)
        project.write(f"events/{number}.ttl", readings(("s1", one), ("s2", two), ("s1", three)))
        project.run()
    return answer_log(project, "q")


def test_windows_see_the_graph_of_their_instants_with_an_index_or_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_INDEX", "off")
    without = _log(tmp_path / "without")
    monkeypatch.setenv("WEIR_INDEX", "on")
    assert _log(tmp_path / "with") == without
    assert {row[1] for *_, row in without} == {'"one"', '"two"'}
