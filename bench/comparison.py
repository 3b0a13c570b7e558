"""Weir beside recomputing everything: the same session's Spark SQL, and pyoxigraph."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from bench.oxigraph import write_head
from bench.places import ROOT, Project
from bench.processes import RunFailed
from bench.recompute import DUCKDB, METHODS
from bench.results import Rows, Temperature, Timing

FULL = "full recomputation"
OXIGRAPH = "pyoxigraph"


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Seconds that pyoxigraph took, and its rows per query."""

    timings: tuple[Timing, ...]
    rows: Mapping[str, int]


def by_oxigraph(project: Project, queries: Path, repeats: int) -> Evaluated:
    """Load the head of a project's lake into pyoxigraph and evaluate the queries."""
    head, result = project.folder / "head.nt", project.folder / "oxigraph.json"
    write_head(project.lake / "triples", head)
    done = subprocess.run(
        [sys.executable, "-m", "bench.oxigraph", head, queries, str(repeats), result],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    head.unlink()
    if done.returncode:
        raise RunFailed(f"pyoxigraph: exit code {done.returncode}\n{done.stderr[-2000:]}")
    measured = json.loads(result.read_text())
    rounds = measured["times"]
    evaluation = tuple(sum(seconds.values()) for seconds in rounds)
    timings = [
        Timing("load", "", (measured["load"],), OXIGRAPH),
        Timing("evaluation, all queries", "", evaluation, OXIGRAPH),
        *(
            Timing(f"  {name}", "", tuple(seconds[name] for seconds in rounds), OXIGRAPH)
            for name in rounds[0]
        ),
    ]
    return Evaluated(tuple(timings), measured["rows"])


def all_queries(method: str) -> str:
    """The label of the evaluation of all queries by one of the `METHODS`."""
    return f"all queries, {method}"


def full_timings(rounds: Sequence[Sequence[Mapping[str, Any]]]) -> list[Timing]:
    """The evaluations by Spark and DuckDB: the first round is cold, the others are warm."""
    timings: list[Timing] = []
    for method in METHODS:
        for temperature, some in (("cold", rounds[:1]), ("warm", rounds[1:])):
            samples = [{r["query"]: r["seconds"] for r in s if r["method"] == method} for s in some]
            if not samples:
                continue
            kind: Temperature = "cold" if temperature == "cold" else "warm"
            total = tuple(sum(sample.values()) for sample in samples)
            timings.append(Timing(all_queries(method), kind, total, FULL))
            timings += [
                Timing(f"  {query}, {method}", kind, tuple(s[query] for s in samples), FULL)
                for query in samples[0]
            ]
    return timings


def count_rows(
    project: Project,
    rounds: Sequence[Sequence[Mapping[str, Any]]],
    oxigraph: Mapping[str, int],
) -> list[Rows]:
    """The rows of every answer at the head, by every system that evaluated it."""
    counted = rounds[-1] if rounds else ()
    duckdb = {query["query"]: query["rows"] for query in counted if query["method"] == DUCKDB}
    spark = {query["query"]: query["rows"] for query in counted if query["method"] != DUCKDB}
    return [
        Rows(
            folder.name,
            published_rows(folder),
            spark.get(folder.name),
            oxigraph.get(folder.name),
            duckdb.get(folder.name),
        )
        for folder in sorted((project.lake / "answers").iterdir())
    ]


def published_rows(answers: Path) -> int:
    """How many rows a published answer has at the head: the sum of the weights."""
    weights = DeltaTable(answers).to_pyarrow_dataset().to_table(columns=["weight"])["weight"]
    return sum(int(weight or 0) for weight in weights.to_pylist())
