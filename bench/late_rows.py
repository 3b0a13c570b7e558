"""A hundred late rows beside a hundred rows on time, in a window of a million events.

The stream has a hundred readings per second, an event each. After a history of somewhat more than
one window, a file of a hundred readings arrives: those on time carry the stream over the next
close, late ones are before a close that is published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

from bench.oracle import Row
from bench.places import Project, patches, project
from bench.prepared import form_of, is_ready, ready
from bench.readings import NAMESPACE, START, TIME, sensor_iri
from bench.results import Rows, Target, Timing
from bench.session import MeasuredRun, measure
from bench.stream_oracle import published_at

FULL_WINDOW = 1_000_000
ROWS = 100
"""Readings of the files that are compared."""
PER_SECOND, STEP = 100, 100
SENSORS = 100
_XSD = "http://www.w3.org/2001/XMLSchema#"
_PARSE_HERE = {"WEIR_LIMITS__DRIVER_PARSE_BYTES": str(10**10)}
"""For the history, which would take Spark longer."""


@dataclass(frozen=True, slots=True)
class Second:
    """The readings of a second after the start: numbers, which say the sensors."""

    second: int
    numbers: Sequence[int]
    name: str = "reading"

    @property
    def lines(self) -> Iterator[str]:
        """N-Quads; the graph of the second has its time."""
        graph = f"<{NAMESPACE}{self.name}/second/{self.second}>"
        time = (START + timedelta(seconds=self.second)).strftime("%Y-%m-%dT%H:%M:%SZ")
        yield f'{graph} <{TIME}> "{time}"^^<{_XSD}dateTime> {graph} .'
        for number in self.numbers:
            reading = f"<{NAMESPACE}{self.name}/{self.second}/{number}>"
            yield f"{reading} <{NAMESPACE}of> {sensor_iri(number % SENSORS)} {graph} ."


def history(seconds: int) -> Iterator[Second]:
    """So many seconds of readings, and one reading at the second after the last."""
    for second in range(seconds):
        yield Second(second, range(PER_SECOND))
    yield Second(seconds, (0,))


def write_seconds(file: Path, some: Iterable[Second]) -> None:
    """Write a change set."""
    with file.open("w") as output:
        for reading in some:
            output.writelines(f"{line}\n" for line in reading.lines)


def counts_query(width: int) -> str:
    """Readings of each sensor in a window of so many seconds."""
    return (
        "PREFIX ex: <http://example.org/>\nSELECT ?sensor (COUNT(*) AS ?n)\n"
        f"FROM NAMED WINDOW ex:w ON readings [RANGE PT{width}S STEP PT{STEP}S]\n"
        "WHERE { WINDOW ex:w { ?reading ex:of ?sensor } }\nGROUP BY ?sensor\n"
    )


def counts(some: Iterable[Second], begin: int, end: int) -> Counter[Row]:
    """The rows of the query over the seconds [begin, end), in the form of `published_at`."""
    readings_by_sensor = Counter(
        number % SENSORS
        for reading in some
        if begin <= reading.second < end
        for number in reading.numbers
    )
    return Counter(
        {
            (f"{n} ({_XSD}integer)", sensor_iri(sensor)): 1
            for sensor, n in readings_by_sensor.items()
        }
    )


@dataclass(frozen=True, slots=True)
class Arriving:
    """A file that arrives after the history, and the last close that it changes."""

    name: str
    seconds: Sequence[Second]
    close: int


@dataclass(slots=True)
class LateRows:
    """The measurements, once `run`.

    Attributes:
        window: events in the window.
        repeats: fresh processes of each.
        folder: where it works.
        progress: receives a line per step.
        measured: the runs by name.
        rows: the counts beside those of the definition.
    """

    window: int
    repeats: int
    folder: Path
    progress: Callable[[str], None]
    measured: dict[str, list[MeasuredRun]] = field(default_factory=dict)
    rows: list[Rows] = field(default_factory=list)

    @property
    def width(self) -> int:
        """Of the window, in seconds."""
        return self.window // PER_SECOND

    @property
    def history(self) -> int:
        """Seconds of readings before those that are compared: until a close."""
        return (self.width + STEP) // STEP * STEP

    @property
    def is_full(self) -> bool:
        """Whether it was run in full size."""
        return self.window == FULL_WINDOW

    def run(self) -> LateRows:
        """Measure all; returns itself."""
        prepared = self._prepared()
        for arriving in self._arriving():
            for number in range(self.repeats):
                self.progress(f"{arriving.name}, {number + 1} of {self.repeats}")
                made = self._copy(prepared, arriving)
                run = measure([made]).runs[0]
                self.measured.setdefault(arriving.name, []).append(run)
            self.rows.append(self._compared(made, arriving))
        return self

    def _arriving(self) -> Iterator[Arriving]:
        """A reading in each of as many seconds."""
        end = self.history
        on_time = [Second(end + 1 + i, (i,), "new") for i in range(ROWS)]
        yield Arriving("on time", on_time, end + STEP)
        for steps in (1, 10):
            spread = range(end - steps * STEP, end, steps * STEP // ROWS)
            late = [Second(second, (i,), "late") for i, second in enumerate(spread)]
            yield Arriving(f"late by up to {steps * STEP} s", late, end)

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """Lines of the summary."""
        lines: list[tuple[str, ...]] = []
        for name, runs in self.measured.items():
            whole = median(run.seconds["", "in all"] for run in runs)
            maintain = median(run.seconds["", "maintain"] for run in runs)
            cpu = median(run.cpu for run in runs)
            what = (f"{ROWS} readings {name}", f"a window of {self.window:,} events")
            lines.append((*what, f"{whole:.2f}", f"{maintain:.2f}", f"{cpu:.2f}", ""))
        return lines

    @property
    def timings(self) -> list[Timing]:
        """The whole runs and their stage maintain."""
        timings = []
        for name, runs in self.measured.items():
            title = f"{ROWS} rows {name}"
            timings += [
                Timing(title, "cold", tuple(run.seconds["", "in all"] for run in runs)),
                Timing(
                    "  maintain",
                    "cold",
                    tuple(run.seconds["", "maintain"] for run in runs),
                    title,
                ),
            ]
        return timings

    def targets(self, aim: float) -> list[Target]:
        """The correction relative to the batch on time."""
        on_time, late = (self.measured[name] for name in ("on time", f"late by up to {STEP} s"))
        whole, maintain, cpu = (
            median(map(of, late)) / median(map(of, on_time))
            for of in (
                lambda run: run.seconds["", "in all"],
                lambda run: run.seconds["", "maintain"],
                lambda run: run.cpu,
            )
        )
        return [
            Target(
                f"{ROWS} late rows / {ROWS} rows on time, window of {self.window:,} events",
                f"<= {aim:g}",
                f"{whole:.2f} (maintain {maintain:.2f}, processor {cpu:.2f})",
                whole <= aim,
            )
        ]

    @property
    def _arrived(self) -> Path:
        return self.folder / "arrived"

    @property
    def _source(self) -> Mapping[str, Any]:
        return {
            "name": "readings",
            "kind": "snapshots",
            "location": str(self._arrived),
            "stream": {"time": {"graph": TIME}, "lateness": "PT1H"},
        }

    def _prepared(self) -> Project:
        """A lake after the history."""
        queries = patches(self.folder / "queries", [])
        (queries / "counts.rq").write_text(counts_query(self.width))
        made = Project(self.folder / f"prepared{self.window}")
        form = form_of(queries, f"{self.history} seconds", str(START))
        if not is_ready(made, form):
            self.progress(f"preparing a window of {self.window:,} events")
            patches(self._arrived, [])
            write_seconds(self._arrived / "000.nq", history(self.history))
            made = project(made.folder, queries, self._source)
            measure([made], settings=_PARSE_HERE)
            ready(made, form)
        return made

    def _copy(self, prepared: Project, arriving: Arriving) -> Project:
        patches(self._arrived, [])
        write_seconds(self._arrived / "001.nq", arriving.seconds)
        folder, queries = self.folder / "copy", self.folder / "queries"
        return project(folder, queries, self._source, lake=prepared.lake)

    def _compared(self, made: Project, arriving: Arriving) -> Rows:
        close = arriving.close
        every = (*history(self.history), *arriving.seconds)
        expected = counts(every, close - self.width, close)
        published = published_at(made.lake, "counts", int(START.timestamp()) + close)
        differing = ((expected - published) + (published - expected)).total()
        name = f"readings by sensor, {arriving.name}"
        return Rows(name, published.total(), oxigraph=expected.total(), differing=differing)
