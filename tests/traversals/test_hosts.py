"""A host that does not answer is left alone, and its pages stay due."""

from __future__ import annotations

import pytest

from weir.traversals.hosts import MOST_KEPT, RULES, Hosts

PAUSE = RULES.pause.total_seconds()
PAGES = ["https://a.example/0", "https://a.example/1", "https://b.example/2"]


def failing(hosts: Hosts, times: int, now: float = 0.0, kind: str = "not_connected") -> Hosts:
    for _ in range(times):
        hosts.note("a.example", kind, 0.0, now)
    return hosts


def test_few_failures_leave_no_host_alone() -> None:
    assert failing(Hosts(), RULES.failures - 1).admitted(PAGES, 0.0) == PAGES


def test_a_host_that_fails_often_in_a_row_is_left_alone() -> None:
    assert failing(Hosts(), RULES.failures).admitted(PAGES, 1.0) == PAGES[2:]


@pytest.mark.parametrize("kind", ["answered", "too_many_bytes"])
def test_an_answer_between_failures_starts_the_count_again(kind: str) -> None:
    hosts = failing(Hosts(), RULES.failures - 1)
    hosts.note("a.example", kind, 0.0, 0.0)
    assert failing(hosts, RULES.failures - 1).admitted(PAGES, 0.0) == PAGES


def test_failures_of_the_child_process_say_nothing_of_a_host() -> None:
    assert failing(Hosts(), 9, kind="worker_failed").admitted(PAGES, 0.0) == PAGES
    hosts = failing(Hosts(), RULES.failures - 1)
    hosts.note("a.example", "worker_failed", 0.0, 0.0)
    assert failing(hosts, 1).admitted(PAGES, 0.0) == PAGES[2:]


def test_one_page_is_asked_for_when_the_time_is_over() -> None:
    hosts = failing(Hosts(), RULES.failures)
    assert hosts.admitted(PAGES, PAUSE) == [PAGES[0], PAGES[2]]


def test_a_failure_then_doubles_the_time_up_to_a_day() -> None:
    hosts, now = failing(Hosts(), RULES.failures), 0.0
    for times in range(20):
        until = hosts.states["a.example"].until
        assert until - now == min(PAUSE * 2**times, 86_400)
        now = until
        failing(hosts, 1, now)


def test_an_answer_then_opens_the_host_for_all_pages() -> None:
    hosts = failing(Hosts(), RULES.failures)
    hosts.note("a.example", "answered", 0.0, PAUSE)
    assert hosts.admitted(PAGES, PAUSE) == PAGES


def test_a_host_that_asks_to_be_left_alone_is_so_for_as_long() -> None:
    hosts = Hosts()
    hosts.note("a.example", "throttled", 3 * PAUSE, 10.0)
    assert hosts.is_left_alone(PAGES[0], 10.0 + 3 * PAUSE - 1)
    assert not hosts.is_left_alone(PAGES[0], 10.0 + 3 * PAUSE)


def test_the_next_evaluation_knows_which_hosts_are_left_alone() -> None:
    hosts = failing(Hosts(), RULES.failures)
    hosts.note("b.example", "not_connected", 0.0, 0.0)
    again = Hosts.read(hosts.kept())
    assert again.states == {"a.example": hosts.states["a.example"]}


def test_what_the_next_evaluation_knows_is_bounded() -> None:
    hosts = Hosts()
    for number in range(MOST_KEPT + 10):
        hosts.leave_alone(f"{number}.example", 0.0, float(number))
    kept = hosts.kept()
    assert len(kept) == MOST_KEPT
    assert "9.example" not in kept
