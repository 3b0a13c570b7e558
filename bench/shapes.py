"""Shapes over a campus of growing size: change sets, beside validating all of it again.

Ten kinds of things with ten shapes of twelve constraints each. The shapes read labels and classes,
so that a label touches all of them; a note touches none.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Self

import pyarrow.compute as pc

from bench.places import WORK, project
from bench.results import Rows, Scenario, Target, Timing, machine
from bench.stages import run_stages
from tests.support.shacl.pyshacl_process import PySHACL, Validation
from weir.project import Project
from weir.settings import Settings

FULL_THINGS = 170_000
SMALL_THINGS = 17_000
"""With a hundred thousand triples, which pySHACL validates in half a minute."""
CHANGE_SETS = 12
MANY = 1000
PAIRS, PAIRS_OF_MANY = 12, 3
AIM, AIM_OF_DOORS = 100, 1.5
_IRI, _XSD = "http://campus/", "http://www.w3.org/2001/XMLSchema#"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_KINDS = 10


@dataclass(frozen=True, slots=True)
class Shapes:
    """The scenario.

    Args:
        things: of the largest campus, each with six triples.
        progress: receives a line per step.
    """

    things: int
    progress: Callable[[str], None]

    def run(self) -> Scenario:
        """The first report, and change sets that touch all shapes and none, at each size."""
        sizes = sorted({min(SMALL_THINGS, self.things), self.things})
        measured = [self._measured(things) for things in sizes]
        doors = self._doors(sizes[0])
        other = self._other(measured[0])
        smallest, largest = measured[0], measured[-1]
        touching = median(largest.touching)
        slope = other.clock * largest.triples / smallest.triples
        return Scenario(
            name="shapes",
            title="a campus under ten shapes of twelve constraints each",
            sizes={"triples": largest.triples, "change sets": CHANGE_SETS},
            full=self.things >= FULL_THINGS,
            timings=[
                *(timing for one in measured for timing in one.timings()),
                *(timing for pairs in doors for timing in pairs.timings()),
                Timing("pySHACL, all of it again", "warm", (other.clock,)),
            ],
            targets=[
                Target(
                    f"a change set at {largest.triples:,} triples, beside pySHACL by its slope",
                    f"{AIM} times as fast",
                    f"{slope / touching:.0f} times",
                    slope / touching >= AIM,
                ),
                *(
                    Target(
                        f"{pairs.what} through a door, beside without",
                        f"<= {AIM_OF_DOORS}",
                        f"{pairs.ratio:.2f}",
                        pairs.ratio <= AIM_OF_DOORS,
                    )
                    for pairs in doors
                ),
            ],
            rows=[
                Rows(component.rpartition("#")[2], smallest.results[component], number)
                for component, number in sorted(_by_component(other).items())
            ],
            notes=[
                f"{one.triples:,} triples: {one.stored:,} stored rows,"
                f" {100 * one.stored / one.triples:.0f} % of the graph;"
                f" {one.results.total():,} results."
                for one in measured
            ]
            + [
                "The column of Spark has the results of pySHACL.",
                "Through a door and without: the same change sets in turn, medians of the ratios.",
            ],
            machine=machine(),
        )

    def _measured(self, things: int) -> _Measured:
        self.progress(f"{things:,} things")
        with _Campus.opened(things, f"shapes{things}") as campus:
            stored = campus.project.open_lake().rows("embeddings/campus").num_rows
            touching, untouched = list[float](), list[float]()
            for number, thing in enumerate(_sample(things, 2 * CHANGE_SETS)):
                seconds = campus.change([_RELABELLED if number % 2 else _NOTED], [thing])
                if number > 1:
                    (touching if number % 2 else untouched).append(seconds)
            results = _write_state(campus.project, campus.folder / "state.nt")
            first, triples = campus.first, campus.triples
            return _Measured(campus.folder, triples, first, touching, untouched, stored, results)

    def _doors(self, things: int) -> Sequence[_Pairs]:
        """Change sets by two projects that are open together, one of them with a door."""
        self.progress(f"{things:,} things, with a door and without")
        with (
            _Campus.opened(things, "shapes_without_door") as without,
            _Campus.opened(things, "shapes_with_door") as door,
        ):
            door.add_door()
            chosen = cycle(_sample(things, min(things, 2 * PAIRS + PAIRS_OF_MANY * MANY)))
            kinds = [
                (_Pairs("a change set", things), [_RELABELLED], PAIRS),
                (_Pairs("a change set that touches no shape", things), [_NOTED], PAIRS),
                (
                    _Pairs(f"{MANY:,} change sets at once", things),
                    [_RELABELLED, _NOTED] * (MANY // 2),
                    PAIRS_OF_MANY,
                ),
            ]
            for pairs, texts, rounds in kinds:
                for number in range(rounds):
                    about = [*islice(chosen, len(texts))]
                    # Which of them is first makes a difference.
                    sides = (without, door) if number % 2 else (door, without)
                    seconds = {campus: campus.change(texts, about) for campus in sides}
                    pairs.add(seconds[without], seconds[door])
        return [pairs for pairs, _, _ in kinds]

    def _other(self, measured: _Measured) -> Validation:
        self.progress("pySHACL")
        folder = measured.folder
        shapes, data = (folder / name for name in ("shapes/campus.ttl", "state.nt"))
        with PySHACL() as process:
            return process.validation(shapes.read_text(), data.read_text())


@dataclass(eq=False, slots=True)
class _Campus:
    """A project whose report is published; `first` is what that took, in seconds."""

    folder: Path
    project: Project
    things: int
    triples: int
    first: float = 0
    _deliveries: int = 0

    @classmethod
    @contextmanager
    def opened(cls, things: int, name: str) -> Iterator[Self]:
        """A new one, until it is closed."""
        folder = WORK / name
        changes = {"name": "p", "kind": "patches", "location": "changes"}
        made = project(folder, folder / "queries", changes)
        for part in ("queries", "shapes", "changes"):
            (folder / part).mkdir()
        base = [f"A {triple}\n" for triple in _campus(things)]
        (folder / "changes" / "0.rdfp").write_text(f"TX .\n{''.join(base)}TC .\n")
        (folder / "shapes" / "campus.ttl").write_text(shapes_text(""))
        with Project(Settings.load(made.config)) as opened:
            campus = cls(folder, opened, things, len(base))
            campus.first = _run(opened)
            yield campus

    def add_door(self) -> None:
        """Let its shapes have a door."""
        (self.folder / "shapes" / "campus.ttl").write_text(shapes_text("#+ door: {}\n"))
        _run(self.project)

    def change(self, texts: Sequence[str], about: Sequence[int]) -> float:
        """Deliver a change set of each text about a thing; gives the seconds of the run."""
        self._deliveries += 1
        for number, (text, thing) in enumerate(zip(texts, about, strict=True)):
            lines = text.format(thing=_thing(thing), iri=_IRI, number=thing)
            file = f"1{self._deliveries:03}{number:04}.rdfp"
            (self.folder / "changes" / file).write_text(f"TX .\n{lines}TC .\n")
        return _run(self.project)


@dataclass(slots=True)
class _Pairs:
    """Seconds of the same change sets, without a door and through one."""

    what: str
    things: int
    without: list[float] = field(default_factory=list)
    through: list[float] = field(default_factory=list)

    def add(self, without: float, through: float) -> None:
        """Take the seconds of a pair."""
        self.without.append(without)
        self.through.append(through)

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        pairs = zip(self.without, self.through, strict=True)
        return median(through / without for without, through in pairs)

    def timings(self) -> Iterator[Timing]:
        """Those of both."""
        for how, seconds in (("without a door", self.without), ("through a door", self.through)):
            what = f"{self.things:,} things, {self.what} {how}"
            yield Timing(what, "warm", tuple(seconds))


@dataclass(frozen=True, slots=True)
class _Measured:
    """A campus: seconds of the first run, of change sets that touch all shapes, and none."""

    folder: Path
    triples: int
    first: float
    touching: Sequence[float]
    untouched: Sequence[float]
    stored: int
    results: Counter[str]

    def timings(self) -> Iterator[Timing]:
        """Those of the runs."""
        of = f"{self.triples:,} triples"
        yield Timing(f"{of}, first run", "cold", (self.first,))
        yield Timing(f"{of}, a change that touches all shapes", "warm", tuple(self.touching))
        yield Timing(f"{of}, a change that touches none", "warm", tuple(self.untouched))


def _run(project_: Project) -> float:
    """The seconds of a run, from the change set to the published report."""
    started = time.perf_counter()
    run_stages(project_)
    return time.perf_counter() - started


def _write_state(project_: Project, file: Path) -> Counter[str]:
    """Write the graph as it is now; gives how many results each component has."""
    lake = project_.open_lake()

    def held(table: str, *columns: str) -> list[tuple[str, ...]]:
        rows = lake.rows(table, columns=[*columns, "weight"]).group_by([*columns])
        summed = rows.aggregate([("weight", "sum")]).filter(pc.field("weight_sum") > 0)
        return [tuple(row[name] for name in columns) for row in summed.to_pylist()]

    triples = held("triples", "subject", "predicate", "object")
    file.write_text("".join(f"{' '.join(triple)} .\n" for triple in triples))
    report = lake.rows("answers/campus", columns=["source_constraint_component", "weight"])
    results: Counter[str] = Counter()
    for row in report.to_pylist():
        results[row["source_constraint_component"][1:-1]] += row["weight"]
    return +results


def _by_component(validation: Validation) -> Counter[str]:
    counts: Counter[str] = Counter()
    for result, number in validation.results.items():
        assert result.component is not None
        counts[result.component[1:-1]] += number
    return counts


def _sample(things: int, size: int) -> Sequence[int]:
    return random.Random(2).sample(range(things), size)


def _thing(number: int) -> str:
    return f"<{_IRI}Kind{number % _KINDS}/{number}>"


def _campus(things: int) -> Iterator[str]:
    """The triples; one thing of two hundred has no label, which is a result."""
    rng = random.Random(1)
    for number in range(things):
        thing, kind = _thing(number), number % _KINDS
        yield f"{thing} {_TYPE} <{_IRI}Kind{kind}> ."
        if rng.random() > 0.005:
            yield f'{thing} <{_IRI}label> "thing {number}" .'
        yield f'{thing} <{_IRI}code> "{kind}-{number}" .'
        yield f'{thing} <{_IRI}size> "{rng.randint(1, 500)}"^^<{_XSD}integer> .'
        other = rng.randrange(things) // _KINDS * _KINDS + (number + 1) % _KINDS
        yield f"{thing} <{_IRI}partOf> {_thing(other)} ."
        for _ in range(rng.randrange(3)):
            near = rng.randrange(things) // _KINDS * _KINDS + kind
            yield f"{thing} <{_IRI}near> {_thing(near)} ."


def shapes_text(keys: str) -> str:
    """The shapes of all kinds, with further front matter."""
    shapes = [
        f"""\
