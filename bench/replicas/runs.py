"""All runs of the experiment, in processes, with a CSV row per evaluation."""

from __future__ import annotations

import csv
import gzip
import io
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from bench.replicas.cases import TestData
from bench.replicas.parameters import Variant, variants
from bench.replicas.replay import Run, replay, schedule
from bench.replicas.traces import Numbers
from weir.remotes.policies.policies import Policy
from weir.remotes.policies.policy_text import policy_of

HEADER = (
    *("window", "case", "set", "policy", "budget", "rate", "fdt", "alpha", "mode"),
    *("evaluation", "distance", "cumulative", "used", "stale"),
)


@dataclass(frozen=True, slots=True)
class Task:
    """A data set and a window: what one process works on at a time."""

    data: TestData
    case: str
    number: int
    window: float
    evaluations: int
    folder: Path


@dataclass(frozen=True, slots=True)
class Results:
    """Distances per evaluation, of each data set, by window, test case and variant.

    Attributes:
        alphas: where it is dynamic: that of the last evaluation.
    """

    distances: dict[tuple[float, str, Variant], dict[int, Numbers]] = field(default_factory=dict)
    alphas: dict[tuple[float, str, Variant], dict[int, float]] = field(default_factory=dict)

    def cumulative(self, window: float, case: str, variant: Variant) -> list[float]:
        """The cumulative distance of each data set at the end."""
        sets = self.distances[window, case, variant]
        return [float(sets[number].sum()) for number in sorted(sets)]

    def curves(self, window: float, case: str, variant: Variant) -> Numbers:
        """The median of the cumulative distance after each evaluation."""
        sets = self.distances[window, case, variant]
        return np.asarray(np.median(np.cumsum([*sets.values()], axis=1), axis=0), dtype=np.float64)


def results_of(
    tasks: Sequence[Task], processes: int, progress: Callable[[int, int], None]
) -> Results:
    """Run all tasks; `progress` gets how many are done, of how many."""
    results = Results()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        running = {pool.submit(run_task, task): task for task in tasks}
        for done, future in enumerate(as_completed(running), start=1):
            task = running[future]
            for variant, distance, alpha in future.result():
                key = (task.window, task.case, variant)
                results.distances.setdefault(key, {})[task.number] = distance
                if alpha is not None:
                    results.alphas.setdefault(key, {})[task.number] = alpha
            progress(done, len(tasks))
    return results


def run_task(task: Task) -> list[tuple[Variant, Numbers, float | None]]:
    """All variants over one data set; writes their evaluations."""
    plan = schedule(task.data.data_set(task.case, task.number), task.window, task.evaluations)
    runs = []
    for variant in variants(task.case):
        keys = 0 if variant.text == "WST" else variant.budget
        runs.append((variant, replay(plan, _policy(variant), keys, variant.rate)))
    _written_evaluations(task, runs)
    return [(variant, run.distance, run.alpha) for variant, run in runs]


@cache
def _policy(variant: Variant) -> Policy:
    return policy_of("LRU" if variant.text == "WST" else variant.text, variant.options)


def _written_evaluations(task: Task, runs: list[tuple[Variant, Run]]) -> None:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(HEADER)
    for variant, run in runs:
        setting = (
            *(f"{task.window:g}", task.case, task.number, variant.text, variant.budget),
            *(variant.rate, variant.fdt, variant.alpha, variant.mode),
        )
        cumulative = np.cumsum(run.distance)
        rows.writerows(
            (*setting, number, f"{distance:.6f}", f"{total:.6f}", used, stale)
            for number, (distance, total, used, stale) in enumerate(
                zip(
                    run.distance.tolist(),
                    cumulative.tolist(),
                    run.used.tolist(),
                    run.stale.tolist(),
                    strict=True,
                ),
                start=1,
            )
        )
    task.folder.mkdir(parents=True, exist_ok=True)
    name = f"{task.window:g}s-{task.case}-{task.number}.csv.gz"
    with (task.folder / name).open("wb") as file:
        file.write(gzip.compress(text.getvalue().encode(), compresslevel=1, mtime=0))
