"""Killed refreshes and ingests: the next run goes on; no budget is overspent, nothing done twice.

Each history is killed at a fifth of the checkpoints: five seeds in a row are killed at each.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from tests.support.killed import killed_after
from tests.support.laws import Seeds
from tests.support.projects.replicas import START, ReplicaProject
from tests.support.services.evaluations import (
    EVERY,
    QUERIES,
    SENT,
    Step,
    declared,
    ingest,
    random_steps,
    refresh,
)
from weir.lake.delta.metadata import Metadata
from weir.lake.instants import microseconds
from weir.project import open_lake
from weir.remotes.budget import Amount, Entry, spent
from weir.remotes.replica_inbox import RoundMark

CHECKPOINTS = 26
"""Of most runs."""
SHARES = 5
"""Into which the checkpoints are divided, one for each history."""
MANY = 4 * SHARES
"""So many histories pass each of `POINTS`."""
POINTS = {
    f"{job}:{moment}:{where}"
    for job, *places in (
        ("refresh:wd", "claim", "runs"),
        ("refresh", "services", "requests", "send", "replicas/wd", "replica_summaries/wd"),
        ("refresh", "freshness"),
        ("ingest", "claim", "quads", "triples", "transactions", "runs"),
    )
    for where in places
    for moment in ("before", "after")
}
AMPLE = {"keys": 2000, "requests": 500, "bytes": "2GB", "seconds": 3600}
_TIMES = {"asked_at", "answered_at", "previous_at", "seconds", "request_id", "run_id"}
_COUNTS = (
    *("remote", "pattern", "evaluation", "round", "changed_keys", "candidates", "never_asked"),
    *("elected", "answered", "changed", "unchanged", "gone", "suspect", "failed", "too_large"),
    *("not_asked", "stop", "state"),
)


def killed(folder: Path, step: Step, passed: int, rng: random.Random) -> set[str]:
    """Play a step in processes that die; returns the checkpoints at which they did."""
    points = set()
    late = 1.0
    for number in (passed, *(rng.randrange(12) for _ in range(rng.choice((0, 0, 1, 2))))):
        point = killed_after(refresh, folder, step, late, passed=number)
        late += 20.0
        if point is not None:
            points.add(point)
    refresh(folder, step, late)
    point = killed_after(ingest, folder, passed=passed % 16)
    if point is not None:
        points.add(point)
    ingest(folder)
    return points


def prepare(folder: Path, step: Step) -> None:
    """Change the graph, and maintain the keys."""
    if step.patch:
        project = ReplicaProject(folder)
        project.change_set(*step.patch)
        project.stages("ingest", "maintain")


def contents(folder: Path) -> dict[str, list[Any]]:
    """What the tables say, without ids and times of the clock."""
    project = ReplicaProject(folder)
    tables: dict[str, list[Any]] = {
        "inbox": [
            {name: value for name, value in row.items() if name not in _TIMES}
            for row in project.table("replicas/wd")
        ],
        "freshness": [{name: row[name] for name in _COUNTS} for row in project.table("freshness")],
        "transactions": [
            {name: row[name] for name in ("epoch", "source", "position", "event_time")}
            for row in project.table("transactions")
        ],
    }
    for name in ("quads", *(f"answers/{name}" for name in QUERIES)):
        # An epoch of a file is dated by the clock; those of the remote are above.
        tables[name] = [
            {column: value for column, value in row.items() if column != "event_time"}
            for row in project.table(name)
        ]
    return {
        name: sorted(rows, key=lambda row: json.dumps(row, default=str, sort_keys=True))
        for name, rows in tables.items()
    }


def without_put_off(tables: dict[str, list[Any]], whole: dict[str, list[Any]]) -> dict[str, Any]:
    """Without what depends on when a run died that a remote had put off (`Retry-After`).

    The time is noted before the round is written, so that a run that dies between the two does not
    ask again too early: its round then has no failures of these keys.
    """
    put_off = {row["evaluation"] for row in whole["inbox"] if row.get("reason") == "later"}
    kept = [row for row in tables["inbox"] if row.get("reason") != "later"]
    rows = [row for row in tables["freshness"] if row["evaluation"] not in put_off]
    return tables | {"inbox": kept, "freshness": rows}


def check_rounds(folder: Path, steps: int) -> None:
    """Each evaluation is one round, has a row of `freshness` per pattern, and is ingested once."""
    project = ReplicaProject(folder)
    marks = [
        RoundMark.of(metadata)
        for commit in open_lake(project.settings).commits("replicas/wd")
        if (metadata := Metadata.from_json(commit.get("userMetadata"))) is not None
    ]
    expected = [microseconds(START + EVERY * number) for number in range(steps)]
    assert [mark.evaluation for mark in marks[::-1]] == expected
    assert [mark.round for mark in marks[::-1]] == [*range(1, steps + 1)]
    rows = Counter((row["round"], row["pattern"]) for row in project.table("freshness"))
    assert {*rows.values()} == {1}
    assert {round_ for round_, _ in rows} == {*range(1, steps + 1)}
    keys = Counter(
        (row["round"], row["pattern"], row["key"], row["part"], row["mapping"])
        for row in project.table("replicas/wd")
    )
    assert {*keys.values()} <= {1}
    taken = [row["position"] for row in project.table("transactions") if row["source"] == "wd"]
    changed = {str(mark.round) for mark in marks if mark.changed_round == mark.round}
    assert sorted(taken) == sorted(changed)


def check_budget(folder: Path, steps: int, budget: Amount) -> None:
    """No evaluation has spent more than its budget, by the table and by what the remote saw."""
    rows = ReplicaProject(folder).table("requests")
    sent = [json.loads(line) for line in (folder / SENT).read_text().splitlines()]
    most = budget + Amount(seconds=1e-6)
    for number in range(steps):
        entries = [
            Entry(
                row["request_id"],
                row["phase"],
                Amount(row["requests"], row["keys"], row["bytes"], row["seconds"]),
            )
            for row in rows
            if row["evaluation"] == START + EVERY * number
        ]
        counted = spent(entries)
        assert most.covers(counted), (number, counted)
        seen = Amount()
        for step, *amounts in sent:
            if step == number:
                seen += Amount(*amounts)
        assert (counted + Amount(seconds=1e-6)).covers(seen), (number, counted, seen)


def steps(seed: int) -> int:
    """How many steps a history has: each is killed once."""
    return 1 + len(shares(0)[seed % SHARES])


def shares(seed: int) -> list[list[int]]:
    """The checkpoints, divided at random."""
    order = random.Random(f"checkpoints {seed}").sample(range(CHECKPOINTS), CHECKPOINTS)
    return [order[share::SHARES] for share in range(SHARES)]


def play(folder: Path, seed: int, whole: Path | None = None) -> set[str]:
    """Play a history, each step killed at another checkpoint; returns those."""
    rng = random.Random(f"killed {seed}")
    points: set[str] = set()
    # The first step is killed around what only the first one does.
    passed = [rng.choice((2, 3)), *shares(seed // SHARES)[seed % SHARES]]
    for step, number in zip(random_steps(seed, len(passed)), passed, strict=True):
        prepare(folder, step)
        points |= killed(folder, step, number, rng)
        if whole is not None:
            prepare(whole, step)
            refresh(whole, step, 1.0)
            ingest(whole)
    return points


@pytest.mark.usefixtures("slow")
@pytest.mark.law("killed refreshes")
def test_runs_that_are_killed_at_any_checkpoint_leave_what_unbroken_ones_leave(
    tmp_path: Path, seeds: Seeds
) -> None:
    points: set[str] = set()
    for seed in seeds:
        broken, whole = tmp_path / f"broken{seed}", tmp_path / f"whole{seed}"
        for folder in (broken, whole):
            declared(folder, budget=AMPLE)
        died = play(broken, seed, whole)
        points |= died
        for folder in (broken, whole):
            ReplicaProject(folder).run()
        left, expected = contents(broken), contents(whole)
        if "refresh:after:services" in died:
            left, expected = without_put_off(left, expected), without_put_off(expected, expected)
        assert left == expected, seed
        check_rounds(broken, steps(seed))
    # A few histories miss some by chance.
    assert points >= POINTS or len(seeds) < MANY, POINTS - points


@pytest.mark.usefixtures("slow")
@pytest.mark.law("killed refreshes")
def test_runs_that_are_killed_never_overspend_a_tight_budget(tmp_path: Path, seeds: Seeds) -> None:
    for seed in seeds:
        rng = random.Random(f"tight {seed}")
        budget = Amount(
            rng.choice((2, 4, 8)),
            rng.choice((5, 12, 30)),
            rng.choice((15_000, 60_000, 10**6)),
            rng.choice((1.2, 4.0, 20.0)),
        )
        folder = tmp_path / f"tight{seed}"
        names = ("requests", "keys", "bytes", "seconds")
        declared(folder, budget=dict(zip(names, astuple(budget), strict=True)))
        play(folder, seed)
        check_budget(folder, steps(seed), budget)
        check_rounds(folder, steps(seed))
