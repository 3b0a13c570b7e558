"""Universities under OWL 2 RL: change sets, beside deriving all of it again.

A program with the rule set `owl-rl` gives what follows, and two queries read it. Each change set
deletes or inserts one triple: an instance, or a statement of the schema. At the end, a fresh lake
gets the same graph, and all is derived there.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import pyarrow.compute as pc
import pyoxigraph as ox

from bench.places import WORK, project
from bench.processes import RunFailed, processor_seconds
from bench.railway import Change, Triple
from bench.results import Rows, Scenario, Target, Timing, machine, seconds_text
from bench.universities import NAMESPACE, ONTOLOGY, Universities, name
from weir.door import guarded
from weir.ingest.stage import ingest_changes
from weir.maintain.stage import maintain_queries
from weir.project import Project
from weir.publish.stage import publish_answers
from weir.settings import Settings
from weir.validate.stage import validate_answers

FULL_UNIVERSITIES = 10
SIZES = (1, 3, FULL_UNIVERSITIES)
REPEATS = 3
AIM, GROWTH_AIM = 0.01, 2.0
_CHUNK = 50_000
"""Triples of a file; larger ones are parsed by Spark."""
_BELOW = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
_EDGE = (name("Lecturer"), _BELOW, name("Faculty"))
_DROPPED, _TAKEN = "a course is dropped", "a course is taken"
_DOWN, _UP = "a chair steps down", "a chair is appointed"
_CUT, _BACK = "a subclass is deleted", "a subclass is inserted"
_NOTE = "a note, the first change set"
_INSTANCES = (_DROPPED, _DOWN)
_PROGRAM = f"%+ rules: owl-rl\n%+ graph: {NAMESPACE}follows\n"
_QUERIES = {
    "students": "SELECT ?x WHERE { ?x a :Student }",
    "chairs": "SELECT ?x ?d WHERE { ?x a :Chair ; :worksFor ?d . ?d a :Department }",
}


@dataclass(frozen=True, slots=True)
class Lubm:
    """The scenario.

    Args:
        universities: of the largest graph.
        progress: receives a line per step.
        departments: how many each university has at least and at most.
    """

    universities: int
    progress: Callable[[str], None]
    departments: tuple[int, int] = (15, 25)

    def run(self) -> Scenario:
        """First derivation, change sets, and derivation in a fresh lake, at each size."""
        sizes = sorted({*(n for n in SIZES if n < self.universities), self.universities})
        measured = [_Measured(Universities(n, self.departments), self.progress) for n in sizes]
        for one in measured:
            one.measure()
        return Scenario(
            name="lubm",
            title="universities under OWL 2 RL",
            sizes={"triples": measured[-1].triples, "change sets": len(measured[-1].changes)},
            full=self.universities >= FULL_UNIVERSITIES,
            timings=[timing for one in measured for timing in one.timings()],
            targets=[*_targets(measured)],
            rows=[one.rows for one in measured],
            notes=[
                "Seconds of the processor. A change set is a whole run, from its file to published"
                " answers; medians. To derive all again is to maintain, validate and publish in a"
                " fresh lake with the graph after the last change set; reading that graph is not"
                " counted.",
                "A chair is appointed by one triple that has no other statement about the chair:"
                " it makes a member, an employee, a chair and a person of somebody.",
                "Of derived triples, the column of Spark has those of the fresh lake.",
            ],
            machine=machine(),
            summary=[_HEAD, *(one.line() for one in measured)],
        )


_HEAD = (
    "triples",
    "derived",
    "first, s",
    "all again, s",
    f"{_DROPPED}, s",
    f"{_TAKEN}, s",
    f"{_DOWN}, s",
    f"{_CUT}, s",
)


@dataclass(slots=True)
class _Measured:
    """What was measured of some universities, in seconds of the processor.

    Attributes:
        graph: the universities.
        progress: receives a line per step.
        triples: how many there are, with the ontology.
        first: of the first derivation.
        again: of that in a fresh lake.
        runs: of change sets, by what they do.
        derived: how many triples the program gives.
        rows: the derived triples, beside those of the fresh lake.
    """

    graph: Universities
    progress: Callable[[str], None]
    triples: int = 0
    first: float = 0.0
    again: float = 0.0
    runs: dict[str, list[float]] = field(default_factory=dict)
    derived: int = 0
    rows: Rows = field(init=False)

    @property
    def changes(self) -> Sequence[tuple[str, Change]]:
        """What is done, in order; the schema stays without the statement."""
        triples = [*self.graph.triples()]
        taken = [triple for triple in triples if triple[1] == name("takesCourse")]
        chairs = [triple for triple in triples if triple[1] == name("headOf")]
        # The first one makes what the others use.
        noted = (triples[0][0], name("note"), '"seen"')
        changes: list[tuple[str, Change]] = [(_NOTE, Change(appear=(noted,)))]
        for number in range(REPEATS):
            for undone, done, own in (
                (_DROPPED, _TAKEN, taken[number * len(taken) // REPEATS]),
                (_DOWN, _UP, chairs[number * len(chairs) // REPEATS]),
                (_CUT, _BACK, _EDGE),
            ):
                changes.append((undone, Change(vanish=(own,))))
                changes.append((done, Change(appear=(own,))))
        return changes[:-1]

    def measure(self) -> None:
        """Run it."""
        base = dict.fromkeys([*self.graph.triples(), *ontology()])
        self.triples = len(base)
        self.progress(f"{self.triples:,} triples")
        folder = WORK / f"lubm{self.graph.count}"
        with _opened(folder, base) as opened:
            self.first = _maintained(opened)
            self.progress(f"first derivation: {self.first:.1f} s")
            for number, (what, change) in enumerate(self.changes, 1):
                _write(folder, f"1{number:04}", change)
                began = processor_seconds(os.getpid())
                _ingested(opened)
                _maintained(opened)
                self.runs.setdefault(what, []).append(processor_seconds(os.getpid()) - began)
            derived = _derived(opened)
        with _opened(WORK / "lubm_again", self._last(base)) as opened:
            self.again = _maintained(opened)
            fresh = _derived(opened)
        self.progress(f"all again: {self.again:.1f} s")
        self.derived = derived.total()
        self.rows = Rows(
            f"derived triples, {self.graph.count} universities",
            derived.total(),
            spark=fresh.total(),
            differing=sum(((derived - fresh) + (fresh - derived)).values()),
        )

    def _last(self, base: Iterable[Triple]) -> Iterator[Triple]:
        """The graph after the last change set."""
        yield from (triple for triple in base if triple != _EDGE)
        yield from self.changes[0][1].appear

    def median(self, what: str) -> float:
        """Of the change sets that do something."""
        return median(self.runs[what])

    @property
    def dearest(self) -> float:
        """Of the deletion of an instance that takes most."""
        return max(self.median(what) for what in _INSTANCES)

    def line(self) -> tuple[str, ...]:
        """In the summary."""
        kinds = (_DROPPED, _TAKEN, _DOWN, _CUT)
        figures = (self.first, self.again, *map(self.median, kinds))
        return (f"{self.triples:,}", f"{self.derived:,}", *map(seconds_text, figures))

    def timings(self) -> Iterator[Timing]:
        """All of them."""
        of = f"{self.triples:,} triples"
        yield Timing(f"{of}: first derivation", "", (self.first,))
        yield Timing(f"{of}: all derived again, in a fresh lake", "", (self.again,))
        for what, some in self.runs.items():
            yield Timing(f"{of}: {what}", "", tuple(some))


def _targets(measured: Sequence[_Measured]) -> Iterator[Target]:
    smallest, largest = measured[0], measured[-1]
    for what, seconds in (
        ("one deletion of an instance", largest.dearest),
        (_CUT, largest.median(_CUT)),
    ):
        share = seconds / largest.again
        yield Target(
            f"{what} at {largest.triples:,} triples / all derived again",
            f"<= {AIM:.0%}",
            f"{share:.1%}",
            share <= AIM,
        )
    growth = largest.dearest / smallest.dearest
    sizes = f"{largest.triples:,} / {smallest.triples:,} triples"
    yield Target(
        f"one deletion of an instance at {sizes}",
        f"<= {GROWTH_AIM}",
        f"{growth:.2f}",
        growth <= GROWTH_AIM,
    )


def ontology() -> Iterator[Triple]:
    """The triples of the ontology; its blank nodes are numbered IRIs, the same every time."""
    nodes: dict[str, str] = {}

    def shown(term: object) -> str:
        if not isinstance(term, ox.BlankNode):
            return str(term)
        return nodes.setdefault(term.value, f"<{NAMESPACE}node{len(nodes)}>")

    for triple in ox.parse(ONTOLOGY.read_bytes(), ox.RdfFormat.TURTLE):
        yield shown(triple.subject), str(triple.predicate), shown(triple.object)


def _opened(folder: Path, base: Iterable[Triple]) -> Project:
    """A new project with the graph in its lake, and nothing derived."""
    project(folder, folder / "queries", {"name": "p", "kind": "patches", "location": "changes"})
    for own in ("queries", "programs", "changes"):
        (folder / own).mkdir()
    triples = [*base]
    for number, at in enumerate(range(0, len(triples), _CHUNK)):
        _write(folder, f"0{number:04}", Change(appear=(*triples[at : at + _CHUNK],)))
    (folder / "programs" / "follows.lars").write_text(_PROGRAM)
    for query, text in _QUERIES.items():
        head = f"#+ entailment: owl-rl\nPREFIX : <{NAMESPACE}>\n"
        (folder / "queries" / f"{query}.rq").write_text(f"{head}{text}\n")
    opened = Project(Settings.load(folder / "weir.toml"))
    _ingested(opened)
    return opened


def _write(folder: Path, file: str, change: Change) -> None:
    (folder / "changes" / f"{file}.rdfp").write_text(change.patch)


def _ingested(opened: Project) -> None:
    """Take the pending change sets.

    Raises:
        RunFailed: one was not taken.
    """
    result = guarded(ingest_changes, opened, "bench")
    if result.errors:
        raise RunFailed(str(result.errors[0]))


def _maintained(opened: Project) -> float:
    """The seconds of deriving and publishing what is new."""
    began = processor_seconds(os.getpid())
    for stage in (maintain_queries, validate_answers, publish_answers):
        stage(opened, "bench")
    return processor_seconds(os.getpid()) - began


def _derived(opened: Project) -> Counter[Triple]:
    """The triples that the program gives."""
    columns = ("subject", "predicate", "object")
    rows = opened.open_lake().rows("derived/follows", columns=[*columns, "weight"])
    summed = rows.group_by([*columns]).aggregate([("weight", "sum")])
    held: Mapping[str, list[str]] = (
        summed.filter(pc.field("weight_sum") > 0).select([*columns]).to_pydict()
    )
    return Counter(zip(*(held[own] for own in columns), strict=True))
