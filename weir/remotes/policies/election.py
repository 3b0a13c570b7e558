"""Election: the candidates that a budget of keys is spent on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

import numpy as np
import numpy.typing as npt

from weir.remotes.policies.aggregation import aggregate
from weir.remotes.policies.candidates import (
    Candidate,
    Columns,
    Evaluation,
    Rows,
    columns_of,
    tie_order,
)
from weir.remotes.policies.policies import Aggregated, Alone, Banded, Policy, Rule, Wbm
from weir.remotes.policies.rankings import best_before, filter_distance, ranked

Mask = npt.NDArray[np.bool_]


def elect(
    policy: Policy, candidates: Sequence[Candidate], evaluation: Evaluation, budget: int
) -> tuple[Candidate, ...]:
    """The keys to refresh, in the order to ask for them; at most `budget`.

    Keys that have never been asked come first: as many as `first_share` of the budget allows, and
    more if the others leave budget over. See `policies` for the order of the others.
    A policy with dynamic alpha starts in the middle of its grid; see `dynamic_alpha`.

    Raises:
        ValueError: the budget is negative.
    """
    ordered = tie_order(candidates)
    rows = elected_rows(policy, columns_of(ordered), evaluation, budget)
    return tuple(ordered[row] for row in rows)


def elected_rows(policy: Policy, candidates: Columns, evaluation: Evaluation, budget: int) -> Rows:
    """`elect` over columns."""
    if budget < 0:
        raise ValueError(f"the budget is {budget} keys; it cannot be negative")
    never = np.isnan(candidates.asked_at)
    if not never.any():
        return order(policy.rule, candidates, evaluation)[:budget]
    asked = np.flatnonzero(~never)
    others = asked[order(policy.rule, candidates.at(asked), evaluation)]
    first = _never_asked(candidates, np.flatnonzero(never))
    quota = max(1, int(policy.first_share * budget)) if policy.first_share else 0
    first = first[: max(min(quota, budget), budget - len(others))]
    return np.concatenate((first, others[: budget - len(first)]))


def order(rule: Rule, candidates: Columns, evaluation: Evaluation) -> Rows:
    """The rows that a rule would elect, best first, if the budget were unlimited."""
    match rule:
        case Alone(Wbm(fill)):
            times = best_before(candidates, evaluation)
            expired, others = _split(times.expired)
            best = np.lexsort((times.until[expired], -times.value[expired]))
            rest = np.argsort(times.until[others], kind="stable")
            return _then(expired[best], others[rest], fill)
        case Alone(ranking):
            return ranked(ranking, candidates, evaluation).order
        case Banded(ranking, fdt, by):
            distance = filter_distance(by, candidates)
            band = np.flatnonzero(distance <= fdt)
            unknown = np.flatnonzero(np.isinf(distance) & (distance > fdt))
            return np.concatenate(
                [
                    rows[order(Alone(ranking), candidates.at(rows), evaluation)]
                    for rows in (band, unknown)
                ]
            )
        case Aggregated():
            if not rule.expired_first:
                return _aggregated(rule, candidates, evaluation)
            expired, others = (
                rows[_aggregated(rule, candidates.at(rows), evaluation)]
                for rows in _split(best_before(candidates, evaluation).expired)
            )
            return _then(expired, others, rule.fill)
        case _:
            assert_never(rule)


def _aggregated(rule: Aggregated, candidates: Columns, evaluation: Evaluation) -> Rows:
    rankings = [
        (weight, ranked(ranking, candidates, evaluation)) for weight, ranking in rule.weighted
    ]
    return aggregate(rankings, rule.mode).order


def _split(expired: Mask) -> tuple[Rows, Rows]:
    return np.flatnonzero(expired), np.flatnonzero(~expired)


def _then(first: Rows, rest: Rows, fill: bool) -> Rows:
    return np.concatenate((first, rest)) if fill else first


def _never_asked(candidates: Columns, rows: Rows) -> Rows:
    """By `tie`, then those that the window will have longest."""
    return rows[np.lexsort((-candidates.last_seen[rows], candidates.tie[rows]))]
