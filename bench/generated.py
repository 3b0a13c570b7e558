"""A generated graph of ten million quads, a thousand changes in ten epochs, four queries.

The base is not parsed: its rows are written into the tables directly, sorted and in several files,
as an ingest would have left them. The first answers are computed by a real run, the changes come in
as patches through all stages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from bench.comparison import FULL, all_queries, by_oxigraph, count_rows, full_timings
from bench.graph import Graph, patch
from bench.places import QUERIES, WORK, Project, files_of, patches, project, written
from bench.recompute import COMPILED, DUCKDB, INTERPRETED
from bench.results import Scenario, Target, Temperature, Timing, machine, timings_of
from bench.session import MeasuredRun, MeasuredSession, measure, peak_note
from weir.lake.delta.commit import create_if_missing, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import GRAPHS, QUADS, REJECTED, TRANSACTIONS, TRIPLES

FULL_QUADS, FULL_REPEATS = 10_000_000, 3
EPOCHS, PER_EPOCH = 10, 100
RATIO_AIM = 5.0


@dataclass(slots=True)
class Generated:
    """The scenario over a graph of about `quads` quads."""

    quads: int
    repeats: int
    progress: Callable[[str], None]

    def run(self) -> Scenario:
        """Deltas by Weir, compared with evaluating the same queries over the whole graph."""
        found = self.deltas(recompute=True)
        session, copy, prepared, first = found.session, found.copy, found.prepared, found.first
        cold, warm = found.cold, found.warm
        self.progress("pyoxigraph")
        beside = by_oxigraph(copy, QUERIES, self.repeats)
        timings = [
            *(Timing(f"first run, {each.what}", "cold", each.seconds) for each in _whole(first)),
            *timings_of([run.seconds for run in cold], "cold"),
            *timings_of([run.seconds for run in warm], "warm"),
            *full_timings(session.recomputed),
            *beside.timings,
        ]
        return Scenario(
            name="generated",
            title=(
                f"a generated graph of {self.quads:,} quads, {EPOCHS * PER_EPOCH:,} changes in"
                f" {EPOCHS} epochs, four queries"
            ),
            sizes={
                "quads": self.quads,
                "changes": EPOCHS * PER_EPOCH,
                "epochs": EPOCHS,
                "repeats": self.repeats,
            },
            full=self.quads == FULL_QUADS and self.repeats >= FULL_REPEATS,
            timings=timings,
            written=written(files_of(prepared.lake), files_of(copy.lake)),
            targets=ratios(timings),
            rows=count_rows(copy, session.recomputed, beside.rows),
            notes=[
                "The base was written into the tables directly, not parsed.",
                peak_note(first),
                "Weir's times include its commits; the recomputation writes nothing and gives the"
                " head only, not the delta of every epoch.",
            ],
            machine=machine(),
        )

    def deltas(self, *, recompute: bool) -> Deltas:
        """Measure the changes on copies of a lake with the graph and the first answers."""
        folder = WORK / f"generated{self.quads}"
        graph = Graph(self.quads)
        prepared, first = self._prepare(folder, graph)
        changes = patches(folder / "changes", [])
        for number, lines in enumerate(graph.changes(EPOCHS, PER_EPOCH), start=1):
            (changes / f"{number:04d}.rdfp").write_text(patch(number, lines))
        cold: list[MeasuredRun] = []
        warm: list[MeasuredRun] = []
        for number in range(self.repeats):
            last = number == self.repeats - 1
            self.progress(f"{EPOCHS * PER_EPOCH} changes, {number + 1} of {self.repeats}")
            copies = [
                project(folder / f"copy{i}", QUERIES, source(changes), lake=prepared.lake)
                for i in range(2)
            ]
            session = measure(
                copies,
                recompute_on=copies[0] if last and recompute else None,
                rounds=1 + max(1, self.repeats - 1),
            )
            cold.append(session.runs[0])
            warm.append(session.runs[1])
        return Deltas(prepared, first, copies[0], session, cold, warm)

    def _prepare(self, folder: Path, graph: Graph) -> tuple[Project, MeasuredRun]:
        """A lake with the graph as epoch 1 and the first answers, and the run that made them."""
        self.progress(f"writing {graph.quads:,} quads")
        none = patches(folder / "none", [])
        made = project(folder / "prepared", QUERIES, source(none))
        write_graph(made.lake, graph)
        self.progress("the first answers, over the whole graph")
        return made, measure([made]).runs[0]


@dataclass(frozen=True, slots=True)
class Deltas:
    """Measured runs over the changes.

    Attributes:
        prepared: the lake with the first answers.
        first: the run that computed them.
        copy: a lake with the changes.
        session: the last one.
        cold: the first run of each session.
        warm: the second one.
    """

    prepared: Project
    first: MeasuredRun
    copy: Project
    session: MeasuredSession
    cold: list[MeasuredRun]
    warm: list[MeasuredRun]


def _whole(run: MeasuredRun) -> list[Timing]:
    """The seconds of the stages of a run."""
    seconds = {key: seconds for key, seconds in run.seconds.items() if not key[0]}
    return timings_of([seconds], "cold")


def growth(most: int, repeats: int, progress: Callable[[str], None]) -> Scenario:
    """The same changes on graphs of growing size, up to `most` quads: each four times the last."""
    sizes = [most // 4**power for power in (3, 2, 1, 0)]
    lines: list[tuple[str, ...]] = []
    timings: list[Timing] = []
    for quads in sizes:
        deltas = Generated(quads, repeats, progress).deltas(recompute=False)
        cold, warm = (
            timings_of([run.seconds for run in runs], temperature)
            for runs, temperature in ((deltas.cold, _COLD), (deltas.warm, _WARM))
        )
        stages = {(t.what, t.temperature): t.median for t in (*cold, *warm) if not t.part_of}
        first = deltas.first.seconds["", "in all"]
        shown = [
            stages["in all", "cold"],
            *(stages[stage, "warm"] for stage in ("in all", *_STAGES)),
        ]
        lines.append((f"{quads:,}", f"{first:.1f}", *(f"{seconds:.2f}" for seconds in shown)))
        timings += [
            Timing(f"{quads:,} quads", t.temperature, t.seconds)
            for t in (*cold, *warm)
            if t.what == "in all" and not t.part_of
        ]
    head = ("quads", "first run, s", "cold, s", "warm, s", *(f"{stage}, s" for stage in _STAGES))
    return Scenario(
        name="growth",
        title=f"the same {EPOCHS * PER_EPOCH:,} changes on graphs of growing size, four queries",
        sizes={"quads": most, "repeats": repeats},
        full=most == FULL_QUADS and repeats >= FULL_REPEATS,
        timings=timings,
        notes=["The stages are those of the warm runs."],
        machine=machine(),
        summary=[head, *lines],
    )


_STAGES = ("ingest", "maintain", "validate", "publish")
_COLD: Temperature = "cold"
_WARM: Temperature = "warm"


def source(changes: Path) -> dict[str, str]:
    """The declaration of the source whose change sets are in the folder `changes`."""
    return {
        "name": "generated",
        "kind": "patches",
        "location": str(changes),
        "graph": "default",
    }


def write_graph(lake: Path, graph: Graph) -> None:
    """Write the graph as epoch 1 of a new lake: a commit and a file per piece."""
    root, metadata = str(lake), Metadata("generated", "ingest", 1)
    for table in (GRAPHS, REJECTED):
        create_if_missing(Lake(root), table)
    owner = {"graph": "", "source": "generated", "run_id": "generated"}
    write(Lake(root), GRAPHS, [owner], metadata)
    versions = (0, 0)
    count = 0
    for piece in graph.pieces():
        rows = piece.append_column("epoch", pa.repeat(pa.scalar(1, pa.int64()), len(piece)))
        rows = rows.append_column("weight", pa.repeat(pa.scalar(1, pa.int32()), len(piece)))
        quads = rows.append_column("graph", pa.repeat(pa.scalar(""), len(piece)))
        versions = (
            write(Lake(root), QUADS, quads, metadata),
            write(Lake(root), TRIPLES, rows, metadata),
        )
        count += len(piece)
    transaction = {
        "epoch": 1,
        "source": "generated",
        "position": "0000.rdfp",
        "ingested_at": datetime(2026, 1, 1, tzinfo=UTC),
        "inserted": count,
        "deleted": 0,
        "rejected": 0,
        "quads_version": versions[0],
        "triples_version": versions[1],
        "run_id": "generated",
    }
    write(Lake(root), TRANSACTIONS, [transaction], metadata)


def ratios(timings: list[Timing]) -> list[Target]:
    """How much faster the maintain stage is than recomputing by each engine, at its quickest."""
    targets = []
    for temperature in ("cold", "warm"):
        maintain = [
            t.median
            for t in timings
            if (t.part_of, t.what, t.temperature) == ("", "maintain", temperature)
        ]
        for engine, methods in (("Spark", (COMPILED, INTERPRETED)), ("DuckDB", (DUCKDB,))):
            full = [
                t.median
                for t in timings
                if (t.part_of, t.temperature) == (FULL, temperature)
                and t.what in set(map(all_queries, methods))
            ]
            if maintain and full:
                ratio = min(full) / maintain[0]
                targets.append(
                    Target(
                        f"full recomputation by {engine} / deltas (maintain), {temperature}",
                        f">= {RATIO_AIM:.0f}",
                        f"{ratio:.1f} ({min(full):.1f} s / {maintain[0]:.1f} s)",
                        ratio >= RATIO_AIM,
                    )
                )
    return targets
