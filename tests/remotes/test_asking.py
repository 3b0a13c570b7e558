"""An evaluation: right answers within the budget, also where requests fail and runs are killed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pyoxigraph as ox
import pytest

from tests.support.laws import Seeds
from weir.remotes.asking import NOT_AGAIN, Asked, Asking, AskingLimits, Elected, Fetched, Sent
from weir.remotes.budget import Amount, Entry, spent
from weir.remotes.http.outcomes import Failure, FailureKind
from weir.remotes.questions import Block, Solution

START = datetime(2026, 1, 1, tzinfo=UTC)
PLENTY = Amount(requests=10_000, keys=10_000, bytes=10**12, seconds=10**6)
BLOCK = Block("<u:r>", "b", "?x <u:p> ?y", ("x", "y"), frozenset({"x", "y"}), ("x",))
WHOLE = Block("<u:r>", "w", "?s <u:p> ?y", ("s", "y"), frozenset({"s", "y"}), ())


class Killed(BaseException):
    """The run ends here."""


@dataclass
class Memory:
    """A store of requests; `kills` says at which of its steps the run is killed."""

    kills: frozenset[int] = frozenset()
    rows: list[Entry] = field(default_factory=list)
    steps: int = 0

    def entries(self) -> Sequence[Entry]:
        return self.rows

    def reserve(self, sent: Sequence[Sent]) -> None:
        self.step()
        self.rows += [Entry(request.request_id, "reserved", request.most) for request in sent]
        self.step()

    def settle(self, ended: Sequence[tuple[Sent, Fetched | None]]) -> None:
        self.step()
        for sent, fetched in ended:
            took = Amount() if fetched is None else replace(fetched.took, requests=1)
            amount = took if fetched is None else replace(took, keys=sent.most.keys)
            self.rows.append(Entry(sent.request_id, "settled", amount))
        self.step()

    def step(self) -> None:
        self.steps += 1
        if self.steps in self.kills:
            raise Killed


@dataclass
class Remote:
    """A remote whose subjects have so many objects; it fails as it is planned to.

    Attributes:
        sizes: by subject.
        failures: what the next requests give instead of an answer; None for an answer.
        sent: what all requests have really taken.
    """

    sizes: dict[str, int]
    failures: list[Failure | None] = field(default_factory=list)
    sent: Amount = field(default_factory=Amount)
    queries: list[str] = field(default_factory=list)

    def fetch(self, query: str, most: Amount, bindings: int) -> Fetched:
        took = Amount(1, most.keys, min(most.bytes, 20_000), min(most.seconds, 0.5))
        self.sent += took
        self.queries.append(query)
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            return Fetched(failure, took)
        store = ox.Store()
        store.extend(
            ox.Quad(ox.NamedNode(subject), ox.NamedNode("u:p"), ox.Literal(i))
            for subject, size in self.sizes.items()
            for i in range(size)
        )
        result = store.query(query)
        assert isinstance(result, ox.QuerySolutions)
        names = [variable.value for variable in result.variables]
        solutions: list[Solution] = [
            {n: str(row[n]) for n in names if row[n] is not None} for row in result
        ]
        assert len(solutions) <= bindings
        return Fetched(solutions, took)


def asking(
    remote: Remote,
    store: Memory,
    budget: Amount = PLENTY,
    batch_keys: int = 4,
    max_rows: int = 3,
    waits: list[timedelta] | None = None,
) -> Asking:
    numbers = count(len(store.rows))
    return Asking(
        AskingLimits(budget, batch_keys, max_rows),
        store,
        remote.fetch,
        (waits if waits is not None else []).append,
        lambda: START,
        lambda: f"r{next(numbers)}",
    )


def keys_of(*subjects: str) -> list[Elected]:
    return [Elected(BLOCK, (f"<{subject}>",)) for subject in subjects]


def sizes(asked: Asked) -> dict[str, int | str]:
    """By subject the number of its mappings, or why there are none."""
    return {
        outcome.key[0][1:-1]: outcome.status if outcome.answer is None else outcome.answer.size
        for outcome in asked.outcomes
    }


def test_keys_are_asked_for_in_batches_in_the_order_of_their_election() -> None:
    remote = Remote({"u:a": 1, "u:b": 2})
    asked = asking(remote, Memory(), batch_keys=2).ask(keys_of("u:c", "u:a", "u:b"))
    assert (sizes(asked), asked.stop) == ({"u:c": 0, "u:a": 1, "u:b": 2}, "done")
    assert [query.count("<u:c>") for query in remote.queries] == [1, 0]


def test_a_key_does_not_get_the_mappings_of_one_that_the_remote_takes_for_it() -> None:
    one, padded = (f'"{text}"^^<http://www.w3.org/2001/XMLSchema#integer>' for text in ("1", "01"))

    def normalizing(query: str, most: Amount, bindings: int) -> Fetched:
        del bindings
        rows = query.replace(padded, one).count(one)
        return Fetched([{"x": one, "y": "<u:y>"}] * rows, Amount(1, most.keys))

    asking_ = asking(Remote({}), Memory())
    asking_.fetch = normalizing
    asked = asking_.ask([Elected(BLOCK, (padded,)), Elected(BLOCK, (one,))])
    answered = {outcome.key: outcome.answer and outcome.answer.size for outcome in asked.outcomes}
    assert answered == {(padded,): None, (one,): 1}


def test_an_answer_that_was_cut_off_is_divided_until_one_key_is_too_large() -> None:
    remote = Remote({"u:a": 1, "u:b": 40, "u:c": 3, "u:d": 2})
    asked = asking(remote, Memory()).ask(keys_of("u:a", "u:b", "u:c", "u:d"))
    assert sizes(asked) == {"u:a": 1, "u:b": "too_large", "u:c": 3, "u:d": 2}


def test_a_key_beyond_max_rows_in_a_batch_that_fits_is_too_large() -> None:
    asked = asking(Remote({"u:a": 5}), Memory()).ask(keys_of("u:a", "u:b"))
    assert sizes(asked) == {"u:a": "too_large", "u:b": 0}


@pytest.mark.parametrize("kind", ["not_results", "too_many_bytes", "too_much_memory", "incomplete"])
def test_a_failure_that_one_key_may_cause_is_isolated(kind: FailureKind) -> None:
    bad = Failure(kind, "bad")
    remote = Remote({"u:a": 1, "u:b": 1}, [bad, None, bad])
    asked = asking(remote, Memory()).ask(keys_of("u:a", "u:b"))
    assert sizes(asked) == {"u:a": 1, "u:b": "failed"}


def test_a_transient_failure_is_tried_three_times_with_longer_waits() -> None:
    lost = Failure("connection_lost", "lost")
    waits: list[timedelta] = []
    remote = Remote({"u:a": 1}, [lost, lost, None])
    asked = asking(remote, Memory(), waits=waits).ask(keys_of("u:a"))
    assert sizes(asked) == {"u:a": 1}
    assert waits == [timedelta(seconds=1), timedelta(seconds=2)]
    remote = Remote({"u:a": 1}, [lost, lost, lost])
    assert sizes(asking(remote, Memory()).ask(keys_of("u:a"))) == {"u:a": "failed"}


def test_a_client_error_is_not_tried_again() -> None:
    remote = Remote({}, [Failure("client_error", "no", 400)])
    assert sizes(asking(remote, Memory()).ask(keys_of("u:a"))) == {"u:a": "failed"}
    assert len(remote.queries) == 1


def test_keys_whose_first_try_failed_keep_its_reason_if_the_project_refuses_the_next() -> None:
    lost = Failure("connection_lost", "lost")
    remote = Remote({}, [lost, Failure("url_refused", "not allowed")])
    asked = asking(remote, Memory()).ask(keys_of("u:a"))
    (outcome,) = asked.outcomes
    assert (asked.refusal, outcome.reason) == ("not allowed", f"lost{NOT_AGAIN}")


def test_a_remote_that_asks_to_wait_gets_no_more_requests() -> None:
    store = Memory()
    remote = Remote({}, [None, Failure("throttled", "later", 429, 60.0)])
    asked = asking(remote, store, batch_keys=1).ask(keys_of("u:a", "u:b", "u:c"))
    assert asked.stop == "not_before"
    assert sizes(asked) == {"u:a": 0, "u:b": "failed"}
    # What was reserved for the third is given back.
    assert spent(store.rows).requests == 2


def test_a_remote_that_the_project_does_not_allow_gets_no_more_requests() -> None:
    store = Memory()
    remote = Remote({}, [Failure("url_refused", "port 3030 is not allowed")] * 9)
    asked = asking(remote, store, batch_keys=1).ask(keys_of("u:a", "u:b", "u:c"))
    assert (asked.stop, asked.refusal) == ("refused", "port 3030 is not allowed")
    assert sizes(asked) == {}
    assert spent(store.rows).requests == 1


def test_an_answer_to_another_question_is_not_believed() -> None:
    class Other(Remote):
        def fetch(self, query: str, most: Amount, bindings: int) -> Fetched:
            del query, bindings
            return Fetched([{"x": "<u:z>", "y": '"1"'}], most)

    asked = asking(Other({}), Memory()).ask(keys_of("u:a"))
    (outcome,) = asked.outcomes
    assert outcome.status == "failed"
    assert "not believed" in outcome.reason


def test_a_block_without_a_key_is_asked_for_as_a_whole() -> None:
    asked = asking(Remote({"u:a": 1, "u:b": 1}), Memory()).ask([Elected(WHOLE, ())])
    (outcome,) = asked.outcomes
    assert outcome.answer is not None
    assert outcome.answer.size == 2


def test_what_the_budget_does_not_cover_is_not_asked() -> None:
    budget = replace(PLENTY, keys=5)
    remote = Remote({})
    asked = asking(remote, Memory(), budget).ask(keys_of(*(f"u:{i}" for i in range(9))))
    assert (len(asked.outcomes), asked.stop) == (4, "budget")
    assert (budget + Amount()).covers(remote.sent)


def test_a_budget_that_covers_each_key_once_suffices_to_divide_a_batch() -> None:
    remote = Remote({"u:a": 1, "u:b": 9, "u:c": 1, "u:d": 1})
    store, budget = Memory(), replace(PLENTY, keys=4)
    asked = asking(remote, store, budget).ask(keys_of("u:a", "u:b", "u:c", "u:d"))
    assert sizes(asked) == {"u:a": 1, "u:b": "too_large", "u:c": 1, "u:d": 1}
    assert spent(store.rows).keys == 4


def test_keys_that_the_budget_does_not_try_again_have_failed() -> None:
    remote = Remote({}, [Failure("server_error", "500", 500)])
    asked = asking(remote, Memory(), replace(PLENTY, requests=1)).ask(keys_of("u:a", "u:b"))
    assert (asked.stop, sizes(asked)) == ("budget", {"u:a": "failed", "u:b": "failed"})
    assert {outcome.request_id for outcome in asked.outcomes} == {"r0"}


def test_keys_that_failed_before_are_asked_for_apart_and_in_smaller_batches() -> None:
    elected = [
        replace(key, failures=i % 2)
        for i, key in enumerate(keys_of(*(f"u:{name}" for name in "abcdefgh")))
    ]
    remote = Remote({})
    asking(remote, Memory(), batch_keys=16).ask(elected)
    batches = [[key for key in "abcdefgh" if f"(<u:{key}>)" in query] for query in remote.queries]
    assert batches == [["a", "c", "e", "g"], ["b", "d"], ["f", "h"]]


@pytest.mark.law("asking")
def test_random_evaluations_with_failures_and_kills_are_right_and_within_budget(
    seeds: Seeds,
) -> None:
    stops: Counter[str] = Counter()
    for seed in seeds:
        rng = random.Random(seed)
        subjects = [f"u:{i}" for i in range(rng.randint(1, 12))]
        truth = {subject: rng.choice((0, 1, 2, 3, 9)) for subject in subjects}
        kinds: tuple[FailureKind, ...] = ("connection_lost", "not_results", "client_error")
        failures = [
            Failure(rng.choice(kinds), "bad") if rng.random() < 0.25 else None for _ in range(40)
        ]
        budget = Amount(
            rng.choice((3, 8, 100)), rng.choice((6, 20, 200)), 10**6, rng.choice((5.0, 10.0**3))
        )
        store = Memory(frozenset(rng.sample(range(1, 20), rng.randint(0, 4))))
        remote = Remote(truth, failures)
        asked: Asked | None = None
        for _ in range(6):
            try:
                asked = asking(remote, store, budget, rng.randint(1, 5)).ask(keys_of(*subjects))
                break
            except Killed:
                continue
        slack = budget + Amount(seconds=1e-6)
        assert slack.covers(remote.sent), seed
        assert slack.covers(spent(store.rows)), seed
        assert asked is not None
        stops[asked.stop] += 1
        for subject, size in sizes(asked).items():
            if size == "too_large":
                assert truth[subject] > 3, seed
            elif size != "failed":
                assert size == truth[subject], seed
        if asked.stop == "done":
            assert len(asked.outcomes) == len(subjects), seed
    assert len(seeds) < 100 or min(stops["done"], stops["budget"]) > len(seeds) / 8
