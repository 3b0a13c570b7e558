"""A real history: 583,314 quads, then 203 change sets; the ten queries that come with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.comparison import by_oxigraph, count_rows, full_timings
from bench.places import WORK, Project, files_of, patches, project, shared_data, written
from bench.prepared import form_of, is_ready, ready
from bench.results import Rows, Scenario, Target, Timing, Written, machine, timings_of
from bench.session import MeasuredRun, measure

BASE_ID = "urn:uuid:f3dd7e3d-d9a4-5650-89e3-090c2022e7c9"
"""What the first patch names as the one before it."""
FULL_REPEATS = 3
CHANGE_SETS = 20
FRESH_AIM, EMPTY_AIM, SPARK_AIM = 20.0, 8.0, 30.0
SPARK_ALONE = {
    f"WEIR_LIMITS__{limit.upper()}": "0"
    for limit in ("driver_rows", "driver_table_bytes", "driver_scan_rows", "driver_parse_bytes")
}
"""The settings by which the driver computes nothing itself."""


@dataclass
class Nomisma:
    """The scenarios over one prepared lake: base ingested, first answers published.

    Args:
        repeats: cold runs of each scenario.
        change_sets: how many the scenario `nomisma20` takes.
        progress: receives a line per step.
    """

    repeats: int
    change_sets: int
    progress: Callable[[str], None]

    @property
    def data(self) -> Path:
        """The folder of the data set."""
        return shared_data() / "nomisma"

    @property
    def queries(self) -> Path:
        """The ten queries."""
        return self.data / "queries"

    @property
    def prepared(self) -> Project:
        """The lake after the base, made by the scenario `initial` or here."""
        made = Project(WORK / "nomisma" / "prepared")
        if not is_ready(made, form_of(self.queries)):
            self.progress("preparing the lake: base and first answers")
            self._initial_runs(1)
        return made

    def initial(self) -> Scenario:
        """The first run over the base: parse, ten answers from scratch, check, publish."""
        runs, new = self._initial_runs(self.repeats)
        return self._scenario(
            "initial",
            f"nomisma, the first run: base of {583_314:,} quads, ten queries",
            timings_of(runs, "cold"),
            new,
        )

    def _initial_runs(self, count: int) -> tuple[list[dict[tuple[str, str], float]], list[Written]]:
        none = patches(WORK / "nomisma" / "none", [])
        runs = []
        for number in range(count):
            self.progress(f"nomisma, first run over the base, {number + 1} of {count}")
            made = self._project("prepared", none)
            runs.append(dict(measure([made]).runs[0].seconds))
            ready(made, form_of(self.queries))
        return runs, written({}, files_of(made.lake))

    def some(self) -> Scenario:
        """Twenty change sets in one run, cold and warm, beside recomputing."""
        files = self.files()[: self.change_sets]
        title = f"nomisma, {len(files)} change sets in one run, ten queries"
        return self._over("nomisma20", title, files, aim=FRESH_AIM)

    def spark(self) -> Scenario:
        """The same change sets with all limits of the driver at 0: Spark computes everything."""
        files = self.files()[: self.change_sets]
        title = f"nomisma, {len(files)} change sets in one run, Spark alone"
        return self._over("spark", title, files, aim=SPARK_AIM, settings=SPARK_ALONE)

    def bulk(self) -> Scenario:
        """All change sets in one run."""
        files = self.files()
        return self._over("bulk", f"nomisma, all {len(files)} change sets in one run", files)

    def empty(self) -> Scenario:
        """A run that finds nothing new; it needs no Spark."""
        none = patches(WORK / "nomisma" / "none", [])
        cold: list[MeasuredRun] = []
        warm: list[MeasuredRun] = []
        for number in range(self.repeats):
            self.progress(f"nomisma, nothing new, {number + 1} of {self.repeats}")
            copies = [self.copy(f"empty{i}", none) for i in range(2)]
            first, second = measure(copies).runs
            cold.append(first)
            warm.append(second)
        timings = _both(cold, warm)
        new = written(files_of(self.prepared.lake), files_of(copies[0].lake))
        reached = next(t.median for t in timings if (t.what, t.temperature) == ("in all", "cold"))
        target = Target(
            "an empty run, fresh process",
            f"< {EMPTY_AIM:.0f} s",
            f"{reached:.1f} s",
            reached < EMPTY_AIM,
        )
        return self._scenario(
            "empty",
            "nomisma, nothing new",
            timings,
            new,
            targets=[target],
            notes=["Spark is not needed to find that there is nothing new: no JVM is started."],
        )

    def _over(
        self,
        name: str,
        title: str,
        files: list[Path],
        *,
        aim: float | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> Scenario:
        changes = patches(WORK / "nomisma" / f"changes_{name}", files)
        cold: list[MeasuredRun] = []
        warm: list[MeasuredRun] = []
        for number in range(self.repeats):
            last = number == self.repeats - 1
            self.progress(f"{title}, {number + 1} of {self.repeats}")
            copies = [self.copy(f"{name}{i}", changes) for i in range(2)]
            session = measure(
                copies,
                settings=settings,
                recompute_on=copies[0] if last else None,
                rounds=1 + max(1, self.repeats - 1),
            )
            first, second = session.runs
            cold.append(first)
            warm.append(second)
        self.progress(f"{title}, pyoxigraph")
        beside = by_oxigraph(copies[0], self.queries, self.repeats)
        timings = [*_both(cold, warm), *full_timings(session.recomputed), *beside.timings]
        targets = []
        if aim is not None:
            reached = next(
                t.median for t in timings if (t.what, t.temperature) == ("in all", "cold")
            )
            targets.append(
                Target(
                    f"ten queries, {len(files)} epochs, fresh process, all stages",
                    f"< {aim:.0f} s",
                    f"{reached:.1f} s",
                    reached < aim,
                )
            )
        return self._scenario(
            name,
            title,
            timings,
            written(files_of(self.prepared.lake), files_of(copies[0].lake)),
            targets=targets,
            rows=count_rows(copies[0], session.recomputed, beside.rows),
            change_sets=len(files),
        )

    def files(self) -> list[Path]:
        """The change sets, in order."""
        return sorted((self.data / "changes").iterdir())

    def _project(self, name: str, changes: Path, lake: Path | None = None) -> Project:
        source = {
            "name": "nomisma",
            "kind": "patches",
            "location": str(changes),
            "base": str(self.data / "base.nq.gz"),
            "base_id": BASE_ID,
        }
        return project(WORK / "nomisma" / name, self.queries, source, lake=lake)

    def copy(self, name: str, changes: Path) -> Project:
        """A copy of the prepared lake, in a project whose change sets are in `changes`."""
        return self._project(name, changes, self.prepared.lake)

    def _scenario(
        self,
        name: str,
        title: str,
        timings: list[Timing],
        new: list[Written],
        *,
        change_sets: int = 0,
        targets: Sequence[Target] = (),
        rows: Sequence[Rows] = (),
        notes: Sequence[str] = (),
    ) -> Scenario:
        sizes = {"quads": 583_314, "change sets": change_sets, "repeats": self.repeats}
        full = self.repeats >= FULL_REPEATS and self.change_sets == CHANGE_SETS
        return Scenario(name, title, sizes, full, timings, new, targets, rows, notes, machine())


def _both(cold: list[MeasuredRun], warm: list[MeasuredRun]) -> list[Timing]:
    return [
        *timings_of([run.seconds for run in cold], "cold"),
        *timings_of([run.seconds for run in warm], "warm"),
    ]
