"""A project with a graph, a stream of readings, and a query that joins them."""

from __future__ import annotations

from pathlib import Path

from tests.support.projects.project import PATCHES, Project
from tests.support.streams.projects import READINGS, readings

SENSORS = READINGS | {"glob": "*.nt"}
ROOMS = PATCHES | {"name": "rooms"}
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


def sensors(folder: Path, **limits: int) -> Project:
    """A graph that says where sensors are, and a stream of their readings."""
    project = Project(folder).declare(ROOMS, SENSORS, **limits)
    project.folders("events")
    project.query("hot", HOT)
    place = "A <http://example.org/{}> <http://example.org/in> <http://example.org/{}>"
    project.change_set(place.format("s1", "kitchen"), place.format("s2", "hall"))
    return project


def arrive(project: Project, *numbers: int) -> None:
    """Put some of the files into the folder of the stream."""
    for number in numbers:
        project.write(f"events/{number}.nt", FILES[number])
