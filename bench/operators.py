"""Paths, OPTIONAL, NOT EXISTS, groups, LIMIT: what each costs per epoch, beside recomputing it.

Every run of the maintain stage is over one epoch and for one query. A query is measured on the last
change sets of the history that touch one of its predicates, then on single triples that its answer
depends on, each removed and inserted again; last, a copy of it is registered and computed from
scratch by the same engine. All sides must find the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from deltalake import DeltaTable

from bench.comparison import by_oxigraph
from bench.histories import BrickHistory, History, NomismaHistory, Singles
from bench.oracle import Oracle, published_answer
from bench.oxigraph import write_head
from bench.places import WORK, Project, patches, project
from bench.prepared import form_of, is_ready, ready
from bench.processes import RunFailed
from bench.results import Rows, Scenario, Target, Temperature, Timing, machine
from bench.schedules import EPOCH, FROM_SCRATCH, SINGLE, history_steps, single_steps
from bench.steps import Ingest, Run, copies_of, run_steps
from weir.definitions.catalog import Catalog
from weir.definitions.kinds import QUERY
from weir.plan.lookups import predicates

QUERIES = Path(__file__).resolve().parent / "queries_operators"
CHANGE_SETS, TRIPLES, FULL_REPEATS = 20, 5, 3
FACTOR = 5.0
"""A change of one triple may cost at most so many times what it costs the yardstick."""
OXIGRAPH = "pyoxigraph, load and evaluation"
_DELTAS = ("incremental", "full")
"""The modes that give the changes of an answer; maintain chooses one of them."""
_TITLES = {
    EPOCH: "an epoch of the history, Weir",
    SINGLE: "a single triple, Weir",
    FROM_SCRATCH: "full recomputation, Weir",
}


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found over one history.

    Attributes:
        history: which.
        seconds: by what a run measures, and query.
        untouched: seconds of runs that no change touched.
        rows: of the answers.
    """

    history: History
    seconds: Mapping[str, Mapping[str, Sequence[float]]]
    untouched: Sequence[float]
    rows: Sequence[Rows]


@dataclass(frozen=True, slots=True)
class Operators:
    """The scenario.

    Args:
        repeats: how often each query is computed from scratch.
        change_sets: on how many of the history a query is measured.
        progress: receives a line per step.
        histories: over which.
        triples: how many are removed and inserted again, per query.
    """

    repeats: int
    change_sets: int
    progress: Callable[[str], None]
    histories: Sequence[History] = (NomismaHistory(), BrickHistory())
    triples: int = TRIPLES

    def run(self) -> Scenario:
        """Measure all queries of all histories."""
        measured = [self._measure(history) for history in self.histories]
        return Scenario(
            name="operators",
            title="paths, OPTIONAL, NOT EXISTS, groups, LIMIT: one query, one epoch per run",
            sizes={
                "change sets": self.change_sets,
                "triples": self.triples,
                "repeats": self.repeats,
            },
            full=(self.change_sets, self.triples) == (CHANGE_SETS, TRIPLES)
            and self.repeats >= FULL_REPEATS,
            timings=tuple(timings(measured)),
            targets=(target(measured),),
            rows=tuple(rows for of_history in measured for rows in of_history.rows),
            notes=_NOTES,
            machine=machine(),
            summary=(_HEAD, *(line for of_history in measured for line in _lines(of_history))),
        )

    def _measure(self, history: History) -> Measured:
        queries, folder = QUERIES / history.name, WORK / "operators" / history.name
        changes = history.changes()
        touching = self._touching(history, queries)
        first = min(number for numbers in touching.values() for number in numbers)
        start = self._prepared(history, folder, changes[:first])
        location = patches(folder / "changes", changes[:first])
        made = project(folder / "project", queries, history.source(location), lake=start.lake)

        self.progress(f"{history.title}: {len(touching)} queries, epoch by epoch")
        runs = run_steps(made, location, queries, history_steps(touching, changes, first))

        self.progress(f"{history.title}: pyoxigraph")
        beside = by_oxigraph(made, queries, self.repeats)
        write_head(made.lake / "triples", folder / "head.nt")
        oracle = Oracle(folder / "head.nt")
        singles = self._singles(history, made, oracle, queries)

        self.progress(f"{history.title}: changes of one triple, and all from scratch")
        epochs = _epochs(made)
        steps = single_steps(singles, [*touching], self.repeats)
        runs += run_steps(made, location, queries, steps)
        if any(rows != 1 for rows in _epochs(made)[len(epochs) + len(singles.first) :]):
            raise RunFailed(f"{history.title}: a change of one triple was none")

        load = next(timing.median for timing in beside.timings if timing.what == "load")
        evaluated = {timing.what.strip(): [load + timing.median] for timing in beside.timings}
        return Measured(
            history,
            {**measured_seconds(runs), OXIGRAPH: {query: evaluated[query] for query in touching}},
            [run.seconds for run in runs if run.mode == "untouched"],
            [compared(made, oracle, queries / f"{query}.rq") for query in touching],
        )

    def _touching(self, history: History, queries: Path) -> dict[str, list[int]]:
        """By query the last change sets that touch it; the first is what all begin with."""
        changes = history.changes()
        touching = {}
        for query in Catalog.of_folders({QUERY: queries}).members:
            known = predicates(query.body.components)
            assert known is not None, "the patterns have constant predicates"
            numbers: list[int] = []
            for number in range(len(changes) - 1, 0, -1):
                if len(numbers) == self.change_sets:
                    break
                if history.touches(changes[number], known):
                    numbers.insert(0, number)
            touching[query.name] = numbers
        return touching

    def _prepared(self, history: History, folder: Path, changes: Sequence[Path]) -> Project:
        """The lake before the first change set that is measured; no query has an answer yet."""
        made, form = (
            Project(folder / "prepared"),
            form_of(None, *(change.name for change in changes)),
        )
        if not is_ready(made, form):
            self.progress(f"{history.title}: preparing the lake, {len(changes)} change sets")
            location = patches(folder / "changes", changes)
            made = project(folder / "prepared", QUERIES, history.source(location))
            run_steps(made, location, QUERIES, [Ingest(())])
            ready(made, form)
        return made

    def _singles(self, history: History, made: Project, oracle: Oracle, queries: Path) -> Singles:
        """Changes of one triple, query after query in rounds; the first round comes twice."""
        chosen = [
            oracle.triples_that_matter(
                query.text,
                predicates(query.body.components) or frozenset(),
                self.triples,
                lambda triple: history.is_usable(made.lake, triple),
            )
            for query in Catalog.of_folders({QUERY: queries}).members
        ]
        rounds = [*zip(*chosen, strict=True)]
        folder = patches(made.folder / "singles", [])
        triples = [
            triple for triples_of_round in (rounds[0], *rounds) for triple in triples_of_round
        ]
        return history.singles(folder, made.lake, triples)


