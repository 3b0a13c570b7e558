"""The table `current/<name>`: what one changed row costs in small and large answers.

A change replaces some rows of the answer by others, as publish does when it follows the log. What
the table costs a run grows with the changed rows, until these touch most of its files.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import pyarrow as pa

from bench.places import WORK
from bench.results import Scenario, Target, Timing, machine, seconds_text
from weir.lake.delta.hashed_files import RowChanges, change_hashed, overwrite_hashed
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import Column, current

FULL_ROWS = 10_000_000
SIZES = (10_000, 100_000, 1_000_000, FULL_ROWS)
CHANGES = (1, 10, 100, 1_000)
REPEATS = 9
AIM = 2.0
_TABLE = current(
    "people",
    (
        Column("person", "STRING", ""),
        Column("name", "STRING", ""),
        Column("age", "BIGINT", ""),
    ),
    "three columns, each row once",
)
_METADATA = Metadata("bench", "publish", 1)


@dataclass(slots=True)
class CurrentTables:
    """The scenario with answers of up to `most` rows."""

    most: int
    progress: Callable[[str], None]

    def run(self) -> Scenario:
        """Build a table of each size, and change it."""
        sizes = [size for size in SIZES if size <= self.most]
        timings: list[Timing] = []
        lines: list[tuple[str, ...]] = []
        by_size: dict[int, list[float]] = {}
        for size in sizes:
            self.progress(f"an answer of {size:,} rows")
            table = _Changed(size)
            built = table.build()
            by_size[size] = []
            timings.append(Timing(f"{size:,} rows, built", "", (built,)))
            for count in CHANGES:
                spent = tuple(table.change(count) for _ in range(REPEATS))
                timings.append(Timing(f"{size:,} rows, {count:,} replaced", "", spent))
                by_size[size].append(median(spent))
            lines.append((f"{size:,}", *map(seconds_text, (built, *by_size[size]))))
            table.remove()
        ratio = by_size[sizes[-1]][0] / by_size[sizes[0]][0]
        what = f"one changed row of {sizes[-1]:,} / of {sizes[0]:,}"
        return Scenario(
            name="current",
            title="the table of a current answer: rows replaced by one commit",
            sizes={"rows": self.most},
            full=self.most == FULL_ROWS,
            timings=timings,
            targets=[Target(what, f"<= {AIM}", f"{ratio:.2f}", ratio <= AIM)],
            notes=[
                "Seconds of the processor, user and system, of the process; medians of"
                f" {REPEATS} changes. A change of n rows removes n and adds n."
            ],
            machine=machine(),
            summary=[("rows", "built, s", *(f"{n:,} replaced, s" for n in CHANGES)), *lines],
        )


class _Changed:
    """A table of so many rows, and which they are."""

    def __init__(self, rows: int) -> None:
        self._folder = WORK / f"current{rows}"
        self.remove()
        self._lake = Lake(str(self._folder / "lake"))
        self._rows = rows
        self._chance = random.Random(rows)
        self._versions: dict[int, int] = {}

    def build(self) -> float:
        """The seconds of making the table of the whole answer."""
        people = pa.concat_tables(
            _people(range(first, min(first + 1_000_000, self._rows)), {})
            for first in range(0, self._rows, 1_000_000)
        )
        began = time.process_time()
        overwrite_hashed(self._lake, _TABLE, people, None, _METADATA)
        return time.process_time() - began

    def change(self, count: int) -> float:
        """The seconds of replacing so many rows, anywhere in the table."""
        numbers = self._chance.sample(range(self._rows), count)
        before = _people(numbers, self._versions)
        self._versions |= {number: self._versions.get(number, 0) + 1 for number in numbers}
        after = _people(numbers, self._versions)
        changes = RowChanges(pa.concat_tables([before, after]), [-1] * count + [1] * count, None)
        began = time.process_time()
        change_hashed(self._lake, _TABLE, changes, _METADATA)
        return time.process_time() - began

    def remove(self) -> None:
        """Remove its files."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _people(numbers: Sequence[int], versions: dict[int, int]) -> pa.Table:
    """The rows with some numbers; a row has another age in each version."""

    def ages() -> Iterator[int]:
        return (number % 90 + 100 * versions.get(number, 0) for number in numbers)

    return pa.table(
        {
            "person": pa.array([f"http://example.org/people/{number}" for number in numbers]),
            "name": pa.array([f"Person {number}" for number in numbers]),
            "age": pa.array([*ages()], pa.int64()),
        }
    )
