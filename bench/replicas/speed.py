"""Seconds that an election takes: `python -m bench.replicas --speed`."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from statistics import median

from weir.remotes.policies.candidates import Candidate, Evaluation
from weir.remotes.policies.election import elect
from weir.remotes.policies.policy_text import NAMES, policy_of

CANDIDATES, BUDGET, REPEATS = 100_000, 50, 5
_NOW = Evaluation(1_700_000_000.0, 600.0, 60.0)


def election_times(count: int = CANDIDATES) -> Iterator[tuple[str, float]]:
    """Per policy the median seconds of `elect`, from objects in random order to the elected."""
    candidates = random_candidates(count)
    for name in (*NAMES, "LRU+WBM+RND+Filter"):
        policy = policy_of(name, {"fdt": 500_000} if name.endswith(".F") else {})
        seconds = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            elect(policy, candidates, _NOW, BUDGET)
            seconds.append(time.perf_counter() - start)
        yield name, median(seconds)


def random_candidates(count: int) -> list[Candidate]:
    """Keys such as a remote has, a twentieth of them never asked."""
    pick = random.Random(1)
    return [
        Candidate(
            f'["<http://example.org/user/{pick.randrange(10**9)}-{number}>"]',
            _NOW.at - pick.randrange(100_000) if pick.random() < 0.95 else None,
            _NOW.at - pick.randrange(600),
            pick.uniform(1, 100_000),
            (float(pick.randrange(10**6)),),
        )
        for number in range(count)
    ]
