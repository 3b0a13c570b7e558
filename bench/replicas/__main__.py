"""`python -m bench.replicas`: run the experiment and write its report.

    python -m bench.replicas                      synthetic data: about ten minutes on two cores
    python -m bench.replicas --data DIR           the same over other data (bench/replicas/cases.py)
    python -m bench.replicas --write-data DIR     write the synthetic traces as such data
    python -m bench.replicas --speed              how long one election among 100,000 keys takes
    python -m bench.replicas --cases DS10 DS90 --windows 100 --sets 2
                                                  a part of the runs, without a report

Into `--out` (bench/results/replicas, which git ignores): report.md, box plots, and for each run a
CSV row per evaluation.
Exits with 1 if over the synthetic data something does not hold that must.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from bench.places import RESULTS
from bench.replicas.cases import TestData
from bench.replicas.figures import figures
from bench.replicas.findings import Findings
from bench.replicas.parameters import CASES, DATA_SETS, WINDOWS
from bench.replicas.replay import EVALUATIONS
from bench.replicas.report import report, requirements, summary
from bench.replicas.runs import Results, Task, results_of
from bench.replicas.speed import election_times
from bench.replicas.synthetic import MINUTES, SEED, USERS
from bench.replicas.traces import TraceError, written_trace


def arg_parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.replicas",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="traces to replay")
    parser.add_argument("--write-data", type=Path, metavar="DIR", help="write traces, run nothing")
    parser.add_argument("--speed", action="store_true", help="measure elections, run nothing")
    parser.add_argument("--out", type=Path, default=RESULTS / "replicas", metavar="DIR")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=CASES, metavar="CASE")
    parser.add_argument("--windows", nargs="+", type=float, default=WINDOWS, metavar="SECONDS")
    parser.add_argument("--sets", type=int, default=DATA_SETS, help="data sets of a test case")
    parser.add_argument("--evaluations", type=int, default=EVALUATIONS)
    parser.add_argument("--users", type=int, default=USERS, help="of synthetic traces")
    parser.add_argument("--processes", type=int, default=2)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; returns the exit code."""
    options = arg_parser().parse_args(arguments)
    if options.speed:
        for name, seconds in election_times():
            print(f"{name:20}{seconds:6.3f} s")
        return 0
    data = TestData(options.data, options.users)
    try:
        if options.write_data is not None:
            for number in range(options.sets):
                written_trace(data.trace(number), options.write_data / str(number))
            return 0
        start = time.monotonic()
        results = _results(options, data)
    except TraceError as error:
        sys.exit(str(error))
    seconds = time.monotonic() - start
    print(f"{sum(map(len, results.distances.values())):,} runs in {seconds:.0f} s")
    if {*options.cases} != {*CASES}:
        print(f"only some test cases: no report; evaluations are in {options.out}")
        return 0
    return _reported(options, data, Findings(results), seconds)


def _results(options: argparse.Namespace, data: TestData) -> Results:
    tasks = [
        Task(data, case, number, window, options.evaluations, options.out / "evaluations")
        for window in options.windows
        for case in options.cases
        for number in range(options.sets)
    ]
    tasks.sort(key=lambda task: task.case != "DS75")  # the longest first
    step = max(1, len(tasks) // 20)

    def progress(done: int, among: int) -> None:
        if done % step == 0 or done == among:
            print(f"{done} of {among} data sets", file=sys.stderr, flush=True)

    return results_of(tasks, options.processes, progress)


def _reported(
    options: argparse.Namespace, data: TestData, findings: Findings, seconds: float
) -> int:
    runs = sum(map(len, findings.results.distances.values()))
    about = [
        f"{options.sets} data sets per test case, {options.evaluations} evaluations each, "
        f"{runs:,} runs in {seconds:.0f} s with {options.processes} processes",
    ]
    if options.data is None:
        about.append(
            f"generator: bench/replicas/synthetic.py, seed {SEED} with data sets 0 to "
            f"{options.sets - 1}, {options.users} users, {MINUTES} minutes, "
            f"numpy {version('numpy')}"
        )
    text = report(findings, str(data), about, options.windows)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "report.md").write_text(text)
    for name, svg in figures(findings, options.windows):
        (options.out / name).write_text(svg)
    print(summary(findings, options.windows))
    print(f"report: {options.out / 'report.md'}")
    must = all(fulfilled for _, fulfilled, _ in requirements(findings, options.windows))
    return 0 if must or options.data is not None else 1


if __name__ == "__main__":
    sys.exit(main())
