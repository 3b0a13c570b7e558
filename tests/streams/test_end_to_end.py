"""Streams through all stages: events to windows, to answers with corrections."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.projects.ingest import no_spark
from tests.support.projects.maintain import MaintainedProject
from tests.support.stages import STAGES

START = datetime(2026, 1, 1, tzinfo=UTC)
SENSORS = {
    "name": "readings",
    "kind": "snapshots",
    "location": "events",
    "glob": "*.nt",
    "stream": {"time": {"predicate": "http://www.w3.org/ns/sosa/resultTime"}, "lateness": "PT1H"},
}
ROOMS = {"name": "rooms", "kind": "patches", "location": "changes"}
HOT = """PREFIX ex: <http://example.org/>
SELECT ?room (COUNT(*) AS ?n)
FROM NAMED WINDOW ex:w ON readings [RANGE PT10S STEP PT10S]
WHERE { WINDOW ex:w { ?reading ex:of ?sensor } ?sensor ex:in ?room }
GROUP BY ?room
"""


def events(*readings: tuple[str, int]) -> str:
    """Readings of sensors, at seconds after the start."""
    lines = []
    for sensor, second in readings:
        time = (START + timedelta(seconds=second)).isoformat()
        reading = f"<http://example.org/{sensor}/{second}>"
        lines += [
            f"{reading} <http://example.org/of> <http://example.org/{sensor}> .",
            f"{reading} <http://www.w3.org/ns/sosa/resultTime>"
            f' "{time}"^^<http://www.w3.org/2001/XMLSchema#dateTime> .',
        ]
    return "\n".join(lines) + "\n"


FILES = (
    events(("s1", 1), ("s2", 3), ("s1", 12)),
    events(("s1", 14), ("s2", 23)),
    # s2 at 7 is late: the window [0, 10) is published.
    events(("s2", 7), ("s1", 25), ("s1", 31)),
    events(("s2", 41), ("s2", 55)),
)
COUNTS = {
    # second of the close: by room, with everything known
    10: {"kitchen": 1, "hall": 2},
    20: {"kitchen": 2},
    30: {"kitchen": 1, "hall": 1},
    40: {"kitchen": 1},
    50: {"hall": 1},
}


@pytest.fixture
def project(tmp_path: Path) -> MaintainedProject:
    """A graph that says where sensors are, and a stream of their readings."""
    project = MaintainedProject(tmp_path)
    project.declare(ROOMS, SENSORS)
    (tmp_path / "queries").mkdir()
    (tmp_path / "events").mkdir()
    project.query("hot", HOT)
    rooms = (("s1", "kitchen"), ("s2", "hall"))
    project.patch(
        "changes/0001.rdfp",
        *(
            f"A <http://example.org/{s}> <http://example.org/in> <http://example.org/{room}> ."
            for s, room in rooms
        ),
    )
    return project


def run(project: MaintainedProject) -> None:
    for stage in STAGES.values():
        stage(no_spark, project.settings, "test")


def answer_log(project: MaintainedProject) -> list[tuple[Any, ...]]:
    return project.rows("answers/hot", "epoch", "event_time", "weight", "room", "n")


def state(log: list[tuple[Any, ...]], second: int) -> dict[str, int]:
    found: Counter[tuple[str, str]] = Counter()
    for _, time, weight, room, count in log:
        if time <= START + timedelta(seconds=second):
            found[room, count] += weight
    return {
        room.rpartition("/")[2].rstrip(">"): int(count.split('"')[1])
        for (room, count), held in found.items()
        if held
    }


def test_windows_are_published_as_the_frontier_passes_their_end(
    project: MaintainedProject,
) -> None:
    for number, text in enumerate(FILES):
        project.write(f"events/{number}.nt", text)
        run(project)
    log = answer_log(project)
    for second, expected in COUNTS.items():
        assert state(log, second) == expected, second


def test_late_events_correct_published_answers_at_a_later_epoch(
    project: MaintainedProject,
) -> None:
    for number, text in enumerate(FILES[:2]):
        project.write(f"events/{number}.nt", text)
        run(project)
    before = answer_log(project)
    assert state(before, 10) == {"kitchen": 1, "hall": 1}
    project.write("events/2.nt", FILES[2])
    run(project)
    after = answer_log(project)
    assert {*before} < {*after}
    assert state(after, 10) == COUNTS[10]
    corrections = [row for row in after if row not in before and row[1].second == 10]
    assert {(row[0], row[2]) for row in corrections} == {(4, -1), (4, 1)}


def test_one_run_gives_the_log_of_many(project: MaintainedProject, tmp_path: Path) -> None:
    at_once = project.copy(tmp_path / "at_once")
    for number, text in enumerate(FILES):
        project.write(f"events/{number}.nt", text)
        at_once.write(f"events/{number}.nt", text)
        run(project)
    run(at_once)
    assert answer_log(at_once) == answer_log(project)
