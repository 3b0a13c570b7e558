"""One run: a policy and a budget over a trace, evaluation by evaluation.

The loop of the paper's Fig. 1: the users in the window are the candidates, the policy elects, the
elected are refreshed, the answer is those in the window whose replica passes the filter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bench.replicas.intervals import needs_intervals
from bench.replicas.traces import Integers, Numbers, Trace
from weir.remotes.policies.candidates import Columns, Evaluation, Rows
from weir.remotes.policies.change_rate import online_intervals
from weir.remotes.policies.dynamic_alpha import at_arms, equal_arms, learned
from weir.remotes.policies.election import elected_rows
from weir.remotes.policies.policies import Policy

THRESHOLD = 100_000
SLIDE = 60.0
EVALUATIONS = 140
WARM_UP = 600.0
"""Seconds of the trace before the replica is filled: the widest window."""

RateFrom = Literal["online", "oracle"]


@dataclass(frozen=True, slots=True)
class Instant:
    """What an evaluation sees, the same for every policy.

    Attributes:
        users: in the window, in tie order.
        last_seen: of these, seconds.
        values: of all users, remote.
        passing: of `users`, whether the remote value passes the filter.
    """

    at: float
    users: Rows
    last_seen: Numbers
    values: Integers
    passing: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The evaluations of a trace with one window.

    Attributes:
        filled: the remote values when the replica was filled, at `filled_at`.
        oracle_intervals: seconds between changes over the whole trace, whole snapshots; what no
            real refresher can know.
    """

    window: float
    filled_at: float
    filled: Integers
    instants: tuple[Instant, ...]
    oracle_intervals: Numbers


@dataclass(frozen=True, slots=True)
class Run:
    """Per evaluation: distance between the answer and the oracle's, keys used, stale candidates.

    Attributes:
        answers: only if they were asked for: the users in the answer.
        alpha: of the last evaluation, if it is dynamic.
    """

    distance: Numbers
    used: Integers
    stale: Integers
    answers: tuple[tuple[int, ...], ...]
    alpha: float | None

    @property
    def cumulative(self) -> float:
        """The cumulative Jaccard distance of the whole run (Eq. 3)."""
        return float(self.distance.sum())


def schedule(trace: Trace, window: float, evaluations: int = EVALUATIONS) -> Schedule:
    """The evaluations: one a minute, from the first full minute and the widest window on."""
    filled_at = float(trace.times[0] // SLIDE * SLIDE) + WARM_UP
    instants = []
    for number in range(1, evaluations + 1):
        at = filled_at + number * SLIDE
        inside = slice(
            int(np.searchsorted(trace.mentioned_at, at - window, side="right")),
            int(np.searchsorted(trace.mentioned_at, at, side="right")),
        )
        last_seen = np.full(len(trace.users), -np.inf)
        np.maximum.at(last_seen, trace.mentioned[inside], trace.mentioned_at[inside])
        users = np.flatnonzero(np.isfinite(last_seen))
        values = _seen(trace, at)
        instants.append(Instant(at, users, last_seen[users], values, values[users] > THRESHOLD))
    changes = (np.diff(trace.values, axis=0) != 0).sum(axis=0)
    with np.errstate(divide="ignore"):
        snapshots = np.floor((len(trace.times) - 1) / changes)
    spacing = float(np.median(np.diff(trace.times)))
    return Schedule(
        window, filled_at, _seen(trace, filled_at), tuple(instants), snapshots * spacing
    )


def _seen(trace: Trace, at: float) -> Integers:
    """The last snapshot strictly before an instant."""
    index = int(np.searchsorted(trace.times, at, side="left")) - 1
    values: Integers = trace.values[max(index, 0)]
    return values


def replay(
    plan: Schedule, policy: Policy, budget: int, rate: RateFrom, *, answers: bool = False
) -> Run:
    """Run a policy over a schedule."""
    replica = plan.filled.copy()
    asked = np.full(len(replica), plan.filled_at)
    distances = np.abs(replica - THRESHOLD).astype(np.float64)
    passing = replica > THRESHOLD
    tie = np.arange(len(replica))
    observed = np.zeros((3, len(replica)))
    intervals = plan.oracle_intervals
    estimated = rate == "online" and needs_intervals(policy.rule)
    arms = equal_arms(policy)
    results = np.zeros((3, len(plan.instants)))
    given: list[tuple[int, ...]] = []
    for index, instant in enumerate(plan.instants):
        users = instant.users
        if estimated:
            intervals = online_intervals(*observed)
        evaluation = Evaluation(instant.at, plan.window, SLIDE)
        candidates = Columns(
            asked[users],
            instant.last_seen,
            intervals[users],
            distances[users, None],
            tie[users],
        )
        rows = elected_rows(at_arms(policy, arms), candidates, evaluation, budget)
        elected = users[rows]
        new = instant.values[elected]
        if policy.learning is not None:
            flipped = rows[passing[elected] != (new > THRESHOLD)]
            arms = learned(policy, arms, candidates, evaluation, rows, set(flipped.tolist()))
        observed[0, elected] += 1
        observed[1, elected] += replica[elected] != new
        observed[2, elected] += instant.at - asked[elected]
        replica[elected], asked[elected] = new, instant.at
        distances[elected], passing[elected] = np.abs(new - THRESHOLD), new > THRESHOLD
        answer = passing[users]
        results[:, index] = (
            jaccard_distance(answer, instant.passing),
            len(elected),
            np.count_nonzero(replica[users] != instant.values[users]),
        )
        if answers:
            given.append(tuple(users[answer].tolist()))
    learning = policy.learning
    return Run(
        results[0],
        results[1].astype(np.int64),
        results[2].astype(np.int64),
        tuple(given),
        None if learning is None else arms.alpha(learning.grid),
    )


def jaccard_distance(one: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_]) -> float:
    """1 - |both| / |either| (section 5.2); 0 if both are empty."""
    either = np.count_nonzero(one | other)
    return 1 - np.count_nonzero(one & other) / either if either else 0.0
