"""Budgets: never overspent, in which place a run may be killed."""

from __future__ import annotations

import random
from dataclasses import astuple

import pytest

from tests.support.laws import Seeds
from weir.remotes.budget import Amount, Entry, shares, spent

LEAST_BYTES, LEAST_SECONDS = 100, 0.1


class Killed(Exception):  # noqa: N818  (it is no error)
    """The run ends here."""


class Evaluation:
    """An evaluation whose runs are killed; `sent` is what the requests really took."""

    def __init__(self, rng: random.Random, budget: Amount) -> None:
        self.rng, self.budget = rng, budget
        self.entries: list[Entry] = []
        self.sent = Amount()
        self.requests = 0

    def run(self) -> None:
        keys = self.rng.randint(0, 40)
        while keys:
            batch = self.rng.randint(1, 10)
            batches = [min(batch, keys - i) for i in range(0, keys, batch)][:10]
            left = self.budget.less(spent(self.entries))
            allowed = shares(left, batches, LEAST_BYTES, LEAST_SECONDS)
            if not allowed:
                return
            ids = [f"r{self.requests + i}" for i in range(len(allowed))]
            self.requests += len(allowed)
            self._maybe_killed()
            self.entries += [
                Entry(name, "reserved", share) for name, share in zip(ids, allowed, strict=True)
            ]
            self._maybe_killed()
            settled = []
            for name, share in zip(ids, allowed, strict=True):
                self._maybe_killed()
                took = Amount(
                    1,
                    share.keys,
                    self.rng.randint(0, share.bytes),
                    self.rng.uniform(0, share.seconds),
                )
                self.sent += took
                settled.append(Entry(name, "settled", took))
                keys -= share.keys
            self._maybe_killed()
            self.entries += settled

    def _maybe_killed(self) -> None:
        if self.rng.random() < 0.1:
            raise Killed


@pytest.mark.law("budgets")
def test_no_unit_is_overspent_in_evaluations_whose_runs_are_killed(seeds: Seeds) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        budget = Amount(
            rng.randint(0, 12), rng.randint(0, 40), rng.randint(0, 10_000), rng.uniform(0, 10)
        )
        evaluation = Evaluation(rng, budget)
        for _ in range(rng.randint(1, 5)):
            try:
                evaluation.run()
            except Killed:
                continue
        slack = Amount(seconds=1e-9)
        assert (budget + slack).covers(evaluation.sent), seed
        assert (budget + slack).covers(spent(evaluation.entries)), seed


def test_what_is_settled_counts_instead_of_what_was_reserved() -> None:
    entries = [
        Entry("a", "reserved", Amount(1, 5, 1000, 2.0)),
        Entry("b", "reserved", Amount(1, 5, 1000, 2.0)),
        Entry("a", "settled", Amount(1, 5, 300, 0.5)),
    ]
    assert spent(entries) == Amount(2, 10, 1300, 2.5)


def test_shares_divide_half_of_bytes_and_seconds_among_the_requests_there_is_budget_for() -> None:
    left = Amount(requests=5, keys=25, bytes=900, seconds=3.0)
    first, second = shares(left, [10, 10, 10], LEAST_BYTES, LEAST_SECONDS)
    assert astuple(first) == astuple(second) == (1, 10, 225, 0.75)
    assert left.less(first + second) == Amount(requests=3, keys=5, bytes=450, seconds=1.5)


def test_no_request_gets_less_than_can_be_sent() -> None:
    (share,) = shares(Amount(1, 10, 150, 0.15), [1], LEAST_BYTES, LEAST_SECONDS)
    assert share == Amount(1, 1, LEAST_BYTES, LEAST_SECONDS)


def test_no_request_is_sent_with_too_few_bytes_or_seconds() -> None:
    assert not shares(Amount(1, 10, 99, 1.0), [1], LEAST_BYTES, LEAST_SECONDS)
    assert not shares(Amount(1, 10, 1000, 0.05), [1], LEAST_BYTES, LEAST_SECONDS)
