"""A project with a graph, a stream of readings, and a query that joins them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.projects.maintain import MaintainedProject
from tests.support.streams.projects import readings

SENSORS: dict[str, Any] = {
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


FILES = (
    readings(("s1", 1), ("s2", 3), ("s1", 12)),
    readings(("s1", 14), ("s2", 23)),
    # s2 at 7 is late: the window [0, 10) is published.
    readings(("s2", 7), ("s1", 25), ("s1", 31)),
    readings(("s2", 41), ("s2", 55)),
)


def sensors(folder: Path, **limits: int) -> MaintainedProject:
    """A graph that says where sensors are, and a stream of their readings."""
    project = MaintainedProject(folder)
    project.declare(ROOMS, SENSORS, **limits)
    (folder / "queries").mkdir()
    (folder / "events").mkdir()
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


def arrive(project: MaintainedProject, *numbers: int) -> None:
    """Put some of the files into the folder of the stream."""
    for number in numbers:
        project.write(f"events/{number}.nt", FILES[number])
