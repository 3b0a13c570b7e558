"""What is kept per class of query: by Weir, and by a store of all partial matches (paper 000).

Papers 000 and 002 claim that little is cached, and give no figures. Both sides take the same change
sets, one by one; at the end both must have the same answer.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from bench.choices import Subject, generated_subject, nomisma_subject
from bench.oracle import canonical, published_answer
from bench.partial_matches import Kept, Solution, Store, Triple, patterns_of, store_of
from bench.places import WORK, Project, patches, project
from bench.processes import RunFailed
from bench.results import Scenario, machine
from bench.session import measure
from bench.steps import Ingest, Maintain, Publish, Step, run_steps
from weir.sparql.algebra.patterns import Bgp
from weir.sparql.algebra.patterns import Project as Projection
from weir.sparql.algebra.queries import Ask
from weir.sparql.frontend.translate import translate

QUERIES = Path(__file__).resolve().parent / "queries_classes"
CLASSES = ("ground", "star", "loosely_connected", "connected")
CHANGE_SETS = 20
FULL_QUADS = 1_000_000
_TOUCHED = "a change set that touches the query"


@dataclass(frozen=True, slots=True)
class Side:
    """What one side keeps for a query, and what a change set costs it.

    Attributes:
        rows: that are kept.
        size: of them as Parquet, in bytes.
        seconds: of the clock per change set that touches the query; None if none did.
    """

    rows: int
    size: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Classes:
    """The scenario.

    Args:
        change_sets: how many each graph gets.
        quads: of the generated graph.
        progress: receives a line per step.
        subjects: the graphs, by the folder of their queries; by default nomisma and a generated
            one.
    """

    change_sets: int
    quads: int
    progress: Callable[[str], None]
    subjects: Mapping[str, Subject] | None = None

    def run(self) -> Scenario:
        """Measure all graphs.

        Raises:
            RunFailed: the sides have different answers.
        """
        subjects = self.subjects or {
            "nomisma": nomisma_subject(),
            "generated": generated_subject(self.quads, self.change_sets),
        }
        lines = [line for name, subject in subjects.items() for line in self._lines(name, subject)]
        return Scenario(
            name="classes",
            title="what is kept per class of query, beside a store of all partial matches",
            sizes={"change sets": self.change_sets, "quads of the generated graph": self.quads},
            full=self.subjects is None
            and self.change_sets >= CHANGE_SETS
            and self.quads >= FULL_QUADS,
            notes=_NOTES,
            machine=machine(),
            summary=(_HEAD, *lines),
        )

    def _lines(self, name: str, subject: Subject) -> Iterator[tuple[str, ...]]:
        queries, folder = QUERIES / name, WORK / "classes" / name
        none = patches(folder / "none", [])
        self.progress(f"{subject.title}: the first answers")
        begun = project(folder / "begun", queries, {**subject.source, "location": str(none)})
        subject.begin(begun.lake)
        measure([begun])
        location = patches(folder / "changes", [])
        source = {**subject.source, "location": str(location)}
        made = project(folder / "project", queries, source, lake=begun.lake)
        self.progress(f"{subject.title}: change set by change set")
        runs = run_steps(made, location, queries, _steps(subject, self.change_sets))
        for query in CLASSES:
            touched = [r.seconds for r in runs if r.query == query and r.mode != "untouched"]
            weir = Side(*_embeddings(made, query), median(touched) if touched else None)
            self.progress(f"{subject.title}: {query}, all partial matches")
            store, beside = _partial_matches(made, queries / f"{query}.rq")
            answer = _answer(made, queries / f"{query}.rq", store)
            yield _line(subject.title, query, len(touched), weir, beside, answer)


def _steps(subject: Subject, count: int) -> Iterator[Step]:
    """Each change set is ingested, then each query is maintained."""
    for change_set in subject.change_sets[:count]:
        yield Ingest((change_set,))
        for query in CLASSES:
            yield Maintain(query, _TOUCHED)
    yield Publish(CLASSES)


def _embeddings(made: Project, query: str) -> tuple[int, int]:
    """The rows and the bytes of the data files of an embedding table."""
    table = DeltaTable(made.lake / "embeddings" / query)
    actions = table.get_add_actions(flatten=True)
    files = pa.table(actions).to_pylist()
    return sum(f["num_records"] for f in files), sum(f["size_bytes"] for f in files)


def _partial_matches(made: Project, query: Path) -> tuple[Store, Side]:
    """The store after all epochs of a lake, and what it keeps."""
    patterns = patterns_of(bgp_of(query.read_text(encoding="utf-8")))
    store = store_of(patterns)
    touched: list[float] = []
    for epoch, messages in _messages(made.lake, {pattern.places[1] for pattern in patterns}):
        started = time.perf_counter()
        concerned = [
            (sign, t) for sign, t in messages if any(p.match(t) is not None for p in patterns)
        ]
        for sign, triple in concerned:
            store.apply(sign, triple)
        # The first epoch is the graph.
        if concerned and epoch > 1:
            touched.append(time.perf_counter() - started)
    kept = [*store.kept()]
    return store, Side(len(kept), _parquet_bytes(kept), median(touched) if touched else None)


def _messages(lake: Path, predicates: set[str]) -> Iterator[tuple[int, list[tuple[int, Triple]]]]:
    """By epoch the triples with some predicates that vanish (-1), then those that appear (+1)."""
    columns = ["epoch", "weight", "subject", "predicate", "object"]
    table = DeltaTable(lake / "triples").to_pyarrow_table(
        columns=columns, filters=[("predicate", "in", sorted(predicates))]
    )
    ordered = table.sort_by([("epoch", "ascending"), ("weight", "ascending")])
    rows = zip(*(ordered[name].to_pylist() for name in columns), strict=True)
    for epoch, group in groupby(rows, key=itemgetter(0)):
        yield epoch, [(weight, (s, p, o)) for _, weight, s, p, o in group]


def _parquet_bytes(kept: Sequence[Kept]) -> int:
    """The size of rows as a Parquet file, compressed as those of the lake."""
    width = max(map(len, kept), default=1)
    filled = [(*row, *[None] * (width - len(row))) for row in kept]
    columns = {f"c{i}": pa.array([row[i] for row in filled], pa.string()) for i in range(width)}
    out = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), out, compression="snappy")
    return out.getvalue().size


def _answer(made: Project, query: Path, store: Store) -> int:
    """The rows of the answer, which both sides must have.

    Raises:
        RunFailed: they differ.
    """
    answer = published_answer(made.lake, query.stem)
    rows = Counter(map(_row, store.answers()))
    if isinstance(translate(query.read_text(encoding="utf-8"), "union").form, Ask):
        rows = Counter([(canonical(_TRUE if rows else _FALSE),)])
    if answer != rows:
        differing = ((answer - rows) + (rows - answer)).total()
        raise RunFailed(f"{made.config}: {query.stem}: {differing} rows differ")
    return answer.total()


def _row(solution: Solution) -> tuple[str, ...]:
    return tuple(canonical(term) for _, term in sorted(solution.items()))


def bgp_of(query: str) -> Bgp:
    """The basic graph pattern that a query consists of.

    Raises:
        ValueError: it has something else.
    """
    pattern = translate(query, "union").form.pattern
    while isinstance(pattern, Projection):
        pattern = pattern.pattern
    if not isinstance(pattern, Bgp):
        raise ValueError(f"not a basic graph pattern: {query}")
    return pattern


_BOOLEAN = "^^<http://www.w3.org/2001/XMLSchema#boolean>"
_TRUE, _FALSE = f'"true"{_BOOLEAN}', f'"false"{_BOOLEAN}'
_HEAD = (
    "graph",
    "class",
    "sets",
    "answer",
    "rows kept",
    "all partial matches",
    "KiB kept",
    "all partial matches",
    "s a set",
    "all partial matches",
)


def _line(
    title: str, query: str, touching: int, weir: Side, beside: Side, answer: int
) -> tuple[str, ...]:
    return (
        title,
        query.replace("_", " "),
        str(touching),
        f"{answer:,}",
        f"{weir.rows:,}",
        f"{beside.rows:,}",
        f"{weir.size / 1024:,.1f}",
        f"{beside.size / 1024:,.1f}",
        _seconds(weir),
        _seconds(beside),
    )


def _seconds(side: Side) -> str:
    return "" if side.seconds is None else f"{side.seconds:.4f}"


_NOTES = (
    "Sets: change sets of those given that touch the query; seconds are medians over them, of the"
    " clock. Weir's are the whole stage maintain, with its commit; the other side has all in memory"
    " of Python, and stores nothing.",
    "Weir keeps embeddings, with their history, in Parquet; the bytes of the other side are those"
    " of its rows in one Parquet file. Weir also needs the graph, which is shared by all queries;"
    " the other side needs it too, to know whether a message changes anything.",
    "All partial matches: paper 000, Algorithms 1 to 4; for connected queries the sketch of section"
    " 6.5: the triples of all patterns but the first, an instance per match of the first.",
)
