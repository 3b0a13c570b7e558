"""One request at a time for each host, a few hosts at once, no more bytes than there are."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.remotes.http.outcomes import Failure, FailureKind
from weir.traversals.messages import FetchTask
from weir.traversals.turns import LEAST_SECONDS, OVERTIME, HostRecord, Turns


def task(id: int, pause: float = 0.0, most_bytes: int = 100) -> FetchTask:
    return FetchTask(id, f"http://e/{id}", f"http://e/{id}", "*/*", most_bytes, 1.0, pause=pause)


def on_hosts(hosts: str, pause: float = 0.0) -> Sequence[tuple[str, FetchTask]]:
    return [(host, task(id, pause)) for id, host in enumerate(hosts)]


def taken(turns: Turns, now: float = 0.0) -> list[int]:
    ids = []
    while next_one := turns.take(now):
        ids.append(next_one.id)
    return ids


def test_a_host_has_one_request_at_a_time() -> None:
    turns = Turns(on_hosts("aab"), hosts=8)
    assert taken(turns) == [0, 2]
    turns.ended(0, 10, 0.0, None, 0.0)
    assert taken(turns) == [1]


def test_few_hosts_are_asked_at_once() -> None:
    turns = Turns(on_hosts("abcd"), hosts=2)
    assert taken(turns) == [0, 1]
    turns.ended(1, 10, 0.0, None, 0.0)
    assert taken(turns) == [2]


def test_a_host_is_left_alone_for_the_pause_of_its_next_task() -> None:
    turns = Turns(on_hosts("aa", pause=5.0), hosts=2)
    assert taken(turns, 100.0) == [0]
    turns.ended(0, 10, 0.0, None, 101.0)
    assert taken(turns, 105.9) == []
    assert turns.next_at(105.9) == 106.0
    assert taken(turns, 106.0) == [1]


def test_a_host_that_pauses_keeps_no_other_one_waiting() -> None:
    turns = Turns([("a", task(0)), ("a", task(1, pause=60)), ("b", task(2)), ("b", task(3))], 1)
    assert taken(turns) == [0]
    turns.ended(0, 10, 0.0, None, 0.0)
    assert taken(turns) == [2]
    turns.ended(2, 10, 0.0, None, 1.0)
    assert taken(turns, 1.0) == [3]


def test_nothing_is_a_matter_of_time_while_a_task_has_to_end() -> None:
    turns = Turns(on_hosts("ab"), hosts=1)
    assert taken(turns) == [0]
    assert turns.next_at(0.0) is None


@pytest.mark.parametrize(
    ("kind", "asked"),
    [("server_error", 5), ("deadline_passed", 5), ("throttled", 1), ("client_error", 9), (None, 9)],
)
def test_a_host_that_does_not_answer_is_not_asked_any_more(
    kind: FailureKind | None, asked: int
) -> None:
    turns = Turns(on_hosts("a" * 9 + "b"), hosts=1)
    failure = Failure(kind, "") if kind else None
    ids, left = list[int](), list[FetchTask]()
    while next_one := turns.take(0.0):
        ids.append(next_one.id)
        left += turns.ended(next_one.id, 0, 0.0, failure if next_one.id != 9 else None, 0.0)
    assert len(ids) == asked + 1
    assert sorted(ids + [dropped.id for dropped in left]) == list(range(10))
    assert turns.is_over


def test_an_answer_between_failures_starts_the_count_again() -> None:
    turns = Turns(on_hosts("a" * 20), hosts=1)
    for number in range(20):
        assert taken(turns) == [number]
        failure = None if number % 5 == 4 else Failure("server_error", "")
        assert turns.ended(number, 0, 0.0, failure, 0.0) == ()


def test_bytes_that_are_left_go_to_the_next_task() -> None:
    turns = Turns(on_hosts("abcd"), hosts=8, most_bytes=250)
    assert taken(turns) == [0, 1]
    assert turns.next_at(0.0) is None
    turns.ended(0, 20, 0.0, None, 0.0)
    assert taken(turns) == [2]
    turns.ended(1, 100, 0.0, None, 0.0)
    turns.ended(2, 100, 0.0, None, 0.0)
    last = turns.take(0.0)
    assert last is not None
    assert (last.id, last.most_bytes) == (3, 30)
    turns.ended(3, 30, 0.0, None, 0.0)
    assert turns.is_over


def test_without_bytes_nothing_is_sent() -> None:
    turns = Turns(on_hosts("ab"), hosts=8, most_bytes=100)
    assert taken(turns) == [0]
    turns.ended(0, 100, 0.0, None, 0.0)
    assert turns.is_spent
    assert taken(turns) == []
    assert [dropped.id for dropped in turns.drop_all()] == [1]
    assert turns.is_over


def test_seconds_that_are_left_go_to_the_next_task() -> None:
    turns = Turns(on_hosts("abc"), hosts=8, most_seconds=2 + 2 * OVERTIME)
    assert taken(turns) == [0, 1]
    turns.ended(0, 10, 0.5, None, 0.0)
    assert taken(turns) == []
    turns.ended(1, 10, 1.0 + OVERTIME, None, 0.0)
    last = turns.take(0.0)
    assert last is not None
    assert last.id == 2
    assert last.seconds == pytest.approx(0.5)
    turns.ended(2, 10, 0.5 + OVERTIME, None, 0.0)
    assert turns.is_over


def test_without_seconds_nothing_is_sent() -> None:
    turns = Turns(on_hosts("ab"), hosts=8, most_seconds=1 + OVERTIME + LEAST_SECONDS)
    assert taken(turns) == [0]
    turns.ended(0, 100, 1 + OVERTIME, None, 0.0)
    assert turns.is_spent
    assert taken(turns) == []
    assert [dropped.id for dropped in turns.drop_all()] == [1]


def test_a_host_is_left_alone_after_the_requests_of_earlier_turns() -> None:
    records: dict[str, HostRecord] = {}
    first = Turns(on_hosts("a"), hosts=1, records=records)
    assert taken(first, 100.0) == [0]
    first.ended(0, 10, 0.0, None, 101.0)
    second = Turns(on_hosts("a", pause=5.0), hosts=1, records=records)
    assert taken(second, 105.9) == []
    assert taken(second, 106.0) == [0]


def test_a_host_that_failed_in_earlier_turns_is_asked_once() -> None:
    records = {"a": HostRecord(failed=5)}
    turns = Turns(on_hosts("aaa"), hosts=1, records=records)
    assert taken(turns) == [0]
    left = turns.ended(0, 0, 0.0, Failure("not_connected", ""), 0.0)
    assert [task.id for task in left] == [1, 2]


TASKS = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from([0.0, 1.0, 7.5]), st.integers(1, 300)),
    max_size=30,
)


@given(
    TASKS,
    st.integers(1, 4),
    st.none() | st.integers(0, 3000),
    st.none() | st.integers(0, 30),
    st.randoms(),
)
def test_every_task_ends_once_and_no_rule_is_broken(
    drawn: list[tuple[str, float, int]],
    hosts: int,
    most_bytes: int | None,
    most_seconds: int | None,
    chance: random.Random,
) -> None:
    tasks = [(host, task(id, pause, most)) for id, (host, pause, most) in enumerate(drawn)]
    host_of = {task.id: host for host, task in tasks}
    turns = Turns(tasks, hosts, most_bytes, most_seconds)
    now, used, used_seconds, flying = 0.0, 0, 0.0, list[FetchTask]()
    free_at: dict[str, float] = {}
    ends = Counter[int]()
    for _ in range(1000):
        while next_one := turns.take(now):
            host = host_of[next_one.id]
            assert now >= free_at.get(host, -1e9) + next_one.pause
            flying.append(next_one)
            assert max(Counter(host_of[task.id] for task in flying).values()) == 1
            assert len(flying) <= hosts
            assert most_bytes is None or used + sum(t.most_bytes for t in flying) <= most_bytes
            given_out = used_seconds + sum(t.seconds + OVERTIME for t in flying)
            assert most_seconds is None or given_out <= most_seconds + 1e-9
            assert next_one.seconds >= min(1.0, LEAST_SECONDS) - 1e-9
        if turns.is_spent:
            ends.update(dropped.id for dropped in turns.drop_all())
        elif flying:
            over = flying.pop(chance.randrange(len(flying)))
            now += chance.random()
            bytes = chance.randint(0, over.most_bytes)
            used += bytes
            seconds = chance.random() * (over.seconds + OVERTIME)
            used_seconds += seconds
            free_at[host_of[over.id]] = now
            kinds: list[FailureKind | None] = [None, None, "server_error", "throttled"]
            kind = chance.choice(kinds)
            failure = Failure(kind, "") if kind else None
            ends[over.id] += 1
            ends.update(left.id for left in turns.ended(over.id, bytes, seconds, failure, now))
        elif turns.is_over:
            break
        else:
            at = turns.next_at(now)
            assert at is not None
            assert at > now
            now = at
    assert turns.is_over
    assert ends == Counter(task.id for _, task in tasks)
