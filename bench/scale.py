"""The same changes on generated graphs of growing size: what grows, and what recomputing costs.

The base is not parsed: its rows are written into the tables directly, sorted and in several files,
as an ingest would have left them. The first answers are computed by a real run, the changes come in
as patches through all stages, one change set a run, on one lake: a run finds what the one before it
left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from deltalake import DeltaTable

from bench.comparison import FULL, all_queries, by_oxigraph, count_rows, full_timings
from bench.graph import Graph, patch, source, write_graph
from bench.places import QUERIES, WORK, Project, files_of, patches, project
from bench.recompute import COMPILED, DUCKDB, INTERPRETED
from bench.results import Rows, Scenario, Target, Timing, machine, seconds_text
from bench.session import MeasuredRun, measure

SIZES = (160_000, 640_000, 2_500_000, 10_000_000, 40_000_000, 100_000_000)
CHANGES = (10, 1_000, 100_000)
FULL_QUADS, FULL_REPEATS = 10_000_000, 3
GROWTH_AIM = 1.5
GROWN = 64
SECONDS_AIM = 1.5
_OXIGRAPH_QUADS = 10_000_000
"""Quads of the largest graph that pyoxigraph has in the memory of a small machine."""
_OF_RATIOS = 1_000
"""Changes of the change sets that the aims are about."""
_STAGES = ("ingest", "maintain", "validate", "publish")


@dataclass(frozen=True, slots=True)
class Measured:
    """The runs over change sets of one size on one graph: the first is cold, the others warm.

    Attributes:
        quads: of the graph.
        changes: of each change set.
        runs: a change set each.
        rows: how many rows the answers gained and lost by the last one.
    """

    quads: int
    changes: int
    runs: tuple[MeasuredRun, ...]
    rows: int

    @property
    def what(self) -> str:
        """The label of its timings."""
        return f"{self.quads:,} quads, {self.changes:,} changes"

    def timings(self) -> Iterator[Timing]:
        """Of all stages, and of each."""
        cold, *warm = self.runs
        for stage in ("in all", *_STAGES):
            what, part_of = (self.what, "") if stage == "in all" else (stage, self.what)
            yield Timing(what, "cold", (cold.seconds["", stage],), part_of)
            yield Timing(what, "warm", tuple(run.seconds["", stage] for run in warm), part_of)

    def warm(self, stage: str) -> float:
        """The median of the warm runs, in seconds."""
        return median(run.seconds["", stage] for run in self.runs[1:])

    def line(self, recomputed: Sequence[float | None]) -> tuple[str, ...]:
        """The line of the summary, with the seconds of those who recompute the answers."""
        cold, *warm = self.runs
        seconds = (
            cold.seconds["", "in all"],
            self.warm("in all"),
            median(run.cpu for run in warm),
            *map(self.warm, _STAGES),
            *recomputed,
        )
        shown = map(seconds_text, seconds)
        return (f"{self.quads:,}", f"{self.changes:,}", f"{self.rows:,}", *shown)


_HEAD = (
    *("quads", "changes", "rows of deltas", "cold, s", "warm, s", "processor, s"),
    *(f"{stage}, s" for stage in _STAGES),
    *("by DuckDB, s", "by Spark, s", "by pyoxigraph, s"),
)


@dataclass(frozen=True, slots=True)
class Recomputation:
    """The answers computed again over one whole graph, after its changes.

    Attributes:
        timings: of Spark and DuckDB, and of pyoxigraph if the graph is not too large for it.
        rows: of each answer by each.
    """

    timings: tuple[Timing, ...]
    rows: tuple[Rows, ...]

    def seconds(self) -> tuple[float | None, ...]:
        """Of all queries by DuckDB, by the quicker Spark, and by pyoxigraph with its loading."""
        spent = {(t.part_of, t.what): t.median for t in self.timings}
        spark = min(spent[FULL, all_queries(method)] for method in (COMPILED, INTERPRETED))
        by_pyoxigraph = [s for (part, what), s in spent.items() if part != FULL and what[0] != " "]
        return spent[FULL, all_queries(DUCKDB)], spark, sum(by_pyoxigraph) or None


@dataclass(slots=True)
class Scale:
    """The scenario over graphs of up to `most` quads."""

    most: int
    repeats: int
    progress: Callable[[str], None]
    changes: Sequence[int] = CHANGES

    def run(self) -> Scenario:
        """Measure each graph; the answers of the largest are compared by all who computed them."""
        measured: list[Measured] = []
        timings: list[Timing] = []
        notes: list[str] = []
        lines: list[tuple[str, ...]] = []
        by_graph: dict[int, Recomputation] = {}
        for quads in [*(size for size in SIZES if size < self.most), self.most]:
            made, note, *whole = self._prepared(quads)
            notes.append(note)
            of_graph, recomputed = self._measured(made, quads)
            by_graph[quads] = recomputed
            measured += of_graph
            timings += [*whole, *(timing for one in of_graph for timing in one.timings())]
            lines += [one.line(recomputed.seconds()) for one in of_graph]
        return Scenario(
            name="scale",
            title="the same changes on generated graphs of growing size, four queries",
            sizes={"quads": self.most, "repeats": self.repeats},
            full=self.most >= FULL_QUADS and self.repeats >= FULL_REPEATS,
            timings=[*timings, *by_graph[self.most].timings],
            targets=targets(measured, by_graph),
            rows=by_graph[self.most].rows,
            notes=[
                "Each graph has one lake, into which the change sets come one after the other. The"
                " stages are those of the warm runs. The base was written into the tables directly,"
                " not parsed.",
                *notes,
                "Weir's times include its commits; a recomputation writes nothing, and gives the"
                " answers, not what changed in them.",
            ],
            machine=machine(),
            summary=[_HEAD, *lines],
        )

    def _prepared(self, quads: int) -> tuple[Project, str, Timing, Timing]:
        """A lake with the graph and its first answers, and what these took."""
        graph, folder = Graph(quads), WORK / f"scale{quads}"
        self.progress(f"writing {quads:,} quads")
        made = project(folder, QUERIES, source(folder / "changes"))
        patches(folder / "changes", [])
        write_graph(made.lake, graph)
        size = sum(files_of(made.lake).values())
        self.progress(f"the first answers of {quads:,} quads")
        (first,) = measure([made]).runs
        patches(folder / "waiting", [])
        for number, lines in enumerate(graph.changes(self._sets(graph)), start=1):
            (folder / "waiting" / f"{number:06d}.rdfp").write_text(patch(number, lines))
        self.progress(f"a change of {quads:,} quads, which makes the index of a large log")
        (indexed,) = measure([made], arrivals=self._arrivals(made, 1)).runs
        note = (
            f"{quads:,} quads: {size / quads:.0f} bytes a quad in the tables of the graph; peak of"
            f" memory (RSS) of the first run {first.peak:,} MiB, a JVM apart."
        )
        whole = Timing(f"{quads:,} quads, first answers", "cold", (first.seconds["", "in all"],))
        once = Timing(f"{quads:,} quads, first change", "cold", (indexed.seconds["", "in all"],))
        return made, note, whole, once

    def _sets(self, graph: Graph) -> list[int]:
        """The sizes of the change sets, without those that the graph is too small for."""
        sets = [self.changes[0]]
        for count in self.changes:
            more = [count] * (1 + self.repeats)
            if sum(sets) + sum(more) <= graph.most_changes:
                sets += more
        return sets

    def _arrivals(self, made: Project, count: int) -> list[tuple[Path, Path]]:
        """The next change sets, and the folder that they are copied to."""
        arrived = made.folder / "changes"
        waiting = sorted((made.folder / "waiting").iterdir())
        return [(file, arrived) for file in waiting[len([*arrived.iterdir()]) :][:count]]

    def _measured(self, made: Project, quads: int) -> tuple[list[Measured], Recomputation]:
        sizes = self._sets(Graph(quads))[1 :: 1 + self.repeats]
        measured: list[Measured] = []
        for number, count in enumerate(sizes, start=1):
            is_last = number == len(sizes)
            also = " and the answers computed again" if is_last else ""
            self.progress(f"{count:,} changes of {quads:,} quads{also}")
            arrivals = self._arrivals(made, 1 + self.repeats)
            session = measure(
                [made] * len(arrivals),
                arrivals=arrivals,
                recompute_on=made if is_last else None,
                rounds=1,
            )
            measured.append(Measured(quads, count, session.runs, _newest_rows(made)))
        timings, rows_of_oxigraph = full_timings(session.recomputed), {}
        if quads <= _OXIGRAPH_QUADS:
            self.progress(f"pyoxigraph with {quads:,} quads")
            beside = by_oxigraph(made, QUERIES, 1)
            timings += beside.timings
            rows_of_oxigraph = {**beside.rows}
        rows = count_rows(made, session.recomputed, rows_of_oxigraph)
        return measured, Recomputation(tuple(timings), tuple(rows))


def _newest_rows(made: Project) -> int:
    """How many rows the logs of the answers have of the newest epoch."""
    epochs = (made.lake / "transactions", *(made.lake / "answers").iterdir())
    transactions, *answers = (_epochs(table) for table in epochs)
    newest = max(transactions)
    return sum(rows[newest] for rows in answers)


def _epochs(table: Path) -> Counter[int]:
    """How many rows a table has of each epoch."""
    epochs = DeltaTable(table).to_pyarrow_table(columns=["epoch"])["epoch"].to_pylist()
    return Counter(int(epoch or 0) for epoch in epochs)


def targets(measured: Sequence[Measured], by_graph: dict[int, Recomputation]) -> list[Target]:
    """The aims: growth, seconds, and how much faster deltas are than recomputing."""
    by_size = {one.quads: one for one in measured if one.changes == _OF_RATIOS}
    reached = []
    for quads, one in by_size.items():
        for smaller in (by_size[size] for size in by_size if _is_grown(size, quads)):
            ratio = one.warm("in all") / smaller.warm("in all")
            what = f"{_OF_RATIOS:,} changes of {quads:,} quads / of {smaller.quads:,}, warm"
            reached.append(Target(what, f"<= {GROWTH_AIM}", f"{ratio:.2f}", ratio <= GROWTH_AIM))
    if by_size:
        quads, one = max(by_size.items())
        seconds = one.warm("in all")
        what = f"{_OF_RATIOS:,} changes of {quads:,} quads, to their published answers, warm"
        reached.append(
            Target(what, f"<= {SECONDS_AIM} s", f"{seconds:.1f} s", seconds <= SECONDS_AIM)
        )
        by_duckdb, by_spark, _ = by_graph[quads].seconds()
        for engine, again, aim in (("DuckDB", by_duckdb, 10.0), ("Spark", by_spark, 50.0)):
            assert again is not None
            ratio = again / one.warm("maintain")
            what = f"full recomputation by {engine} / deltas (maintain), {quads:,} quads"
            shown = f"{ratio:.1f} ({again:.1f} s / {one.warm('maintain'):.2f} s)"
            reached.append(Target(what, f">= {aim:.0f}", shown, ratio >= aim))
    return reached


def _is_grown(smaller: int, larger: int) -> bool:
    return GROWN * 0.9 < larger / smaller < GROWN * 1.1
