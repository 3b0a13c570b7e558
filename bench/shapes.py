"""Shapes over a campus of growing size: change sets, beside validating all of it again.

Ten kinds of things with ten shapes of twelve constraints each. The shapes read labels and classes,
so that a label touches all of them; a note touches none.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

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
AIM = 100
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
        measured = [self._measured(things, door=False) for things in sizes]
        with_door = self._measured(sizes[0], door=True)
        other = self._other(measured[0])
        smallest, largest = measured[0], measured[-1]
        touching = median(largest.touching)
        slope = other.clock * largest.triples / smallest.triples
        beside = median(with_door.touching) / median(smallest.touching)
        return Scenario(
            name="shapes",
            title="a campus under ten shapes of twelve constraints each",
            sizes={"triples": largest.triples, "change sets": CHANGE_SETS},
            full=self.things >= FULL_THINGS,
            timings=[
                *(timing for one in measured for timing in one.timings()),
                *with_door.timings(" with a door"),
                Timing("pySHACL, all of it again", "warm", (other.clock,)),
            ],
            targets=[
                Target(
                    f"a change set at {largest.triples:,} triples, beside pySHACL by its slope",
                    f"{AIM} times as fast",
                    f"{slope / touching:.0f} times",
                    slope / touching >= AIM,
                ),
                Target(
                    "a change set through the door, beside without",
                    "1.5",
                    f"{beside:.2f}",
                    beside <= 1.5,
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
            + ["The column of Spark has the results of pySHACL."],
            machine=machine(),
        )

    def _measured(self, things: int, *, door: bool) -> _Measured:
        folder = WORK / f"shapes{things}{'_door' if door else ''}"
        self.progress(f"{things:,} things{', with a door' if door else ''}")
        changes = {"name": "p", "kind": "patches", "location": "changes"}
        made = project(folder, folder / "queries", changes)
        for name in ("queries", "shapes", "changes"):
            (folder / name).mkdir()
        base = [f"A {triple}\n" for triple in _campus(things)]
        (folder / "changes" / "0.rdfp").write_text(f"TX .\n{''.join(base)}TC .\n")
        (folder / "shapes" / "campus.ttl").write_text(shapes_text(""))
        about = random.Random(2).sample(range(things), 2 * CHANGE_SETS)
        touching, untouched = list[float](), list[float]()
        with Project(Settings.load(made.config)) as opened:
            first = _run(opened)
            stored = opened.open_lake().rows("embeddings/campus").num_rows
            if door:
                (folder / "shapes" / "campus.ttl").write_text(shapes_text("#+ door: {}\n"))
                _run(opened)
            for number, thing in enumerate(about):
                lines = [_NOTED, _RELABELLED][number % 2].format(
                    thing=_thing(thing), iri=_IRI, number=thing
                )
                (folder / "changes" / f"1{number:03}.rdfp").write_text(f"TX .\n{lines}TC .\n")
                seconds = _run(opened)
                if number > 1:
                    (touching if number % 2 else untouched).append(seconds)
            results = _write_state(opened, folder / "state.nt")
        return _Measured(folder, len(base), first, touching, untouched, stored, results)

    def _other(self, measured: _Measured) -> Validation:
        self.progress("pySHACL")
        folder = measured.folder
        shapes, data = (folder / name for name in ("shapes/campus.ttl", "state.nt"))
        with PySHACL() as process:
            return process.validation(shapes.read_text(), data.read_text())


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

    def timings(self, with_door: str = "") -> Iterator[Timing]:
        """Those of the runs."""
        of = f"{self.triples:,} triples{with_door}"
        if not with_door:
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
