"""Many small queries: what a run costs per registered query, and per query that changes touch.

Half of the queries ask for all about a concept, half for the labels of what has a value. Their
constants are taken from nomisma in a fixed order, so that every run has the same queries.
"""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyoxigraph

from bench.comparison import by_oxigraph, count_rows
from bench.nomisma import BASE_ID
from bench.places import ROOT, WORK, Project, patches, project, shared_data
from bench.processes import RunFailed
from bench.results import Scenario, Target, Timing, machine
from bench.session import measure, peak_note

FULL_QUERIES = 1_000
FEW_CHANGE_SETS = 8
SMALL = 100
"""Most subjects that have a value that a query asks for."""
AIMS = {"first run": 90.0, "1 change set": 8.0, "8 change sets": 12.0, "empty": 3.0, "status": 3.0}
"""Seconds of a fresh process with `FULL_QUERIES`."""

_LABEL = "<http://www.w3.org/2004/02/skos/core#prefLabel>"
_NOTE = "<http://www.w3.org/2004/02/skos/core#note>"
_Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Constants:
    """What the queries are made of: concepts, and pairs of a predicate and a value."""

    concepts: Sequence[str]
    pairs: Sequence[tuple[str, str]]


@dataclass(slots=True)
class Fleet:
    """The scenario with so many registered queries, half of each shape.

    Args:
        queries: how many.
        repeats: fresh processes of each run but the first one over the base.
        progress: receives a line per step.
    """

    queries: int
    repeats: int
    progress: Callable[[str], None]

    def run(self) -> Scenario:
        """The first run, runs over change sets, an empty run, and `weir status`."""
        folder = WORK / f"fleet{self.queries}"
        base = shared_data() / "nomisma" / "base.nq.gz"
        constants = constants_of(base, self.queries // 2)
        registered = written(folder / "queries", texts(constants))
        none = patches(folder / "none", [])
        prepared = self._project(folder / "prepared", registered, none, base)
        self.progress(f"the first answers of {self.queries:,} queries")
        first = measure([prepared]).runs[0]
        timings = _named([first.seconds], "first run")
        reached = {"first run": timings[0].median}
        counts = {"empty": 0, "1 change set": 1, f"{FEW_CHANGE_SETS} change sets": FEW_CHANGE_SETS}
        for name, count in counts.items():
            changes = change_sets(folder / f"changes{count}", constants, count)
            samples: list[Mapping[tuple[str, str], float]] = []
            for number in range(self.repeats):
                self.progress(f"{name}, {number + 1} of {self.repeats}")
                copy = self._project(folder / "copy", registered, changes, base, prepared.lake)
                samples.append(measure([copy]).runs[0].seconds)
            changed = copy
            named = _named(samples, name)
            timings += named
            reached[name] = named[0].median
        self.progress("pyoxigraph")
        answers = count_rows(changed, [], by_oxigraph(changed, registered, 1).rows)
        differing = [rows for rows in answers if not rows.agree]
        agree = len(answers) - len(differing)
        self.progress("status")
        status = Timing("status", "cold", tuple(_status(changed) for _ in range(self.repeats)))
        timings.append(status)
        reached["status"] = status.median
        full = self.queries == FULL_QUERIES
        targets = [
            Target(
                f"{what}, fresh process",
                f"<= {aim:.0f} s",
                f"{reached[what]:.1f} s",
                reached[what] <= aim,
            )
            for what, aim in AIMS.items()
            if full
        ]
        return Scenario(
            name="fleet",
            title=f"{self.queries:,} small queries over nomisma",
            sizes={"queries": self.queries, "repeats": self.repeats},
            full=full,
            timings=timings,
            targets=targets,
            rows=differing,
            notes=[
                "Each change set adds one triple, which is one row of one answer.",
                f"pyoxigraph finds as many rows for {agree:,} of {len(answers):,} queries.",
                peak_note(first),
            ],
            machine=machine(),
        )

    def _project(
        self, folder: Path, queries: Path, changes: Path, base: Path, lake: Path | None = None
    ) -> Project:
        source = {
            "name": "nomisma",
            "kind": "patches",
            "location": str(changes),
            "base": str(base),
            "base_id": BASE_ID,
        }
        return project(folder, queries, source, lake=lake)


def _named(samples: Sequence[Mapping[tuple[str, str], float]], name: str) -> list[Timing]:
    """The whole time of a run, and those of its stages."""
    named = [
        Timing(name, "cold", tuple(sample["", what] for sample in samples))
        if what == "in all"
        else Timing(f"  {what}", "cold", tuple(sample["", what] for sample in samples), name)
        for part, what in samples[0]
        if not part
    ]
    return sorted(named, key=lambda timing: timing.part_of)


def constants_of(base: Path, count: int) -> Constants:
    """What so many queries of each shape are made of: concepts, and pairs (predicate, value)."""
    triples = [*_triples(base)]
    labelled = {subject: None for subject, predicate, _ in triples if predicate == _LABEL}
    having = Counter(
        (predicate, value)
        for subject, predicate, value in triples
        if subject in labelled and value.startswith("<")
    )
    pairs = (pair for pair, times in having.items() if times <= SMALL)
    return Constants([*islice(labelled, count)], [*islice(pairs, count)])


def _triples(base: Path) -> Iterator[_Triple]:
    data = gzip.decompress(base.read_bytes())
    for quad in pyoxigraph.parse(data, pyoxigraph.RdfFormat.N_QUADS):
        yield str(quad.subject), str(quad.predicate), str(quad.object)


def texts(constants: Constants) -> Iterator[tuple[str, str]]:
    """The queries, each with its name."""
    for i, concept in enumerate(constants.concepts):
        yield f"about_{i:05}", f"SELECT ?p ?o {{ {concept} ?p ?o }}\n"
    for i, (predicate, value) in enumerate(constants.pairs):
        yield f"having_{i:05}", f"SELECT ?x ?label {{ ?x {predicate} {value} ; {_LABEL} ?label }}\n"


def written(folder: Path, texts: Iterator[tuple[str, str]]) -> Path:
    """A folder of these queries alone."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in texts:
        (folder / f"{name}.rq").write_text(text)
    return folder


def change_sets(folder: Path, constants: Constants, count: int) -> Path:
    """So many change sets, each of one triple about another concept."""
    made = patches(folder, [])
    before = BASE_ID
    for number in range(1, count + 1):
        this = f"urn:bench:{number}"
        added = f'A {constants.concepts[number]} {_NOTE} "{number}" {constants.concepts[number]} .'
        lines = (f"H id <{this}> .", f"H prev <{before}> .", "TX .", added, "TC .", "")
        (made / f"{number:04}.nqp").write_text("\n".join(lines))
        before = this
    return made


def _status(made: Project) -> float:
    """Seconds that `weir status` takes."""
    started = time.monotonic()
    command = [
        sys.executable,
        "-c",
        "import sys; from weir.cli import main; sys.exit(main())",
        "--config",
        str(made.config),
        "status",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunFailed(f"weir status: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return time.monotonic() - started
