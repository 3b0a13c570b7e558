"""The laws of elections."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bench.replicas.intervals import needs_intervals
from tests.support.oracles import elections
from tests.support.refresh.cases import ElectionCase
from weir.remotes.policies.aggregation import minmax
from weir.remotes.policies.candidates import Candidate
from weir.remotes.policies.election import elect
from weir.remotes.policies.policies import (
    Aggregated,
    Alone,
    FilterDistance,
    Lru,
    Policy,
    Ranking,
    Rnd,
    Rule,
    Wbm,
)
from weir.remotes.policies.policy_text import policy_of


def broken_laws(case: ElectionCase) -> list[str]:
    """Which laws a case breaks, and how; none if all hold."""
    return [
        *_oracle(case),
        *_budgets(case),
        *_orders(case),
        *_extremes(case),
        *_scales(case),
        *_intervals(case),
    ]


def _names(case: ElectionCase, policy: Policy, budget: int) -> list[str]:
    return [candidate.key for candidate in elect(policy, case.candidates, case.evaluation, budget)]


def _oracle(case: ElectionCase) -> Iterator[str]:
    for budget in range(len(case.keys) + 2):
        want = elections.elected(*case.written, case.keys, case.now, budget)
        got = _names(case, case.policy, budget)
        if got != want:
            yield f"{case.written} with {budget} elects what the oracle does: {got}, not {want}"


def _budgets(case: ElectionCase) -> Iterator[str]:
    everything = {key.name for key in case.keys}
    before: list[str] = []
    for budget in range(len(case.keys) + 2):
        now = _names(case, case.policy, budget)
        if len(now) > budget or len(set(now)) < len(now):
            yield f"at most the budget is elected, each key once: {now} of {budget}"
        if not set(before) <= set(now):
            yield f"a larger budget elects the same and more: {before}, {now}"
        never = [key.name for key in case.keys if key.asked is None]
        if not never and now[: len(before)] != before:
            yield f"a larger budget continues the order: {before}, {now}"
        before = now
    if _elects_all(case.policy.rule) and set(before) != everything:
        yield f"a budget for all elects all: {before}"


def _elects_all(rule: Rule) -> bool:
    match rule:
        case Alone(Wbm(fill)) | Aggregated(fill=fill, expired_first=True):
            return fill
        case Alone() | Aggregated():
            return True
        case _:
            return False


def _orders(case: ElectionCase) -> Iterator[str]:
    budget = len(case.keys) // 2
    random_order = replace(case.policy, rule=Alone(Rnd(7)))
    shuffled = case.candidates
    random.Random(len(shuffled)).shuffle(shuffled)
    renamed = _renamed(case.candidates)
    for policy in (case.policy, random_order):
        elected = elect(policy, case.candidates, case.evaluation, budget)
        if elect(policy, shuffled, case.evaluation, budget) != elected:
            yield f"{policy.name}: the order in which candidates are given has no effect"
        names = {old: new.key for old, new in zip(case.candidates, renamed, strict=True)}
        again = elect(policy, renamed, case.evaluation, budget)
        if [names[place] for place in elected] != [candidate.key for candidate in again]:
            yield f"{policy.name}: names have no effect if they keep the tie order"


def _intervals(case: ElectionCase) -> Iterator[str]:
    if needs_intervals(case.policy.rule):
        return
    other = replace(case, keys=tuple(replace(key, interval=1) for key in case.keys))
    budget = len(case.keys) // 2
    if _names(other, case.policy, budget) != _names(case, case.policy, budget):
        yield f"intervals have no effect on {case.written}"


def _renamed(candidates: list[Candidate]) -> list[Candidate]:
    order = sorted(candidates, key=lambda candidate: (candidate.tie, candidate.key))
    return [replace(candidate, key=f"x{order.index(candidate):05}") for candidate in candidates]


def _extremes(case: ElectionCase) -> Iterator[str]:
    budget = len(case.keys) // 2 + 1
    single: dict[str, Ranking] = {"LRU": Lru(), "RND": Rnd(0)}
    for name, ranking in single.items():
        for mode in ("minmax", "positions"):
            for side, alone in (("acqua", ranking), ("filter", FilterDistance())):
                other = FilterDistance() if side == "acqua" else ranking
                for alpha, expected in ((1, alone), (0, other)):
                    options = {"alpha": alpha, "alpha_on": side, "mode": mode}
                    yield from _same(case, f"{name}.F+", options, expected, budget)
        yield from _same(case, f"{name}.F", {"fdt": float("inf")}, ranking, budget)
    yield from _same(case, "WBM.F", {"fdt": float("inf")}, Wbm(), budget)


def _same(
    case: ElectionCase, text: str, options: dict[str, object], alone: Ranking, budget: int
) -> Iterator[str]:
    want = _names(case, Policy("", Alone(alone)), budget)
    got = _names(case, policy_of(text, options), budget)
    if got != want:
        yield f"{text} with {options} elects what {alone} alone does: {got}, not {want}"


def _scales(case: ElectionCase) -> Iterator[str]:
    values = np.array([float(key.distances[0] or 0) for key in case.keys if key.distances])
    for factor, shift in ((2.0, 0.0), (1.0, 7.0), (4.0, -3.0)):
        if not np.array_equal(minmax(values * factor + shift), minmax(values)):
            yield f"minmax of {factor} x + {shift} is minmax of x: {values}"
