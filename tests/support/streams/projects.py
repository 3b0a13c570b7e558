"""Projects with a stream of readings, run through all stages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.projects.project import Project
from tests.support.streams.memory import StreamRow

START = datetime(2026, 1, 1, tzinfo=UTC)
"""A multiple of the steps that tests use, so that closes are where they are without `t0`."""
SECOND = 1_000_000
_RESULT_TIME = "http://www.w3.org/ns/sosa/resultTime"
STREAM: dict[str, Any] = {"time": {"predicate": _RESULT_TIME}, "lateness": "PT1H"}
READINGS: dict[str, Any] = {
    "name": "readings",
    "kind": "snapshots",
    "location": "events",
    "stream": STREAM,
}
SEEN = """PREFIX ex: <http://example.org/>
REGISTER STREAM seen AS CONSTRUCT RSTREAM { ?sensor ex:seen true }
FROM NAMED WINDOW ex:w ON readings [RANGE PT10S STEP PT10S]
WHERE { WINDOW ex:w { ?reading ex:of ?sensor } }
"""
"""A query with a stream out of it: the sensors that were read in the last ten seconds."""
OFTEN = """PREFIX ex: <http://example.org/>
SELECT ?sensor FROM NAMED WINDOW ex:v ON seen [RANGE PT30S STEP PT10S]
WHERE { WINDOW ex:v { ?sensor ex:seen true } }
"""
"""A query over that stream."""


def event_project(folder: Path, query: str, **limits: int) -> Project:
    """A project with the stream `readings` of the folder `events`, and the query `q`."""
    project = Project(folder).declare(READINGS, **limits)
    project.folders("events")
    project.query("q", query)
    return project


def readings(*sensors: tuple[str, int], blank: bool = False) -> str:
    """Readings of sensors, at seconds after the start, as Turtle."""
    lines = []
    for number, (sensor, second) in enumerate(sensors):
        time = (START + timedelta(seconds=second)).isoformat()
        reading = f"_:b{number}" if blank else f"<http://example.org/{sensor}/{second}>"
        lines += [
            f"{reading} <http://example.org/of> <http://example.org/{sensor}> .",
            f'{reading} <{_RESULT_TIME}> "{time}"^^<http://www.w3.org/2001/XMLSchema#dateTime> .',
        ]
    return "\n".join(lines) + "\n"


def answer_log(project: Project, query: str) -> list[StreamRow]:
    """The published log of a query, sorted; instants are microseconds after the start."""
    log = []
    for row in project.table(f"answers/{query}"):
        epoch, weight, time = (row.pop(name) for name in ("epoch", "weight", "event_time"))
        instant = (time - START) // timedelta(microseconds=1)
        log.append((epoch, instant, weight, tuple(row.values())))
    return sorted(log, key=repr)


def local(term: str | None) -> str:
    """The last part of an IRI."""
    assert term is not None
    return term.rpartition("/")[2].removesuffix(">")
