"""Readings of generated sensors as a stream, the same every time, and the graph that says where.

A sensor reads every ten seconds. A reading is three triples: its sensor, its value, its time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2026, 1, 1, tzinfo=UTC)
NAMESPACE = "http://example.org/"
TIME = "http://www.w3.org/ns/sosa/resultTime"
EVERY = 10
"""Seconds between two readings of a sensor."""
SENSORS, ROOMS = 20, 5

_XSD = "http://www.w3.org/2001/XMLSchema#"
_DAY = 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading: seconds after the start, the sensor's number, tenths of a degree."""

    second: int
    sensor: int
    tenths: int

    @property
    def lines(self) -> tuple[str, str, str]:
        """Its triples as N-Triples."""
        subject = f"<{NAMESPACE}reading/{self.sensor}/{self.second}>"
        time = (START + timedelta(seconds=self.second)).strftime("%Y-%m-%dT%H:%M:%SZ")
        return (
            f"{subject} <{NAMESPACE}of> {sensor_iri(self.sensor)} .",
            f'{subject} <{NAMESPACE}value> "{self.tenths / 10}"^^<{_XSD}decimal> .',
            f'{subject} <{TIME}> "{time}"^^<{_XSD}dateTime> .',
        )


def sensor_iri(number: int) -> str:
    """The IRI of a sensor, in N-Triples form."""
    return f"<{NAMESPACE}sensor/{number}>"


def readings(begin: int, end: int, sensors: int = SENSORS) -> Iterator[Reading]:
    """The readings of the seconds [begin, end), a part of the sensors in each second.

    A sensor is silent for a minute of every hour, each for another one.
    """
    for second in range(begin, end):
        for sensor in range(second % EVERY, sensors, EVERY):
            if second // 60 % 60 != sensor * 3 % 60:
                # 15 degrees, and up to 10 more around noon; some noise.
                warmth = 100 - abs(second % _DAY - _DAY // 2) * 100 // (_DAY // 2)
                yield Reading(second, sensor, 150 + warmth + (second * 7 + sensor * 31) % 23)


def write_readings(file: Path, some: Sequence[Reading]) -> None:
    """Write a change set as N-Triples."""
    file.write_text("".join(f"{line}\n" for reading in some for line in reading.lines))


def minutes(folder: Path, begin: int, count: int) -> list[Path]:
    """Write the readings of `count` minutes, a change set each, from the minute `begin` on."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for minute in range(begin, begin + count):
        file = folder / f"{minute:06}.nt"
        write_readings(file, [*readings(minute * 60, (minute + 1) * 60)])
        files.append(file)
    return files


def rooms_patch(sensors: int = SENSORS) -> str:
    """The graph as the one patch of a source: rooms of sensors, floors and limits of rooms."""
    triples = [
        f"{sensor_iri(number)} <{NAMESPACE}in> <{NAMESPACE}room/{number % ROOMS}>"
        for number in range(sensors)
    ]
    for room in range(ROOMS):
        iri = f"<{NAMESPACE}room/{room}>"
        triples.append(f"{iri} <{NAMESPACE}on> <{NAMESPACE}floor/{room % 2}>")
        triples.append(f'{iri} <{NAMESPACE}limit> "{15 + room}.5"^^<{_XSD}decimal>')
    lines = (
        "H id <urn:bench:rooms> .",
        "TX .",
        *(f"A {triple} ." for triple in triples),
        "TC .",
        "",
    )
    return "\n".join(lines)
