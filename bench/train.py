"""The Train Benchmark: faults of railways as queries and as shapes, injected and repaired.

Six faults are six queries and six shapes. Each change set injects or repairs one; a note about a
route touches no query and no shape. Beside it, all queries are evaluated again by pyoxigraph, and
all shapes by Jena and by pySHACL.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import pyoxigraph as ox

from bench.oracle import Oracle, published_answer
from bench.oxigraph import write_head
from bench.places import WORK, project
from bench.processes import processor_seconds
from bench.railway import TRIPLES_OF_ROUTE, Change, Railway
from bench.results import Rows, Scenario, Target, Timing, machine, seconds_text
from bench.stages import run_stages
from tests.support.shacl.jena import running_jena
from tests.support.shacl.pyshacl_process import PySHACL
from tests.support.shacl.results import Result, results_of_rows, results_of_text
from weir.project import Project
from weir.settings import Settings
from weir.shacl.compile import REPORT_COLUMNS

FULL_TRIPLES = 1_000_000
SIZES = (10_000, 100_000, FULL_TRIPLES)
PYSHACL_MOST = 100_000
"""Triples up to which pySHACL validates; beyond, it would take minutes."""
FAULTS = 1
"""Of each kind."""
REPEATS = 3
"""Of an evaluation over the whole graph."""
PYSHACL_AIM, JENA_AIM, GROWTH_AIM, FREE_AIM = 100, 10, 2.0, 1.2
QUERIES = Path(__file__).resolve().parent / "queries_train"
SHAPES = Path(__file__).resolve().parent / "shapes_train.ttl"
_NOTE = "a note"
_JAVA = ("-Xmx4g",)
_NOTHING = "nothing"
_SIDES = ("queries", "shapes", _NOTHING)


@dataclass(frozen=True, slots=True)
class Train:
    """The scenario.

    Args:
        triples: of the largest railway.
        progress: receives a line per step.
    """

    triples: int
    progress: Callable[[str], None]

    def run(self) -> Scenario:
        """First answers, change sets and evaluations of everything, at each size."""
        sizes = sorted({*(size for size in SIZES if size < self.triples), self.triples})
        # What a run costs without definitions does not depend on the size.
        measured = [
            _Measured(size, _SIDES if size == sizes[0] else _SIDES[:2], self.progress)
            for size in sizes
        ]
        for one in measured:
            one.measure()
        return Scenario(
            name="train",
            title="the Train Benchmark: six faults as queries and as shapes",
            sizes={"triples": measured[-1].triples, "change sets": len(measured[-1].changes)},
            full=self.triples >= FULL_TRIPLES,
            timings=[timing for one in measured for timing in one.timings()],
            targets=[*_targets(measured)],
            rows=[rows for one in measured for rows in one.rows],
            notes=[
                "Seconds of the processor, of all processes that compute. A change set is a whole"
                " run, from its file to published answers; medians of all kinds. The others"
                " evaluate all six queries, or validate all six shapes, over the loaded graph: the"
                " least of three, as Java still compiles; pySHACL once.",
                "In the aims, a change set is one of the kind that takes most. Without definitions,"
                " a run takes the note into the lake and publishes nothing.",
                "Of shapes, the column of Spark has the results of the other validator.",
            ],
            machine=machine(),
            summary=[_HEAD, *(one.line() for one in measured)],
        )


_HEAD = (
    "triples",
    "queries: first, s",
    "change set, s",
    "pyoxigraph, s",
    "shapes: first, s",
    "change set, s",
    "Jena, s",
    "pySHACL, s",
    "untouched, s",
    "no shapes, s",
)


@dataclass(slots=True)
class _Measured:
    """What was measured with a railway of some size, in seconds of the processor.

    Attributes:
        size: about how many triples it has.
        sides: what is registered in the projects.
        triples: how many it has.
        first: of the first run, by side.
        runs: of change sets, by side and what they do.
        again: of evaluations over the whole graph, by engine.
        rows: how many results each side has.
    """

    size: int
    sides: Sequence[str]
    progress: Callable[[str], None]
    triples: int = 0
    first: dict[str, float] = field(default_factory=dict)
    runs: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    again: dict[str, tuple[float, ...]] = field(default_factory=dict)
    rows: list[Rows] = field(default_factory=list)

    @property
    def changes(self) -> Sequence[tuple[str, Change]]:
        """What is done, in order."""
        railway = Railway(self.size // TRIPLES_OF_ROUTE)
        faults = railway.faults(FAULTS)
        changes = [(_NOTE, railway.note(0))]
        for number in range(FAULTS):
            for kind, of_kind in faults.items():
                changes.append((f"{kind}, injected", of_kind[number].inject))
                changes.append((f"{kind}, repaired", of_kind[number].repair))
                changes.append((_NOTE, railway.note(len(changes))))
        return changes

    def measure(self) -> None:
        """Run it."""
        base = Change(appear=(*Railway(self.size // TRIPLES_OF_ROUTE).triples(),))
        self.triples = len(base.appear)
        folders = {side: WORK / f"train{self.size}_{side}" for side in self.sides}
        self.progress(f"{self.triples:,} triples")
        for side, folder in folders.items():
            _create(folder, side)
            # A large first run may start Spark, which ends with the project.
            with _opened(folder) as opened:
                self.first[side] = _run(opened, folder, 0, base)
            self.runs[side] = {}
            self.progress(f"first run with {side}: {self.first[side]:.1f} s")
        with ExitStack() as stack:
            projects = {
                side: stack.enter_context(_opened(folder)) for side, folder in folders.items()
            }
            for number, (what, change) in enumerate(self.changes, 1):
                for side, opened in projects.items():
                    if side == _NOTHING and what != _NOTE:
                        continue
                    seconds = _run(opened, folders[side], number, change)
                    # The first one starts what the others use. A process that ended took its
                    # seconds with it.
                    if number > 1 and seconds > 0:
                        self.runs[side].setdefault(what, []).append(seconds)
            report = _report(projects["shapes"])
        head = WORK / "train.nt"
        write_head(folders["queries"] / "lake" / "triples", head)
        self._queries_again(head, folders["queries"] / "lake")
        self._jena(head, report)
        if self.size <= PYSHACL_MOST:
            self._pyshacl(head, report)

    def _queries_again(self, head: Path, lake: Path) -> None:
        self.progress("pyoxigraph")
        store = ox.Store()
        store.bulk_load(path=str(head), format=ox.RdfFormat.N_TRIPLES)
        texts = {file.stem: file.read_text() for file in sorted(QUERIES.glob("*.rq"))}
        self.again["pyoxigraph"] = tuple(
            _of_this_process(lambda: [_count(store.query(text)) for text in texts.values()])
            for _ in range(REPEATS)
        )
        oracle = Oracle(head)
        for name, text in texts.items():
            expected, answer = oracle.answer(text), published_answer(lake, name)
            differing = _differing(expected, answer)
            counts = answer.total(), expected.total()
            query = f"{name}, {self.triples:,} triples"
            self.rows.append(Rows(query, counts[0], oxigraph=counts[1], differing=differing))

    def _jena(self, head: Path, report: Counter[Result]) -> None:
        self.progress("Jena")
        folder = WORK / "train_jena"
        folder.mkdir(parents=True, exist_ok=True)
        shapes = SHAPES.read_text()
        with running_jena(folder, _JAVA, seconds=600.0) as jena:
            jena.load(head.read_text())
            text = jena.report(shapes)
            spent = []
            for _ in range(REPEATS):
                began = processor_seconds(jena.fuseki.guard)
                text = jena.report(shapes)
                spent.append(processor_seconds(jena.fuseki.guard) - began)
        self.again["Jena"] = tuple(spent)
        self._compare("Jena", report, results_of_text(text))

    def _pyshacl(self, head: Path, report: Counter[Result]) -> None:
        self.progress("pySHACL")
        with PySHACL() as process:
            validation = process.validation(SHAPES.read_text(), head.read_text())
        self.again["pySHACL"] = (validation.processor,)
        self._compare("pySHACL", report, validation.results)

    def _compare(self, validator: str, report: Counter[Result], other: Counter[Result]) -> None:
        query = f"shapes, {self.triples:,} triples, {validator}"
        differing = _differing(report, other)
        self.rows.append(Rows(query, report.total(), spark=other.total(), differing=differing))

    def typical(self, side: str) -> float:
        """Of a change set that touches something."""
        return median(
            seconds for what, some in self.runs[side].items() for seconds in some if what != _NOTE
        )

    def dearest(self, side: str) -> float:
        """Of a change set of the kind of faults that takes most."""
        kinds: dict[str, list[float]] = {}
        for what, some in self.runs[side].items():
            kinds.setdefault(what.partition(",")[0], []).extend(some)
        return max(median(some) for some in kinds.values())

    def untouched(self, side: str) -> float:
        """Of a note."""
        return median(self.runs[side][_NOTE])

    def line(self) -> tuple[str, ...]:
        """In the summary."""
        again = {name: min(some) for name, some in self.again.items()}
        figures = (
            self.first["queries"],
            self.typical("queries"),
            again["pyoxigraph"],
            self.first["shapes"],
            self.typical("shapes"),
            again["Jena"],
            again.get("pySHACL"),
            self.untouched("shapes"),
            self.untouched(_NOTHING) if _NOTHING in self.runs else None,
        )
        return (f"{self.triples:,}", *map(seconds_text, figures))

    def timings(self) -> Iterator[Timing]:
        """All of them, by side."""
        of = f"{self.triples:,} triples"
        for side in self.sides:
            yield Timing(f"{of}, {side}: first run", "", (self.first[side],))
            for what, some in self.runs[side].items():
                yield Timing(f"{of}, {side}: {what}", "", tuple(some))
        for name, spent in self.again.items():
            yield Timing(f"{of}, {name}", "", spent)


def _targets(measured: Sequence[_Measured]) -> Iterator[Target]:
    smallest, largest = measured[0], measured[-1]
    slowest = max((one for one in measured if "pySHACL" in one.again), key=lambda one: one.triples)
    slope = slowest.again["pySHACL"][0] * largest.triples / slowest.triples
    of = f"a change set at {largest.triples:,} triples"
    for what, seconds, side, aim in (
        ("pySHACL by its slope", slope, "shapes", PYSHACL_AIM),
        ("Jena", min(largest.again["Jena"]), "shapes", JENA_AIM),
        ("pyoxigraph", min(largest.again["pyoxigraph"]), "queries", 1),
    ):
        ratio = seconds / largest.dearest(side)
        yield Target(
            f"{of}: {side}, beside {what}",
            f"{aim} times as fast",
            f"{ratio:.1f} times",
            ratio >= aim,
        )
    for side in ("queries", "shapes"):
        growth = largest.typical(side) / smallest.typical(side)
        what = f"a change set of {side} at {largest.triples:,} / {smallest.triples:,} triples"
        yield Target(what, f"<= {GROWTH_AIM}", f"{growth:.2f}", growth <= GROWTH_AIM)
    free = largest.untouched("shapes") / smallest.untouched(_NOTHING)
    what = f"a note at {largest.triples:,} triples, with shapes that it does not touch / without"
    yield Target(what, f"<= {FREE_AIM}", f"{free:.2f}", free <= FREE_AIM)


def _create(folder: Path, side: str) -> None:
    """A new project with the queries, the shapes, or without definitions."""
    project(folder, folder / "queries", {"name": "p", "kind": "patches", "location": "changes"})
    for name in ("shapes", "changes"):
        (folder / name).mkdir()
    if side == "queries":
        shutil.copytree(QUERIES, folder / "queries")
    else:
        (folder / "queries").mkdir()
    if side == "shapes":
        shutil.copy(SHAPES, folder / "shapes" / "train.ttl")


def _opened(folder: Path) -> Project:
    return Project(Settings.load(folder / "weir.toml"))


def _run(opened: Project, folder: Path, number: int, change: Change) -> float:
    """The seconds of a run with a change set."""
    (folder / "changes" / f"{number:04}.rdfp").write_text(change.patch)
    began = processor_seconds(os.getpid())
    run_stages(opened)
    return processor_seconds(os.getpid()) - began


def _report(opened: Project) -> Counter[Result]:
    """The results that are open."""
    rows = opened.open_lake().rows("answers/train", columns=[*REPORT_COLUMNS, "weight"])
    weights: Counter[tuple[str | None, ...]] = Counter()
    for row in rows.to_pylist():
        weights[tuple(row[name] for name in REPORT_COLUMNS)] += row["weight"]
    return +results_of_rows(weights)


def _of_this_process(evaluate: Callable[[], object]) -> float:
    began = time.process_time()
    evaluate()
    return time.process_time() - began


def _count(answer: object) -> int:
    assert isinstance(answer, ox.QuerySolutions)
    return sum(1 for _ in answer)


def _differing(one: Counter[Any], other: Counter[Any]) -> int:
    return sum(abs(one[key] - other[key]) for key in {*one, *other})
