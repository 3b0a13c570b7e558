"""The neighbourhood or the whole graph: what the rule chooses, beside the better choice.

Ranges of change sets of several graphs are ingested after the first answers; each query by itself,
and all in one run, are maintained over each range by both ways, on copies of one lake. The
thresholds were chosen on nomisma and the generated graph; schema.org, once and twenty times, was
not looked at for it.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from bench.both_ways import (
    LOOKED_UP,
    TOGETHER,
    WHOLE,
    Way,
    WayRun,
    maintained,
    names_of,
    take,
)
from bench.costs import OperandChange, UnitCosts, answer_change, direct_cost, incremental_cost
from bench.graph import Graph, patch, write_graph
from bench.graph import source as generated_source
from bench.nomisma import BASE_ID, SPARK_ALONE
from bench.places import QUERIES, WORK, Project, patches, project, shared_data
from bench.processes import RunFailed
from bench.regret import Case, Rule, regret
from bench.results import Scenario, Target, Timing, machine
from bench.session import measure
from weir.engine.thresholds import Thresholds, reason_for_whole
from weir.ingest.stage import ingest_changes
from weir.project import Project as OpenProject
from weir.settings import Limits
from weir.stage import new_run_id

FULL_REPEATS = 3
GENERATED_QUADS, PER_EPOCH = 1_000_000, 2_000
SCHEMA_ORG_QUERIES = Path(__file__).resolve().parent / "queries_schemaorg"
AIM_SHARE, AIM_RIGHT = 0.05, 0.90
FORMER_BULK = 200_000
"""Changes beyond which the whole graph was read before the rule looked at its size."""
SPARK = "nomisma, Spark alone"


@dataclass(frozen=True, slots=True)
class Subject:
    """A graph whose history is cut into ranges.

    Attributes:
        title: in the tables.
        queries: the folder of the queries.
        source: its declaration, but for the location of the change sets.
        change_sets: in order.
        ends: how many of them each range has; all ranges begin at the first.
        begin: writes the graph into a lake, if the source does not have it as its base.
        alone: whether each query is maintained by itself, too.
        settings: further WEIR_* variables.
    """

    title: str
    queries: Path
    source: Mapping[str, Any]
    change_sets: Sequence[Path]
    ends: Sequence[int]
    begin: Callable[[Path], None] = lambda _: None
    alone: bool = True
    settings: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Choices:
    """The scenario.

    Args:
        repeats: how often each query is maintained over each range by each way.
        progress: receives a line per step.
        subjects: the graphs; by default all.
    """

    repeats: int
    progress: Callable[[str], None]
    subjects: Sequence[Subject] | None = None

    def run(self) -> Scenario:
        """Measure all graphs, and give the regret of the rule and of others."""
        subjects = all_subjects() if self.subjects is None else self.subjects
        cases = [case for subject in subjects for case in self._cases(subject)]
        return Scenario(
            name="choices",
            title="the neighbourhood or the whole graph: what choosing costs beyond the better way",
            sizes={"repeats": self.repeats, "cases": len(cases)},
            full=self.subjects is None and self.repeats >= FULL_REPEATS,
            timings=tuple(_timings(cases)),
            targets=tuple(_targets(cases)),
            notes=_NOTES,
            machine=machine(),
            summary=(_HEAD, *_lines(cases)),
        )

    def _cases(self, subject: Subject) -> list[Case]:
        folder = WORK / "choices" / subject.title.replace(" ", "_").replace(",", "")
        self.progress(f"{subject.title}: the first answers")
        lake = self._begun(subject, folder).lake
        cases: list[Case] = []
        for end in subject.ends:
            lake = self._ingested(subject, folder, lake, end).lake
            self.progress(f"{subject.title}: {end} change sets")
            for together in (False, True) if subject.alone else (True,):
                runs, last = self._both_ways(subject, folder, lake, together=together)
                answers = partial(_answer_change, last.lake, names_of(subject.queries))
                cases += cases_of(subject.title, _quads(lake), answers, runs)
        return cases

    def _both_ways(
        self, subject: Subject, folder: Path, lake: Path, *, together: bool
    ) -> tuple[list[tuple[Way, list[WayRun]]], Project]:
        """The runs by their way, and the project of the last ones."""
        ways: list[Way] = [LOOKED_UP, WHOLE]
        copies = [
            (way, self._copy(subject, folder / f"{way}{number}", lake, way))
            # The first copy of each way warms up the process, and does not count.
            for number in range(self.repeats + 1)
            for way in (ways if number % 2 else reversed(ways))
        ]
        projects = [made for _, made in copies]
        runs = maintained(projects, subject.queries, together=together, settings=subject.settings)
        measured = [(way, of) for (way, _), of in zip(copies, runs, strict=True)]
        return measured[2:], projects[-1]

    def _begun(self, subject: Subject, folder: Path) -> Project:
        """A lake with the graph and the first answers."""
        made = project(folder / "begun", subject.queries, _source(subject, folder / "none", []))
        subject.begin(made.lake)
        measure([made])
        return made

    def _ingested(self, subject: Subject, folder: Path, lake: Path, end: int) -> Project:
        """A copy of a lake with the change sets up to the `end`-th."""
        location = folder / f"changes{end}"
        source = _source(subject, location, subject.change_sets[:end])
        made = project(folder / f"ingested{end}", subject.queries, source, lake=lake)
        with OpenProject.load(made.config) as opened:
            errors = ingest_changes(opened, new_run_id("ingest")).errors
        if errors:
            raise errors[0]
        return made

    def _copy(self, subject: Subject, folder: Path, lake: Path, way: Way) -> Project:
        source = _source(subject, folder.parent / "none", [])
        return take(project(folder, subject.queries, source, lake=lake), way)


def _source(subject: Subject, location: Path, change_sets: Iterable[Path]) -> dict[str, Any]:
    return {**subject.source, "location": str(patches(location, change_sets))}


def _answer_change(lake: Path, names: Sequence[str], query: str) -> OperandChange:
    """How the answer of a query changed since the first epoch, or those of all together."""
    changes = [answer_change(lake, name, 1) for name in (names if query == TOGETHER else (query,))]
    return OperandChange(
        sum(change.after for change in changes),
        sum(change.vanished for change in changes),
        sum(change.appeared for change in changes),
    )


def _quads(lake: Path) -> int:
    """The quads of the graph."""
    counts = DeltaTable(lake / "transactions").to_pyarrow_table(columns=["inserted", "deleted"])
    return sum(row["inserted"] - row["deleted"] for row in counts.to_pylist())


def cases_of(
    graph: str,
    quads: int,
    answers: Callable[[str], OperandChange],
    runs: Sequence[tuple[Way, Sequence[WayRun]]],
) -> list[Case]:
    """A case per query that the changes touch: the least seconds of the repeats by each way.

    Args:
        graph: its title.
        quads: that it has.
        answers: how the answer of a query changed.
        runs: by the way they took.

    Raises:
        RunFailed: a run did not take the way that it was to take.
    """
    seconds: dict[str, dict[Way, list[float]]] = {}
    changes: dict[str, int] = {}
    for way, of_queries in runs:
        for run in of_queries:
            if not run.changes:
                continue
            if way == WHOLE and run.mode == "incremental":
                raise RunFailed(f"{graph}, {run.query}: the whole graph was not read")
            seconds.setdefault(run.query, {}).setdefault(way, []).append(run.processor)
            changes[run.query] = run.changes
    return [
        Case(
            graph,
            query,
            changes[query],
            quads,
            answers(query),
            min(ways[LOOKED_UP]),
            min(ways[WHOLE]),
        )
        for query, ways in seconds.items()
    ]


def by_limits(limits: Limits) -> Rule:
    """What maintain chooses with these settings."""

    def rule(case: Case) -> bool:
        thresholds = Thresholds(
            case.quads,
            limits.bulk_share,
            limits.bulk_quads,
            limits.neighbourhood_rows,
            limits.driver_rows,
        )
        return reason_for_whole(case.changes, thresholds) is not None

    return rule


def by_paper(case: Case) -> bool:
    """Whether the projection onto the answer costs less from scratch by the formulas of paper 001.

    They need the deltas, which no rule knows before it has chosen. Mappings are joined, so none is
    kept by another one, and each that appears is new.
    """
    incremental = incremental_cost(case.answer, 0, case.answer.appeared, UnitCosts())
    return direct_cost(case.answer, UnitCosts()) < incremental


_DEFAULTS = Limits()
THE_RULE = f"share {_DEFAULTS.bulk_share:g}, at least {_DEFAULTS.bulk_quads:,} quads"
RULES: Mapping[str, Rule] = {
    THE_RULE: by_limits(_DEFAULTS),
    f"share {_DEFAULTS.bulk_share:g} alone": by_limits(Limits(bulk_quads=0)),
    "share 0.01": by_limits(Limits(bulk_share=0.01)),
    "share 0.1": by_limits(Limits(bulk_share=0.1)),
    f"more than {FORMER_BULK:,} changes": lambda case: case.changes > FORMER_BULK,
    "001, if it knew the deltas": by_paper,
    "always look up": lambda _: False,
    "always the whole": lambda _: True,
}

_HEAD = (
    "graph",
    "rule",
    "cases",
    "regret, %",
    "right, %",
    "clearly wrong",
    "worst, s",
    "in all, s",
)


def _by_graph(cases: Sequence[Case]) -> dict[str, list[Case]]:
    by_graph: dict[str, list[Case]] = {}
    for case in cases:
        by_graph.setdefault(case.graph, []).append(case)
    return by_graph


def _lines(cases: Sequence[Case]) -> list[tuple[str, ...]]:
    lines: list[tuple[str, ...]] = []
    for graph, own in _by_graph(cases).items():
        for name, rule in RULES.items():
            result = regret(own, rule)
            lines.append(
                (
                    graph,
                    name,
                    str(len(own)),
                    f"{100 * result.share:.1f}",
                    f"{100 * result.right:.0f}",
                    str(result.clearly_wrong),
                    f"{result.worst:.2f}",
                    f"{sum(case.cost(rule) for case in own):.1f}",
                )
            )
    return lines


def _targets(cases: Sequence[Case]) -> list[Target]:
    targets = []
    for graph, own in _by_graph(cases).items():
        result = regret(own, RULES[THE_RULE])
        met = result.share <= AIM_SHARE and result.right >= AIM_RIGHT
        aim = f"<= {100 * AIM_SHARE:.0f} % regret, >= {100 * AIM_RIGHT:.0f} % right"
        reached = f"{100 * result.share:.1f} %, {100 * result.right:.0f} %"
        targets.append(Target(f"incremental or full, {graph}", aim, reached, met))
    return targets


def _timings(cases: Sequence[Case]) -> list[Timing]:
    """Both ways of each case."""
    return [
        Timing(f"{case.query}, {case.changes:,} changes, {way}", "", (seconds,), case.graph)
        for case in cases
        for way, seconds in ((LOOKED_UP, case.looked_up), (WHOLE, case.whole))
    ]


_NOTES = (
    "A case is a query, or all of them in one run, and a range of change sets; seconds are those of"
    " the processor, JVM included, for the whole stage maintain, the least of the repeats.",
    "Regret: seconds beyond the better way, relative to the seconds of the better ways. Right: at"
    " most 1.1 times the better way; clearly wrong: more than 1.25 times.",
    "The thresholds were chosen on nomisma and the generated graph. schema.org was not looked at.",
)


def all_subjects() -> list[Subject]:
    """nomisma, a generated graph, schema.org once and twenty times, nomisma by Spark alone."""
    return [
        nomisma_subject(),
        generated_subject(GENERATED_QUADS, 60),
        _schema_org(1),
        _schema_org(20),
        _nomisma_on_spark(),
    ]


def _patches_with_base(base: Path, base_id: str) -> dict[str, Any]:
    return {"name": "history", "kind": "patches", "base": str(base), "base_id": base_id}


def nomisma_subject() -> Subject:
    """The base of nomisma and its 203 change sets, with the ten queries."""
    data = shared_data() / "nomisma"
    return Subject(
        "nomisma",
        data / "queries",
        _patches_with_base(data / "base.nq.gz", BASE_ID),
        sorted((data / "changes").iterdir()),
        (1, 2, 3, 20, 35, 100, 119, 203),
    )


def _nomisma_on_spark() -> Subject:
    nomisma = nomisma_subject()
    return Subject(
        SPARK,
        nomisma.queries,
        nomisma.source,
        nomisma.change_sets,
        (1, 2, 3, 20, 35, 203),
        alone=False,
        settings=SPARK_ALONE,
    )


def generated_subject(quads: int, change_sets: int) -> Subject:
    """A generated graph, and change sets of `PER_EPOCH` changes."""
    graph, folder = Graph(quads), patches(WORK / f"generated_changes{quads}", [])
    files = []
    for number, lines in enumerate(graph.changes([PER_EPOCH] * change_sets), start=1):
        file = folder / f"{number:04d}.rdfp"
        file.write_text(patch(number, lines))
        files.append(file)
    return Subject(
        "generated",
        QUERIES,
        generated_source(folder),
        files,
        (1, 3, 6, 10, 20, 60),
        lambda lake: write_graph(lake, graph),
    )


def _schema_org(copies: int) -> Subject:
    """The vocabulary as often as `copies` says, each with IRIs of its own."""
    data = shared_data() / "schemaorg"
    changes = sorted((data / "changes").iterdir())
    base = data / "base.nq.gz"
    if copies > 1:
        folder = patches(WORK / "choices" / f"schemaorg{copies}", [])
        base, *changes = [_multiplied(file, folder, copies) for file in (base, *changes)]
    table = (data / "changes.tsv").read_text(encoding="utf-8").splitlines()
    title = "schema.org" if copies == 1 else f"{copies} times schema.org"
    return Subject(
        title,
        SCHEMA_ORG_QUERIES,
        _patches_with_base(base, table[1].rpartition("\t")[2]),
        changes,
        (2, 5, 13, 24, 27, 28, 86, 145),
    )


def _multiplied(file: Path, folder: Path, copies: int) -> Path:
    """A file of quads or changes whose lines are repeated with other subjects and objects."""
    written = folder / file.name
    with (
        gzip.open(file, "rt", encoding="utf-8", newline="\n") as lines,
        gzip.open(written, "wt", encoding="utf-8", newline="\n", compresslevel=1) as out,
    ):
        for line in lines:
            if line.startswith(("H ", "TX", "TC")):
                out.write(line)
            else:
                out.writelines(_renamed(line, number) for number in range(copies))
    return written


def _renamed(line: str, number: int) -> str:
    """A line of a change set or of N-Quads with the terms of copy `number`."""
    letter, rest = (line[:2], line[2:]) if line[:2] in ("A ", "D ") else ("", line)
    subject, predicate, others = rest.split(" ", 2)
    object_, graph = others[: others.rindex(" <")], others[others.rindex(" <") :]
    own = (
        term.replace("://schema.org/", f"://schema.org/{number}/") if term[0] == "<" else term
        for term in (subject, object_)
    )
    subject, object_ = own
    return f"{letter}{subject} {predicate} {object_}{graph}"
