"""Synthetic traces with the statistics of the trace that the paper's authors published.

400 users, a snapshot a minute at second 15, mentions by the second. Generator: numpy's PCG64,
seeded with `SEED`, the number of the data set and the purpose; equal numbers with equal numpy.
"""

from __future__ import annotations

import numpy as np

from bench.replicas.traces import Integers, Numbers, Trace

SEED = 20170619
USERS, MINUTES = 400, 180
SNAPSHOT_SECOND = 15
NEVER_CHANGE = 14
MEDIAN_RATE, SIGMA, CAP = 0.034, 1.05, 0.65
"""Probability of a change per minute: log-normal, cut at the cap."""
CORRELATION, NEVER_MENTIONED, MENTIONED_PER_MINUTE = 0.6, 0.29, 22.0
STEPS = (1, -1, 2, -2, 3, -3, 5, 10)
STEP_SHARES = (0.66, 0.26, 0.03, 0.03, 0.008, 0.004, 0.004, 0.004)


def rng(*purpose: int) -> np.random.Generator:
    """The generator of one purpose."""
    return np.random.Generator(np.random.PCG64([SEED, *purpose]))


def synthetic_trace(data_set: int, users: int = USERS, minutes: int = MINUTES) -> Trace:
    """The trace of a data set: users in random tie order."""
    random = rng(data_set, 0)
    spread = random.standard_normal((2, users))
    spread[1] = CORRELATION * spread[0] + np.sqrt(1 - CORRELATION**2) * spread[1]
    rates = np.minimum(MEDIAN_RATE * np.exp(SIGMA * spread[0]), CAP)
    rates[random.permutation(users)[: users * NEVER_CHANGE // USERS]] = 0.0
    start = (10 ** random.uniform(4, 5, users) * 0.9967).astype(np.int64)
    changes = random.random((minutes, users)) < rates
    steps = random.choice(STEPS, size=(minutes, users), p=STEP_SHARES)
    values = start + np.cumsum(np.where(changes, steps, 0), axis=0)
    mentions = _mention_rates(random, np.exp(SIGMA * spread[1]), users)
    mentioned = random.random((minutes, users)) < mentions
    seconds = random.integers(0, 60, (minutes, users))
    minute, user = np.nonzero(mentioned)
    at = (60.0 * minute + seconds[minute, user]).astype(np.float64)
    order = np.lexsort((user, at))
    return Trace(
        tuple(f"user{number:03}" for number in range(users)),
        np.arange(minutes, dtype=np.float64) * 60 + SNAPSHOT_SECOND,
        values.astype(np.int64),
        at[order],
        user[order].astype(np.int64),
    )


def _mention_rates(random: np.random.Generator, shape: Numbers, users: int) -> Numbers:
    """Per minute; `MENTIONED_PER_MINUTE` of 400 users on average."""
    shape[random.permutation(users)[: round(NEVER_MENTIONED * users)]] = 0.0
    wanted = MENTIONED_PER_MINUTE * users / USERS
    rates: Numbers = shape * (wanted / shape.sum())
    for _ in range(20):  # what the cap takes from some goes to the others
        rates = np.minimum(rates * (wanted / rates.sum()), CAP)
    return rates


def trend(kind: str, start: Integers, snapshots: int, random: np.random.Generator) -> Integers:
    """Series of INC, DEC or MIX: each user has a step and an interval between steps."""
    users = len(start)
    interval = random.integers(1, 20, users)
    step = random.integers(1, 10, users)
    signs = {
        "INC": np.ones((snapshots, users), dtype=np.int64),
        "DEC": -np.ones((snapshots, users), dtype=np.int64),
        "MIX": random.choice((-1, 1), size=(snapshots, users)),
    }[kind]
    moves = np.arange(snapshots)[:, None] % interval == interval - 1
    values: Integers = start + np.cumsum(np.where(moves, signs * step, 0), axis=0)
    return values


def shifted(
    values: Integers, selectivity: int, threshold: int, random: np.random.Generator
) -> Integers:
    """Move the series of each user, with probability 1 - selectivity %, to the threshold.

    The offset is uniform on the integers that let the series reach the threshold from below, or
    stay just above it.
    """
    low, high = threshold - values.max(axis=0) + 1, threshold - values.min(axis=0) + 1
    moved = random.random(values.shape[1]) < (100 - selectivity) / 100
    offsets = random.integers(low, high + 1)
    return np.asarray(values + np.where(moved, offsets, 0), dtype=np.int64)
