"""A graph from its files: the first version, one in which a tenth changed, compaction, audit.

The graph is delivered as N-Quads, compressed, several files a version, as a publisher would. Beside
Weir, plain Spark splits the same files into a table of Parquet files, and pyoxigraph loads them
into a store on disk: neither knows what changed. Each step is a process of its own. All of it grows
with the graph, as a version is delivered whole.

    python -m bench.loads {spark,pyoxigraph} FOLDER TO
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
from deltalake import DeltaTable

from bench.comparison import count_rows
from bench.graph import Graph
from bench.places import QUERIES, WORK, Project, files_of, project
from bench.processes import Ended, measured
from bench.results import Scenario, Timing, machine, seconds_text
from bench.session import measure

FULL_QUADS = 10_000_000
_CHANGED = 15
"""Of so many statements one is replaced by another, if it has another object: of types, few do."""
_STAGES = ("ingest", "maintain", "validate", "publish")
_WEIR = Path(sys.executable).with_name("weir")
_HEAD = ("step", "clock, s", "processor, s", "quads a second", "peak memory, MiB", "bytes a quad")


@dataclass(frozen=True, slots=True)
class Step:
    """What was done, by a process that ended.

    Attributes:
        what: it did.
        took: seconds and memory.
        size: bytes that are on disk by it; None if it is not about that.
    """

    what: str
    took: Ended
    size: int | None = None

    def line(self, quads: int) -> tuple[str, ...]:
        """In the summary."""
        return (
            self.what,
            seconds_text(self.took.seconds),
            seconds_text(self.took.processor),
            f"{quads / self.took.seconds:,.0f}",
            f"{self.took.peak:,}",
            "" if self.size is None else f"{self.size / quads:.0f}",
        )


@dataclass(frozen=True, slots=True)
class Loads:
    """The scenario.

    Args:
        quads: of the graph.
        progress: receives a line per step.
    """

    quads: int
    progress: Callable[[str], None]

    def run(self) -> Scenario:
        """Load, change, compact and audit; then load by others."""
        folder, graph = WORK / "loads", Graph(self.quads)
        versions, waiting = folder / "versions", folder / "waiting"
        source = {"name": "dump", "kind": "snapshots", "location": str(versions)}
        made = project(folder, QUERIES, source)
        versions.mkdir()
        packed = [self._write(waiting / f"v{number}", graph, number) for number in (1, 2)]
        quads, size = packed[0]
        steps = [self._delivered(made, waiting / "v1", "the first version, to published answers")]
        of_graph = sum(
            bytes_
            for file, bytes_ in files_of(made.lake).items()
            if file.parts[0] in ("quads", "triples")
        )
        steps.append(
            self._delivered(made, waiting / "v2", "the second version, to published answers")
        )
        config = ("--config", made.config)
        self.progress("compaction, audit")
        compact = (sys.executable, "-m", "weir.jobs.compact_lake")
        steps.append(Step("compaction", measured([*compact, *config])))
        steps.append(Step("audit", measured([_WEIR, *config, "audit"])))
        self.progress("the answers computed again, to compare their rows")
        shutil.rmtree(versions)
        versions.mkdir()
        recomputed = measure([made], recompute_on=made, rounds=1).recomputed
        rows = count_rows(made, recomputed, {})
        for what, other in (("plain Spark", "spark"), ("pyoxigraph", "pyoxigraph")):
            self.progress(f"the first version by {what}")
            steps.append(_by_other(what, other, waiting / "v1", folder / other))
        shutil.rmtree(waiting)
        epochs = DeltaTable(made.lake / "transactions").to_pyarrow_table().to_pylist()
        changed = sum(row["inserted"] + row["deleted"] for row in epochs) - quads
        return Scenario(
            name="load",
            title="a graph from its files, four queries",
            sizes={"quads": quads},
            full=self.quads >= FULL_QUADS,
            timings=[*self._timings(steps)],
            rows=rows,
            notes=[
                f"A version has {size / quads:.1f} bytes a quad as N-Quads compressed by gzip; the"
                f" log of the graph, of which Weir has two orders, has {of_graph / quads:.1f}.",
                "Steps of Weir are whole commands, with the start of their processes and of Spark."
                " Seconds of the processor and memory are those of all their processes. Of the"
                " second version, all quads are read, and compared with those that are known:"
                f" {changed / quads:.1%} as many went or came.",
                "Plain Spark splits lines by a regular expression and writes Parquet files;"
                " pyoxigraph loads into a store on disk. Published by others, on 16 cores: Oxigraph"
                " loads 0.6 million triples a second, with 172 bytes a triple, Jena 0.2 million"
                " (390 million triples of DBLP, by the authors of QLever); QLever needs an hour for"
                " a thousand million on 12 cores, 0.28 million a second.",
            ],
            machine=machine(),
            summary=[_HEAD, *(step.line(quads) for step in steps)],
        )

    def _write(self, folder: Path, graph: Graph, version: int) -> tuple[int, int]:
        """Write a version of the graph; the number of its quads, and of bytes of its files."""
        self.progress(f"writing version {version} of {self.quads:,} quads")
        folder.mkdir(parents=True)
        quads = 0
        for number, piece in enumerate(graph.pieces()):
            rows = piece if version == 1 else _changed(piece)
            quads += rows.num_rows
            line = "subject || ' ' || predicate || ' ' || object || ' .\n'"
            lines = _selected(rows, f"SELECT {line} AS line FROM rows")["line"]
            with gzip.open(folder / f"part{number:04}.nq.gz", "wt", 6) as file:
                file.writelines(map(str, lines.to_pylist()))
        return quads, sum(file.stat().st_size for file in folder.iterdir())

    def _delivered(self, made: Project, version: Path, what: str) -> Step:
        self.progress(what)
        # As a publisher would, so that no half of it is read.
        shutil.copytree(version, made.folder / "versions" / version.name)
        return Step(what, measured([_WEIR, "--config", made.config, "--output", "json", "run"]))

    def _timings(self, steps: Sequence[Step]) -> Iterator[Timing]:
        for step in steps:
            yield Timing(step.what, "cold", (step.took.seconds,))
            if step.took.printed.startswith("{"):
                for stage in json.loads(step.took.printed)["stages"]:
                    if stage["stage"] in _STAGES:
                        yield Timing(stage["stage"], "cold", (stage["seconds"],), step.what)


def _changed(rows: pa.Table) -> pa.Table:
    """The rows, of which some have another object: a text another one, a node that of the next."""
    other = (
        f"CASE WHEN object LIKE '\"%' THEN object[:-2] || ' Jr\"'"
        f" ELSE COALESCE(lead(object, {_CHANGED}) OVER (ORDER BY i), object) END"
    )
    numbered = "SELECT *, row_number() OVER () AS i FROM rows"
    cells = f"subject, predicate, CASE WHEN i % {_CHANGED} > 0 THEN object ELSE {other} END"
    return _selected(rows, f"SELECT {cells} AS object FROM ({numbered}) ORDER BY i")


def _selected(rows: pa.Table, query: str) -> pa.Table:
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        selected: pa.Table = connection.sql(query).to_arrow_table()
        return selected


def _by_other(what: str, other: str, version: Path, to: Path) -> Step:
    took = measured([sys.executable, "-m", "bench.loads", other, version, to])
    size = sum(files_of(to).values())
    shutil.rmtree(to)
    return Step(f"the first version by {what}", took, size)


def _by_spark(version: Path, to: Path) -> None:
    from pyspark.sql.functions import regexp_extract

    from weir.lake.delta.session import start

    lines = start("bench").read.text(str(version))
    statement = r"^(\S+) (\S+) (.*) \.$"
    names = ("subject", "predicate", "object")
    cells = [
        regexp_extract("value", statement, number).alias(name)
        for number, name in enumerate(names, 1)
    ]
    lines.select(*cells).write.parquet(str(to))


def _by_pyoxigraph(version: Path, to: Path) -> None:
    import pyoxigraph

    store = pyoxigraph.Store(str(to))
    for file in sorted(version.iterdir()):
        with gzip.open(file, "rt") as lines:
            store.bulk_load(lines, pyoxigraph.RdfFormat.N_QUADS)
    store.optimize()


if __name__ == "__main__":
    {"spark": _by_spark, "pyoxigraph": _by_pyoxigraph}[sys.argv[1]](*map(Path, sys.argv[2:]))
