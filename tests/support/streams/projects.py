"""Projects with a stream of readings, run through all stages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from jobs.compute.session import Spark
from tests.support.projects.ingest import no_spark
from tests.support.projects.maintain import MaintainedProject
from tests.support.stages import STAGES
from tests.support.streams.memory import StreamRow

START = datetime(2026, 1, 1, tzinfo=UTC)
"""A multiple of the steps that tests use, so that closes are where they are without `t0`."""
SECOND = 1_000_000
_RESULT_TIME = "http://www.w3.org/ns/sosa/resultTime"


def event_project(
    folder: Path, query: str, delay: str = "PT0S", limits: Mapping[str, int] | None = None
) -> MaintainedProject:
    """A project with the stream `readings` of the folder `events`, and the query `q`."""
    project = MaintainedProject(folder)
    time = {"predicate": _RESULT_TIME}
    stream = {"time": time, "lateness": "PT1H", "delay": delay}
    source = {"name": "readings", "kind": "snapshots", "location": "events", "stream": stream}
    project.declare(source, **(limits or {}))
    for name in ("events", "queries"):
        (folder / name).mkdir(exist_ok=True)
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


def run(project: MaintainedProject, spark: Spark = no_spark) -> None:
    """Run all stages."""
    for stage in STAGES.values():
        stage(spark, project.settings, "test")


def answer_log(project: MaintainedProject, query: str) -> list[StreamRow]:
    """The published log of a query, sorted; instants are microseconds after the start."""
    rows = project.settings.open_lake().rows(f"answers/{query}")
    names = [n for n in rows.column_names if n not in ("epoch", "event_time", "weight")]
    found = []
    for row in rows.to_pylist():
        instant = (row["event_time"] - START) // timedelta(microseconds=1)
        found.append((row["epoch"], instant, row["weight"], tuple(row[name] for name in names)))
    return sorted(found, key=repr)


def local(term: str | None) -> str:
    """The last part of an IRI."""
    assert term is not None
    return term.rpartition("/")[2].removesuffix(">")