def measured_seconds(runs: Sequence[Run]) -> dict[str, dict[str, list[float]]]:
    """Seconds by what runs measure and query; without runs that had nothing to do.

    Raises:
        RunFailed: a run was not what is to be measured.
    """
    seconds: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        if not run.measured_as or run.mode == "untouched":
            continue
        if run.mode not in (("initial",) if run.measured_as == FROM_SCRATCH else _DELTAS):
            raise RunFailed(f"{run.query}: a run for {run.measured_as} was {run.mode or 'nothing'}")
        by_query = seconds.setdefault(run.measured_as, {})
        by_query.setdefault(run.query.partition("_again")[0], []).append(run.seconds)
    return seconds


def compared(made: Project, oracle: Oracle, query: Path) -> Rows:
    """The published answer, the one computed from scratch, and pyoxigraph's, row by row."""
    expected = oracle.answer(query.read_text("utf-8"))
    (again,) = copies_of(query.stem, 1)
    weir, scratch = (published_answer(made.lake, name) for name in (query.stem, again))
    differing = sum(
        ((expected - answer) + (answer - expected)).total() for answer in (weir, scratch)
    )
    return Rows(query.stem, weir.total(), oxigraph=expected.total(), differing=differing)


def timings(measured: Sequence[Measured]) -> Iterator[Timing]:
    """All of them, in groups of what was measured."""
    for kind in (EPOCH, SINGLE, FROM_SCRATCH, OXIGRAPH):
        for of_history in measured:
            temperature: Temperature = "" if kind == OXIGRAPH else "warm"
            for query, seconds in of_history.seconds[kind].items():
                yield Timing(query, temperature, tuple(seconds), _TITLES.get(kind, kind))
    if untouched := tuple(seconds for of_history in measured for seconds in of_history.untouched):
        yield Timing("a run that no change touches", "warm", untouched)


def factors(measured: Measured) -> dict[str, float]:
    """By query: a change of one triple, as a multiple of what it costs the yardstick."""
    medians = {query: median(seconds) for query, seconds in measured.seconds[SINGLE].items()}
    return {query: own / medians[measured.history.yardstick] for query, own in medians.items()}


def target(measured: Sequence[Measured]) -> Target:
    """The largest of the factors."""
    largest, query = max(
        (f, query) for of_history in measured for query, f in factors(of_history).items()
    )
    return Target(
        "a change of one triple, relative to a query of two patterns",
        f"<= {FACTOR:.0f} times",
        f"{largest:.1f} times ({query})",
        largest <= FACTOR,
    )


_HEAD = (
    "query",
    "epochs",
    "an epoch, s",
    "a triple, s",
    "relative to the BGP",
    "from scratch, s",
    "from scratch / a triple",
    "pyoxigraph, s",
    "rows",
)
_NOTES = (
    "A run is the whole maintain stage for one query: watermarks, changes, computation, commits. An"
    " epoch: median over the last change sets that touch the query, one per run. A triple: median"
    " over triples that the answer depends on, each removed and inserted again. Relative to the"
    " BGP: divided by that of the query of two patterns. From scratch: a copy of the query,"
    " registered and computed by the same engine. pyoxigraph: load of the head and one evaluation.",
    "Every stage reads the ledger, so its files are merged before each run is measured.",
)


def _lines(measured: Measured) -> Iterator[tuple[str, ...]]:
    times = factors(measured)
    for rows in measured.rows:
        query = rows.query
        epoch, single, scratch, beside = (
            median(measured.seconds[kind][query])
            for kind in (EPOCH, SINGLE, FROM_SCRATCH, OXIGRAPH)
        )
        yield (
            query,
            str(len(measured.seconds[EPOCH][query])),
            f"{epoch:.2f}",
            f"{single:.2f}",
            f"{times[query]:.1f}",
            f"{scratch:.2f}",
            f"{scratch / single:.1f}",
            f"{beside:.2f}",
            f"{rows.weir:,}",
        )


def _epochs(made: Project) -> list[int]:
    """How many quads each epoch changed."""
    table = DeltaTable(made.lake / "transactions").to_pyarrow_dataset().to_table()
    return [row["inserted"] + row["deleted"] for row in table.sort_by("epoch").to_pylist()]