:Kind{kind}Shape a sh:NodeShape ; sh:targetClass :Kind{kind} ;
  sh:property [ sh:path :label ; sh:minCount 1 ; sh:maxCount 1 ; sh:datatype xsd:string ] ;
  sh:property [ sh:path :code ; sh:minCount 1 ; sh:maxCount 1 ; sh:pattern "^{kind}-[0-9]+$" ] ;
  sh:property [ sh:path :size ; sh:maxCount 1 ; sh:datatype xsd:integer ;
    sh:minInclusive 1 ; sh:maxInclusive 500 ] ;
  sh:property [ sh:path :partOf ; sh:minCount 1 ; sh:class :Kind{(kind + 1) % _KINDS} ] ;
  sh:property [ sh:path :near ; sh:node [ a sh:NodeShape ;
    sh:property [ sh:path :label ; sh:minCount 1 ] ] ] .
"""
        for kind in range(_KINDS)
    ]
    return f"#+ subclasses: shapes\n{keys}{_PREFIXES}{''.join(shapes)}"


_PREFIXES = f"""\
@prefix : <{_IRI}> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <{_XSD}> .
"""
_NOTED = 'A {thing} <{iri}note> "seen" .\n'
_RELABELLED = """\
D {thing} <{iri}label> "thing {number}" .
A {thing} <{iri}label> "thing number {number}" .
"""
