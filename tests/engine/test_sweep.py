"""Sweep: between logs and interval relations, on DuckDB, compared with sums in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from tests.support.duck import DuckOfTest
from weir.compute.sql import column, columns, rows_of, select
from weir.engine.relations import FOREVER, EpochRange
from weir.engine.sweep import differentiate, ends, integrate, net, presence, set_log, sweep

LAST = 6
_KEY = ("a",)
_LOGS = st.lists(
    st.tuples(st.sampled_from(["x", "y", None]), st.integers(1, LAST), st.integers(-2, 3)),
    max_size=12,
)
Log = list[tuple[str | None, int, int]]


class Logs:
    """A relation `log` with the columns a, epoch, weight."""

    def __init__(self) -> None:
        self.engine = DuckOfTest()
        self.engine.connection.execute("CREATE TABLE log (a VARCHAR, epoch BIGINT, weight BIGINT)")

    def filled(self, log: Log) -> exp.Select:
        """The rows of `log`."""
        self.engine.connection.execute("DELETE FROM log")
        if log:
            self.engine.connection.executemany("INSERT INTO log VALUES (?, ?, ?)", log)
        return select(*columns(("a", "epoch", "weight")), from_=rows_of("log"))

    def rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        """The rows of a query, sorted."""
        return sorted(self.engine.rows(query), key=repr)


@pytest.fixture(scope="module")
def logs() -> Iterator[Logs]:
    made = Logs()
    yield made
    made.engine.connection.close()


def state(log: Log, epoch: int) -> Counter[str | None]:
    """The sums of the weights up to an epoch, without zeros."""
    total: Counter[str | None] = Counter()
    for row, at, weight in log:
        if at <= epoch:
            total[row] += weight
    return Counter({row: weight for row, weight in total.items() if weight})


def netted(log: Log) -> list[tuple[object, ...]]:
    """One row per key and epoch, without zeros."""
    total: Counter[tuple[str | None, int]] = Counter()
    for row, epoch, weight in log:
        total[row, epoch] += weight
    return sorted(((*key, weight) for key, weight in total.items() if weight), key=repr)


@settings(max_examples=40, deadline=None)
@given(log=_LOGS)
def test_the_intervals_of_an_epoch_are_the_sums_of_the_weights_up_to_it(
    logs: Logs, log: Log
) -> None:
    intervals = logs.rows(integrate(logs.filled(log), _KEY))
    for epoch in range(LAST + 1):
        held = Counter({a: w for a, since, until, w in intervals if since <= epoch < until})
        assert held == state(log, epoch)


@settings(max_examples=40, deadline=None)
@given(log=_LOGS)
def test_differentiate_undoes_integrate(logs: Logs, log: Log) -> None:
    whole = EpochRange(0, LAST)
    changes = logs.rows(net(differentiate(integrate(logs.filled(log), _KEY), _KEY, whole), _KEY))
    assert changes == netted(log)


@settings(max_examples=40, deadline=None)
@given(log=_LOGS, after=st.integers(0, LAST - 2))
def test_a_range_has_the_changes_after_its_beginning_up_to_its_end(
    logs: Logs, log: Log, after: int
) -> None:
    last = LAST - 1
    intervals = integrate(logs.filled(log), _KEY)
    changes = logs.rows(net(differentiate(intervals, _KEY, EpochRange(after, last)), _KEY))
    assert changes == netted([row for row in log if after < row[1] <= last])


@settings(max_examples=40, deadline=None)
@given(log=_LOGS)
def test_a_row_is_present_once_while_its_sum_is_positive(logs: Logs, log: Log) -> None:
    intervals = logs.rows(presence(logs.filled(log), _KEY))
    for epoch in range(LAST + 1):
        held = [a for a, since, until, weight in intervals if since <= epoch < until]
        positive = [a for a, weight in state(log, epoch).items() if weight > 0]
        assert sorted(held, key=repr) == sorted(positive, key=repr)
    assert {weight for *_, weight in intervals} <= {1}


@settings(max_examples=40, deadline=None)
@given(log=_LOGS)
def test_the_log_of_a_set_has_the_epochs_at_which_a_sum_becomes_positive_or_stops_being_so(
    logs: Logs, log: Log
) -> None:
    expected = []
    for epoch in range(1, LAST + 1):
        before, now = (+state(log, at) for at in (epoch - 1, epoch))
        expected += [(row, epoch, 1) for row in now.keys() - before.keys()]
        expected += [(row, epoch, -1) for row in before.keys() - now.keys()]
    changes = logs.rows(set_log(logs.filled(log), _KEY, EpochRange(0, LAST)))
    assert changes == sorted(expected, key=repr)


def test_the_ends_of_integrated_intervals_are_the_log_of_all_epochs(logs: Logs) -> None:
    intervals = integrate(logs.filled([("x", 2, 1), ("x", 5, -1), ("y", 4, 3)]), _KEY)
    log = logs.rows(net(ends(intervals, _KEY), _KEY))
    assert log == [("x", 2, 1), ("x", 5, -1), ("y", 4, 3)]


def test_a_segment_lasts_to_the_next_epoch_of_its_key(logs: Logs) -> None:
    log = logs.filled([("x", 1, 1), ("x", 3, 2), ("y", 2, 1)])
    segments = logs.rows(sweep(log, _KEY, {"total": column("weight")}))
    assert segments == [("x", 1, 3, 1), ("x", 3, FOREVER, 3), ("y", 2, FOREVER, 1)]


def test_without_a_key_there_is_one_sequence_of_segments(logs: Logs) -> None:
    log = logs.filled([("x", 1, 1), ("y", 2, 1), ("z", 2, 1)])
    assert logs.rows(sweep(log, (), {"total": column("weight")})) == [(1, 2, 1), (2, FOREVER, 3)]
