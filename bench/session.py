"""A fresh process that runs `weir run` on one project after the other, in one session.

    python -m bench.session JOB.json

The first run is cold; those after it are warm. The command itself is run, so the time is what a
user waits for. Then, on request, the same session evaluates the queries over the whole graph.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bench.places import Project
from bench.processes import run_process
from bench.spans import WITHIN, timed
from weir.process.leaving import collect_rarely, leaving_at_once


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One `weir run`.

    Attributes:
        seconds: by (part of, what).
        peak: of the memory (RSS) of the process until its end, in MiB; a JVM is another process.
        cpu: seconds of the processor, user and system, of the process; of the first run since the
            start of Python.
    """

    seconds: Mapping[tuple[str, str], float]
    peak: int
    cpu: float


def peak_note(first: MeasuredRun) -> str:
    """What is noted about the memory of the first run."""
    return f"Peak of memory (RSS) of the first run: {first.peak:,} MiB, a JVM apart."


@dataclass(frozen=True, slots=True)
class MeasuredSession:
    """The runs of a session in order, and rounds of recomputing, each a list of evaluations."""

    runs: tuple[MeasuredRun, ...]
    recomputed: tuple[tuple[Mapping[str, Any], ...], ...]


def measure(
    projects: Sequence[Project],
    *,
    settings: Mapping[str, str] | None = None,
    recompute_on: Project | None = None,
    rounds: int = 2,
    arrivals: Sequence[tuple[Path, Path]] = (),
) -> MeasuredSession:
    """Run a session in a fresh process.

    Args:
        projects: each is run once, in this order.
        settings: further WEIR_* variables.
        recompute_on: the project whose queries are evaluated over the whole graph of its lake.
        rounds: how often; the first round is cold.
        arrivals: for each run a file that is copied into a folder before it.

    Raises:
        RunFailed: with the last lines that were printed.
    """
    folder = projects[0].folder
    job, result = folder / "job.json", folder / "result.json"
    recompute = str(recompute_on.folder) if recompute_on else None
    job.write_text(
        json.dumps(
            {
                "configs": [str(project.config) for project in projects],
                "recompute": recompute,
                "rounds": rounds,
                "arrivals": [[str(file), str(to)] for file, to in arrivals],
                "result": str(result),
            }
        )
    )
    # The clock that all processes of this machine share.
    began = {"BENCH_BEGAN": repr(time.monotonic())} | dict(settings or {})
    arguments = [sys.executable, "-m", "bench.session", str(job)]
    run_process(arguments, projects[0], settings=began, result=result)
    ended = time.monotonic()
    measured = json.loads(result.read_text())
    runs = [{(part, what): s for part, what, s in run} for run in measured["runs"]]
    # A user also waits for the end of the process.
    runs[0][("", "process end")] = ended - measured["ended"]
    runs[0][("", "in all")] += ended - measured["ended"]
    return MeasuredSession(
        tuple(map(MeasuredRun, runs, measured["peaks"], measured["cpu"])),
        tuple(tuple(r) for r in measured["recomputed"]),
    )


def _run(config: str, began: float) -> list[tuple[str, str, float]]:
    """Run the command once; `began` is when the user pressed enter."""
    from weir.cli import main as weir

    entered = time.monotonic()
    output = io.StringIO()
    with timed() as spans, contextlib.redirect_stdout(output):
        code = weir(["--config", config, "--output", "json", "run"])
    if code:
        raise SystemExit(f"weir run: exit code {code}\n{output.getvalue()}")
    total = time.monotonic() - began
    stages = json.loads(output.getvalue())["stages"]
    waited = sum(
        seconds
        for (part, what), seconds in spans.seconds.items()
        if part == "start" and not what.startswith(WITHIN)
    )
    known = entered - began + sum(stage["seconds"] for stage in stages) + waited
    return [
        ("", "in all", total),
        ("", "start of Python", entered - began),
        *(("", stage["stage"], stage["seconds"]) for stage in stages),
        ("start", "imports and the rest", total - known),
        *((part, what, seconds) for (part, what), seconds in spans.seconds.items()),
    ]


def _recompute(folder: Path, rounds: int) -> list[list[dict[str, Any]]]:
    from bench.recompute import recompute, recompute_here
    from weir.lake.delta.session import start
    from weir.settings import Settings

    settings = Settings.load(Project(folder).config)
    spark = start("bench", driver_memory=settings.spark.driver_memory)
    queries = {file.stem: file.read_text() for file in sorted(settings.queries.glob("*.rq"))}
    triples = str(Project(folder).lake / "triples")
    return [
        [
            asdict(recomputed)
            for recomputed in (
                *recompute(spark, triples, queries, codegen=True),
                *recompute(spark, triples, queries, codegen=False),
                *recompute_here(settings, triples, queries),
            )
        ]
        for _ in range(rounds)
    ]


def main(argv: Sequence[str]) -> int:
    """Run the job that `measure` wrote."""
    began = float(os.environ["BENCH_BEGAN"])
    job = json.loads(Path(argv[0]).read_text())
    runs, peaks = [], []
    cpu, spent = [], 0.0
    for config, arrival in zip_longest(job["configs"], job["arrivals"]):
        if arrival is not None:
            shutil.copy2(*arrival)
        runs.append(_run(config, began))
        usage = resource.getrusage(resource.RUSAGE_SELF)
        # Linux has it in KiB.
        peaks.append(usage.ru_maxrss // 1024)
        cpu.append(usage.ru_utime + usage.ru_stime - spent)
        spent += cpu[-1]
        began = time.monotonic()
    recomputed = _recompute(Path(job["recompute"]), job["rounds"]) if job["recompute"] else []
    result = {
        "runs": runs,
        "peaks": peaks,
        "cpu": cpu,
        "recomputed": recomputed,
        "ended": time.monotonic(),
    }
    Path(job["result"]).write_text(json.dumps(result))
    return 0


if __name__ == "__main__":
    # As the command begins and ends.
    collect_rarely()
    sys.exit(leaving_at_once(partial(main, sys.argv[1:]))())
