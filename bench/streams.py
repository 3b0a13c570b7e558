"""Ten queries over a stream of readings: what a run costs, and what makes it cost more.

Every line of the summary is the same change on another state, so that the growth shows: of the
history, of the number of queries, of the epochs of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.late_rows import LateRows
from bench.places import ROOT, WORK, Project, patches, project
from bench.prepared import form_of, is_ready, ready
from bench.readings import START, TIME, minutes, readings, rooms_patch
from bench.results import Rows, Scenario, Target, Temperature, Timing, machine, timings_of
from bench.session import MeasuredRun, measure
from bench.stream_oracle import Event, answer_by_definition, published_at

QUERIES = ROOT / "bench" / "queries_streams"
CHANGE_SETS = 20
LONGER = 64
"""How many times as long the long history is."""
CAUGHT_UP, FULL_SINGLE_RUNS = 200, 40
FULL_REPEATS = 3
FRESH_AIM, HISTORY_AIM, LATE_AIM, CATCH_UP_AIM = 20.0, 1.5, 2.0, 10.0

_WHOLE = ("", "in all")


@dataclass(frozen=True, slots=True)
class Measured:
    """Runs of one kind, each in a fresh process and once more in the same session."""

    cold: Sequence[MeasuredRun]
    warm: Sequence[MeasuredRun] = ()

    @property
    def seconds(self) -> float:
        """Of a fresh process, median."""
        return median(run.seconds[_WHOLE] for run in self.cold)

    @property
    def cpu(self) -> float:
        """Of a fresh process, median."""
        return median(run.cpu for run in self.cold)

    def line(self, *what: str) -> tuple[str, ...]:
        """A line of the summary."""
        warm = f"{median(run.seconds[_WHOLE] for run in self.warm):.2f}" if self.warm else ""
        maintain = median(run.seconds.get(("", "maintain"), 0.0) for run in self.cold)
        return (*what, f"{self.seconds:.2f}", f"{maintain:.2f}", f"{self.cpu:.2f}", warm)


_HEAD = ("run", "history", "in all, s", "maintain, s", "processor, s", "warm, s")


@dataclass(slots=True)
class Streams:
    """The scenario.

    Args:
        repeats: fresh processes of each run.
        longer: how many times as long the long history is.
        single_runs: how many runs of one epoch each are measured.
        window: events in the window that late rows correct.
        progress: receives a line per step.
    """

    repeats: int
    longer: int
    single_runs: int
    window: int
    progress: Callable[[str], None]

    @property
    def folder(self) -> Path:
        """Where it works."""
        return WORK / "streams"

    def run(self) -> Scenario:
        """All parts; the answers after the change sets are compared with their definition."""
        short, long = CHANGE_SETS, CHANGE_SETS * self.longer
        lines: list[tuple[str, ...]] = []
        after_short = self._change_sets(short)
        lines.append(after_short.line(f"{CHANGE_SETS} change sets", f"{short} change sets"))
        rows = self._compared(short)
        after_long = self._change_sets(long)
        lines.append(after_long.line(f"{CHANGE_SETS} change sets", f"{long:,} change sets"))
        rows += self._compared(long)
        empty, empty_long = self._nothing_new(short), self._nothing_new(long)
        of_graph = self._nothing_new_in_graph()
        lines.append(empty.line("nothing new", f"{short} change sets"))
        lines.append(empty_long.line("nothing new", f"{long:,} change sets"))
        lines.append(of_graph.line("nothing new, the same patterns over the graph", f"{short}"))
        single, at_once = self._catch_up()
        lines.append(at_once.line(f"{CAUGHT_UP} change sets in one run", f"{short} change sets"))
        seconds = median(run.seconds[_WHOLE] for run in single)
        maintain = median(run.seconds["", "maintain"] for run in single)
        cpu = median(run.cpu for run in single)
        what = ("a run of one change set", f"{short} change sets")
        lines.append((*what, "", f"{maintain:.2f}", f"{cpu:.2f}", f"{seconds:.2f}"))
        late = LateRows(self.window, self.repeats, self.folder / "late", self.progress).run()
        rows += late.rows
        growth = after_long.cpu / after_short.cpu
        grown = after_long.seconds / after_short.seconds
        ratio = CAUGHT_UP * seconds / at_once.seconds
        targets = [
            _target(
                f"ten queries, {CHANGE_SETS} change sets, fresh process",
                FRESH_AIM,
                after_short.seconds,
                "s",
            ),
            Target(
                "an empty run over streams, relative to one over the graph",
                "<= 1",
                f"{empty.seconds / of_graph.seconds:.2f} ({empty.seconds:.2f} s; processor"
                f" {empty.cpu:.2f} s / {of_graph.cpu:.2f} s)",
                empty.seconds <= of_graph.seconds,
            ),
            Target(
                f"the same change sets after a history {self.longer} times as long",
                f"<= {HISTORY_AIM}",
                f"{grown:.2f} (processor {growth:.2f})",
                grown <= HISTORY_AIM,
            ),
            *late.targets(LATE_AIM),
            Target(
                f"{CAUGHT_UP} runs of one epoch, warm / one run of {CAUGHT_UP} epochs, cold",
                f">= {CATCH_UP_AIM:.0f}",
                f"{ratio:.1f} ({CAUGHT_UP} x {seconds:.2f} s / {at_once.seconds:.2f} s)",
                ratio >= CATCH_UP_AIM,
            ),
        ]
        full = (self.longer, self.single_runs) == (LONGER, FULL_SINGLE_RUNS)
        return Scenario(
            name="streams",
            title="a stream of readings, ten queries over windows",
            sizes={
                "change sets": CHANGE_SETS,
                "events per change set": 3 * len([*readings(0, 60)]),
                "window": self.window,
                "repeats": self.repeats,
            },
            full=full and late.is_full and self.repeats >= FULL_REPEATS,
            timings=[
                *_timings(after_short.cold, "cold"),
                *_timings(after_short.warm, "warm"),
                *_named(f"after {long:,} change sets", after_long.cold),
                *late.timings,
            ],
            targets=targets,
            rows=rows,
            notes=[
                f"The {CAUGHT_UP} runs are extrapolated: the median of {self.single_runs} runs in"
                f" one process, times {CAUGHT_UP}. The one run of {CAUGHT_UP} epochs is a fresh"
                " process.",
                "Processor: user and system time of the process; it depends less on what else the"
                " machine does.",
                "pyoxigraph: over the content of the windows by their definition, at the last"
                " instant that is final.",
            ],
            machine=machine(),
            summary=[_HEAD, *lines, *late.lines],
        )

    def _change_sets(self, history: int) -> Measured:
        """The same change sets after a history, cold and warm."""
        prepared = self._prepared(history)
        arrived = patches(self.folder / f"arrived{history}", [])
        new = minutes(arrived, history, CHANGE_SETS)
        assert len(new) == CHANGE_SETS
        cold, warm = [], []
        for number in range(self.repeats):
            self.progress(f"after {history:,} change sets, {number + 1} of {self.repeats}")
            copies = [
                project(copy, QUERIES, *self._sources(arrived), lake=prepared.lake)
                for copy in (self._copy(history, 0), self._copy(history, 1))
            ]
            first, second = measure(copies).runs
            cold.append(first)
            warm.append(second)
        return Measured(cold, warm)

    def _copy(self, history: int, number: int) -> Path:
        return self.folder / f"copy{history}_{number}"

    def _nothing_new(self, history: int) -> Measured:
        """An empty run after the change sets."""
        self.progress(f"nothing new after {history:,} change sets")
        made = Project(self._copy(history, 0))
        return Measured([measure([made]).runs[0] for _ in range(self.repeats)])

    def _nothing_new_in_graph(self) -> Measured:
        """An empty run of the same queries without windows, over the same triples as a graph."""
        self.progress("nothing new in the graph")
        queries, arrived = self.folder / "graph_queries", patches(self.folder / "graph", [])
        queries.mkdir(exist_ok=True)
        for file in QUERIES.glob("*.rq"):
            (queries / file.name).write_text(without_windows(file.read_text()))
        before = ""
        for number, file in enumerate(minutes(self.folder / "readings", 0, 2 * CHANGE_SETS)):
            head = f"H id <urn:bench:{number}> .\n{before}TX .\n"
            before = f"H prev <urn:bench:{number}> .\n"
            text = "".join(f"A {line}\n" for line in file.read_text().splitlines())
            (arrived / f"{number:04}.nqp").write_text(f"{head}{text}TC .\n")
        source = {"name": "readings", "kind": "patches", "location": str(arrived)}
        rooms = self._rooms() | {"graph": "urn:bench:rooms"}
        made = project(self.folder / "in_graph", queries, rooms, source)
        measure([made])
        return Measured([measure([made]).runs[0] for _ in range(self.repeats)])

    def _catch_up(self) -> tuple[Sequence[MeasuredRun], Measured]:
        """Runs of one change set each, and one run of many."""
        prepared = self._prepared(CHANGE_SETS)
        ahead = minutes(patches(self.folder / "ahead", []), CHANGE_SETS, CAUGHT_UP)
        arrived = patches(self.folder / "one_by_one", [])
        made = self.folder / "single"
        made_single = project(made, QUERIES, *self._sources(arrived), lake=prepared.lake)
        some = ahead[: 1 + self.single_runs]
        self.progress(f"{len(some)} runs of one change set each")
        session = measure([made_single] * len(some), arrivals=[(file, arrived) for file in some])
        at_once = []
        for number in range(self.repeats):
            self.progress(f"{CAUGHT_UP} change sets in one run, {number + 1} of {self.repeats}")
            copy = project(
                self.folder / "at_once",
                QUERIES,
                *self._sources(ahead[0].parent),
                lake=prepared.lake,
            )
            at_once.append(measure([copy]).runs[0])
        # The first run is cold: it imports everything.
        return session.runs[1:], Measured(at_once)

    def _prepared(self, history: int) -> Project:
        """A lake after so many change sets, one each minute, all in one run."""
        made = Project(self.folder / f"prepared{history}")
        form = form_of(QUERIES, f"{history} minutes", str(START), rooms_patch())
        if not is_ready(made, form):
            self.progress(f"preparing the lake: {history:,} change sets")
            arrived = patches(self.folder / f"history{history}", [])
            minutes(arrived, 0, history)
            made = project(made.folder, QUERIES, *self._sources(arrived))
            measure([made])
            ready(made, form)
        return made

    def _rooms(self) -> dict[str, Any]:
        rooms = patches(self.folder / "rooms", [])
        (rooms / "1.rdfp").write_text(rooms_patch())
        return {"name": "rooms", "kind": "patches", "location": str(rooms), "graph": "default"}

    def _sources(self, arrived: Path) -> list[Mapping[str, Any]]:
        """The graph, and the stream whose change sets are in a folder."""
        stream = {"time": {"predicate": TIME}, "lateness": "PT1H"}
        readings = {"name": "readings", "kind": "snapshots", "location": str(arrived)}
        return [self._rooms(), readings | {"stream": stream}]

    def _compared(self, history: int) -> list[Rows]:
        """The published answers at the last final instants beside their definition."""
        self.progress("pyoxigraph")
        minute = history + CHANGE_SETS
        lines = rooms_patch().splitlines()
        graph = "\n".join(line[2:] for line in lines if line.startswith("A "))
        began = int(START.timestamp())
        # Windows of ten minutes that closed up to ten minutes ago, and the last 600 events.
        some = readings((minute - 20) * 60, minute * 60)
        events = [
            Event(began + reading.second, line.removesuffix(" ."))
            for reading in some
            for line in reading.lines
        ]
        lake = Project(self._copy(history, 0)).lake
        rows = []
        for file in sorted(QUERIES.glob("*.rq")):
            # The frontier is the last event; at its instant another may come.
            at = events[-1].second - 1
            published = published_at(lake, file.stem, at)
            expected = answer_by_definition(file.read_text(), events, graph, at)
            differing = ((expected - published) + (published - expected)).total()
            name = f"{file.stem}, {history:,} before"
            counts = published.total(), expected.total()
            rows.append(Rows(name, counts[0], oxigraph=counts[1], differing=differing))
        return rows


def without_windows(text: str) -> str:
    """A query of the benchmark over the graph alone."""
    lines = [line for line in text.splitlines() if not line.startswith("FROM NAMED WINDOW")]
    plain = "\n".join(lines)
    for name in ("ex:w", "ex:short", "ex:long"):
        plain = plain.replace(f"WINDOW {name} {{", "{")
    return plain + "\n"


def _target(what: str, aim: float, reached: float, unit: str) -> Target:
    return Target(what, f"<= {aim:g} {unit}", f"{reached:.1f} {unit}", reached <= aim)


def _timings(runs: Sequence[MeasuredRun], temperature: Temperature) -> list[Timing]:
    return timings_of([run.seconds for run in runs], temperature)


def _named(name: str, runs: Sequence[MeasuredRun]) -> list[Timing]:
    """The whole time of runs, and those of the stages."""
    stages = ("ingest", "maintain", "validate", "publish")
    return [
        Timing(name, "cold", tuple(run.seconds[_WHOLE] for run in runs)),
        *(
            Timing(f"  {stage}", "cold", tuple(run.seconds["", stage] for run in runs), name)
            for stage in stages
        ),
    ]
