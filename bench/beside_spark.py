"""One plain window query by Weir and by Spark Structured Streaming, over the same Delta table."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from bench.oracle import Row
from bench.places import ROOT, WORK, Project, patches, project
from bench.processes import RunFailed
from bench.readings import EVERY, NAMESPACE, SENSORS, START, readings, sensor_iri
from bench.results import Rows, Scenario, Timing, machine
from bench.session import measure
from bench.stream_oracle import published_at

MINUTES, NEW_MINUTES = 1_280, 20
WARM_RUNS = 4
WIDTH = 600
FULL_REPEATS = 3
_OF, _VALUE = f"<{NAMESPACE}of>", f"<{NAMESPACE}value>"
_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
_DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"
_QUERY = f"""PREFIX ex: <http://example.org/>
SELECT ?sensor (COUNT(*) AS ?n)
FROM NAMED WINDOW ex:w ON readings [RANGE PT{WIDTH}S STEP PT{WIDTH}S]
WHERE {{ WINDOW ex:w {{ ?reading ex:of ?sensor }} }}
GROUP BY ?sensor
"""


def table_rows(begin: int, end: int) -> pa.Table:
    """The readings of the seconds [begin, end) as triples with their time in microseconds."""
    start = int(START.timestamp())
    rows = []
    for reading in readings(begin, end):
        subject = f"<{NAMESPACE}reading/{reading.sensor}/{reading.second}>"
        time_ = (start + reading.second) * 1_000_000
        value = f'"{reading.tenths / 10}"^^<{_DECIMAL}>'
        rows += [
            {"subject": subject, "predicate": p, "object": o, "time": time_}
            for p, o in ((_OF, sensor_iri(reading.sensor)), (_VALUE, value))
        ]
    return pa.Table.from_pylist(rows)


@dataclass(slots=True)
class BesideSpark:
    """The scenario.

    Args:
        repeats: fresh processes of each side.
        progress: receives a line per step.
        minutes: of readings in the history.
    """

    repeats: int
    progress: Callable[[str], None]
    minutes: int = MINUTES

    @property
    def folder(self) -> Path:
        """Where it works."""
        return WORK / "streams_spark"

    @property
    def table(self) -> Path:
        """The Delta table of readings."""
        return self.folder / "readings"

    @property
    def log(self) -> Path:
        """Its commits; those that arrive later wait beside it."""
        return self.table / "_delta_log"

    @property
    def later(self) -> list[Path]:
        """The commits that arrive later, in order."""
        return sorted((self.folder / "later").iterdir())

    def run(self) -> Scenario:
        """Both sides take in the history, then a commit in a fresh process and more of them."""
        patches(self.folder, [])
        self._write_table()
        self.progress("the history, by Weir and by Spark Structured Streaming")
        prepared = self._project("prepared")
        first = measure([prepared]).runs[0].seconds["", "in all"]
        state = self.folder / "prepared_spark"
        first_spark = self._spark([state])[0]
        cold: dict[str, list[float]] = {"Weir": [], "Weir, maintain": [], "Spark": []}
        warm: dict[str, list[float]] = {"Weir": [], "Weir, maintain": [], "Spark": []}
        arrivals = [(file, self.log) for file in self.later]
        for number in range(self.repeats):
            self.progress(f"{1 + WARM_RUNS} commits each, {number + 1} of {self.repeats}")
            self._rewind()
            made = self._project("copy", prepared)
            runs = measure([made] * len(arrivals), arrivals=arrivals).runs
            for name, what in (("Weir", "in all"), ("Weir, maintain", "maintain")):
                seconds = [run.seconds["", what] for run in runs]
                cold[name].append(seconds[0])
                warm[name] += seconds[1:]
            self._rewind()
            output = self.folder / "copy_spark"
            shutil.rmtree(output, ignore_errors=True)
            shutil.copytree(state, output)
            seconds = self._spark([output] * len(arrivals), arrivals)
            cold["Spark"].append(seconds[0])
            warm["Spark"] += seconds[1:]
        rows = self._compared(made, output)
        per_minute = SENSORS * 60 // EVERY
        head = ("side", "the history, s", "cold, s", "warm, s")
        lines = [
            (name, began, f"{median(cold[key]):.2f}", f"{median(warm[key]):.2f}")
            for name, began, key in (
                ("Weir, all stages", f"{first:.1f}", "Weir"),
                ("Weir, of that maintain", "", "Weir, maintain"),
                ("Spark Structured Streaming", f"{first_spark:.1f}", "Spark"),
            )
        ]
        return Scenario(
            name="streams_spark",
            title="readings per sensor in ten minutes, by Weir and by Spark Structured Streaming",
            sizes={
                "readings": self.minutes * per_minute,
                "readings per commit": NEW_MINUTES * per_minute,
                "commits": len(arrivals),
                "repeats": self.repeats,
            },
            full=self.minutes == MINUTES and self.repeats >= FULL_REPEATS,
            timings=[
                *(Timing(name, "cold", tuple(seconds)) for name, seconds in cold.items()),
                *(Timing(name, "warm", tuple(seconds)) for name, seconds in warm.items()),
            ],
            rows=[rows],
            notes=[
                "Both read the same Delta table from where they stopped, and append to a Delta"
                " table. Weir ingests, maintains, validates and publishes; Spark aggregates, with"
                " an available-now trigger and two shuffle partitions, and drops late rows.",
                "Cold: a fresh process takes in one commit. Warm: the same session takes in the"
                " commits after it, one a run.",
            ],
            machine=machine(),
            summary=[head, *lines],
        )

    def _write_table(self) -> None:
        """The history as one commit, and the later commits."""
        configuration = {"delta.enableChangeDataFeed": "true"}
        bounds = [0, self.minutes]
        bounds += [self.minutes + NEW_MINUTES * i for i in range(1, 2 + WARM_RUNS)]
        for begin, end in pairwise(bounds):
            rows = table_rows(begin * 60, end * 60)
            write_deltalake(str(self.table), rows, mode="append", configuration=configuration)
        (self.folder / "later").mkdir()
        for file in sorted(self.log.glob("*.json"))[1:]:
            file.rename(self.folder / "later" / file.name)

    def _rewind(self) -> None:
        for file in self.later:
            (self.log / file.name).unlink(missing_ok=True)

    def _project(self, name: str, start: Project | None = None) -> Project:
        queries = patches(self.folder / "queries", [])
        (queries / "counts.rq").write_text(_QUERY)
        source: Mapping[str, Any] = {
            "name": "readings",
            "kind": "delta",
            "location": str(self.table),
            "columns": {"time": "time"},
            "starting_version": 0,
            "stream": {"time": "column"},
        }
        lake = None if start is None else start.lake
        return project(self.folder / name, queries, source, lake=lake)

    def _spark(
        self, outputs: list[Path], arrivals: list[tuple[Path, Path]] | None = None
    ) -> list[float]:
        """Seconds of each run of a fresh process."""
        job, result = self.folder / "job.json", self.folder / "result.json"
        job.write_text(
            json.dumps(
                {
                    "outputs": [str(output) for output in outputs],
                    "arrivals": [[str(file), str(to)] for file, to in arrivals or ()],
                    "table": str(self.table),
                    "predicate": _OF,
                    "width": WIDTH,
                    "result": str(result),
                }
            )
        )
        done = subprocess.run(
            [sys.executable, "-m", "bench.structured", str(job)],
            cwd=ROOT,
            env=os.environ | {"BENCH_BEGAN": repr(time.monotonic())},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        ended = time.monotonic()
        if done.returncode:
            last = done.stderr[-3000:]
            raise RunFailed(f"Structured Streaming: exit code {done.returncode}\n{last}")
        measured = json.loads(result.read_text())
        # A user also waits for the end of the process.
        measured["seconds"][0] += ended - measured["ended"]
        return [float(duration) for duration in measured["seconds"]]

    def _compared(self, made: Project, output: Path) -> Rows:
        """The counts of every close, on both sides."""
        by_close: dict[int, Counter[Row]] = {}
        for row in DeltaTable(str(output / "windows")).to_pyarrow_table().to_pylist():
            close = row["close"]
            at = int((close if close.tzinfo else close.replace(tzinfo=UTC)).timestamp())
            answer = by_close.setdefault(at, Counter())
            answer[f"{row['count']} ({_INTEGER})", row["sensor"]] += 1
        began = int(START.timestamp())
        last = began + (self.minutes + NEW_MINUTES * (1 + WARM_RUNS)) * 60 - 1
        weir, differing = 0, 0
        for close in range(began + WIDTH, last + 1, WIDTH):
            published = published_at(made.lake, "counts", close)
            expected = by_close.pop(close, Counter())
            weir += published.total()
            differing += ((published - expected) + (expected - published)).total()
        differing += sum(missing.total() for missing in by_close.values())
        spark = DeltaTable(str(output / "windows")).to_pyarrow_table().num_rows
        return Rows("readings by sensor, every close", weir, spark=spark, differing=differing)
