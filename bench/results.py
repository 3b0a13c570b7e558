"""What was measured, as values that are stored as JSON; every time is in seconds of the clock."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, Literal, Self

Temperature = Literal["cold", "warm", ""]
"""cold: a fresh process; warm: the same session once more, on a fresh copy of the lake."""


@dataclass(frozen=True, slots=True)
class Timing:
    """One thing that was timed, as often as it was done; `part_of` is empty for the whole."""

    what: str
    temperature: Temperature
    seconds: tuple[float, ...]
    part_of: str = ""

    @property
    def median(self) -> float:
        """The median of the repeats."""
        return median(self.seconds)


@dataclass(frozen=True, slots=True)
class Written:
    """What one run wrote into a table: bytes of data, bytes of its log, files."""

    table: str
    data: int
    log: int
    files: int


@dataclass(frozen=True, slots=True)
class Target:
    """What was aimed at and what was reached; a number to report, not a test."""

    what: str
    aim: str
    reached: str
    met: bool


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one answer as each side counts them; they must be the same number.

    Where the rows themselves were compared, `differing` is how many one side has and another not.
    """

    query: str
    weir: int
    spark: int | None = None
    oxigraph: int | None = None
    duckdb: int | None = None
    differing: int = 0

    @property
    def agree(self) -> bool:
        """Whether all that counted found the same number, and all that compared the same rows."""
        return (
            len({self.weir, self.spark, self.oxigraph, self.duckdb} - {None}) == 1
            and not self.differing
        )


@dataclass(frozen=True, slots=True)
class Scenario:
    """The result of one scenario.

    Attributes:
        name: what `--only` calls it.
        title: one line for the report.
        sizes: what it was run on; numbers of quads, change sets, repeats.
        full: whether it was run in full size, fit for docs/benchmarks.md.
        timings, written, targets, rows, notes: what was found.
        summary: a table of its own, the head first.
        date: of the measurement, as of ISO 8601.
    """

    name: str
    title: str
    sizes: Mapping[str, int]
    full: bool
    timings: Sequence[Timing] = ()
    written: Sequence[Written] = ()
    targets: Sequence[Target] = ()
    rows: Sequence[Rows] = ()
    notes: Sequence[str] = ()
    machine: Mapping[str, str] = field(default_factory=dict)
    summary: Sequence[tuple[str, ...]] = ()
    date: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%d}")

    def seconds(self, what: str, temperature: Temperature = "", part_of: str = "") -> float | None:
        """The median of a timing, None if it was not taken."""
        for timing in self.timings:
            if (timing.what, timing.temperature, timing.part_of) == (what, temperature, part_of):
                return timing.median
        return None

    def save(self, folder: Path) -> Path:
        """Write it as JSON: in full size into the folder, which git has, else into `small`."""
        folder = folder if self.full else folder / "small"
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self.name}.json"
        file.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        return file

    @classmethod
    def load(cls, file: Path) -> Self:
        """Read what `save` wrote."""
        stored: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        stored["timings"] = tuple(
            Timing(**{**t, "seconds": (*t["seconds"],)}) for t in stored["timings"]
        )
        for key, kind in (("written", Written), ("targets", Target), ("rows", Rows)):
            stored[key] = tuple(kind(**fields) for fields in stored[key])
        stored["notes"] = tuple(stored["notes"])
        stored["summary"] = tuple(tuple(line) for line in stored.get("summary", ()))
        return cls(**stored)


def seconds_text(seconds: float | None) -> str:
    """Seconds with about three digits; empty for those that were not measured."""
    if seconds is None:
        return ""
    return f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}"


def machine() -> dict[str, str]:
    """What the figures depend on: processor, memory, versions."""
    cpus = Path("/proc/cpuinfo")
    names = [
        line.partition(":")[2].strip()
        for line in (cpus.read_text().splitlines() if cpus.exists() else ())
        if line.startswith("model name")
    ]
    name = names[0] if names else platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ("pyspark", "delta-spark", "deltalake", "duckdb", "pyoxigraph")
    return {
        "processor": f"{len(os.sched_getaffinity(0))} x {name}",
        "memory": f"{memory:.0f} GiB",
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def timings_of(
    samples: Sequence[Mapping[tuple[str, str], float]], temperature: Temperature
) -> list[Timing]:
    """One timing per (part of, what) of repeated samples, in the order of the first."""
    keys = dict.fromkeys(key for sample in samples for key in sample)
    return [
        Timing(what, temperature, tuple(s[part, what] for s in samples if (part, what) in s), part)
        for part, what in keys
    ]
