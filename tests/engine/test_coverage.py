"""Coverage: intervals as sets of points per key, against sets of points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from unittest.mock import patch

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from tests.support.duck import DuckOfTest
from weir.compute.sql import column, columns, greatest, inner_join, least, rows_of, select, subquery
from weir.engine import interval_fixpoint as rounds
from weir.engine.coverage import coalesced, coalesced_where_several, difference
from weir.engine.interval_fixpoint import interval_fixpoint
from weir.engine.relations import INTERVAL
from weir.engine.sweep import Key

Interval = tuple[str, int, int]
"""Key, since, until."""

_INTERVALS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 12), st.integers(1, 5)).map(
        lambda interval: (interval[0], interval[1], interval[1] + interval[2])
    ),
    max_size=8,
)
_STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.integers(0, 6), st.integers(1, 4)),
    max_size=7,
)


@settings(max_examples=50, deadline=None)
@given(compute=st.sampled_from((coalesced, coalesced_where_several)), intervals=_INTERVALS)
def test_coalesced_intervals_cover_the_same_and_do_not_meet(
    compute: Callable[[exp.Query, Key], exp.Query], intervals: list[Interval]
) -> None:
    together = _rows(compute(_all("a"), ("k",)), {"a": intervals})
    assert _points(together) == _points(intervals)
    ends = {(key, until) for key, _, until in together}
    assert not ends & {(key, since) for key, since, _ in together}
    assert len(together) == len({*together})


@settings(max_examples=50, deadline=None)
@given(left=_INTERVALS, right=_INTERVALS)
def test_a_difference_covers_what_only_the_left_covers(
    left: list[Interval], right: list[Interval]
) -> None:
    only_left = _rows(difference(_all("a"), _all("b"), ("k",)), {"a": left, "b": right})
    assert _points(only_left) == _points(left) - _points(right)
    assert sum(until - since for _, since, until in only_left) == len(_points(only_left))


@settings(max_examples=80, deadline=None)
@given(steps=_STEPS, many=st.sampled_from((0, 2, 10_000)))
def test_a_fixpoint_of_intervals_is_the_closure_at_every_point(
    steps: list[tuple[str, str, int, int]], many: int
) -> None:
    engine = DuckOfTest()
    key = ("source", "target")
    rows = [(source, target, since, since + length) for source, target, since, length in steps]
    engine.load("steps", _table(rows, (*key, *INTERVAL)))

    def step(new: Mapping[str, str], known: Mapping[str, str]) -> Mapping[str, exp.Query]:
        assert {*new} <= {*known}
        longer = select(
            column("source", "n"),
            column("target", "s"),
            greatest(column("since", "n"), column("since", "s")).as_("since"),
            least(column("until", "n"), column("until", "s")).as_("until"),
            from_=rows_of(new["paths"], "n"),
            joins=[
                inner_join(
                    rows_of("steps", "s"),
                    column("target", "n").eq(column("source", "s")),
                    column("since", "n") < column("until", "s"),
                    column("since", "s") < column("until", "n"),
                )
            ],
        )
        return {"paths": longer}

    seed = select(*columns((*key, *INTERVAL)), from_=rows_of("steps"))
    with patch.object(rounds, "_MANY", many):
        made = interval_fixpoint(engine, {"paths": key}, {"paths": seed}, step, "closure")
    closed: set[tuple[object, object, int]] = set()
    if "paths" in made:
        query = select(*columns((*key, *INTERVAL)), from_=rows_of(made["paths"]))
        for source, target, since, until in engine.rows(query):
            assert isinstance(since, int)
            assert isinstance(until, int)
            points = {(source, target, point) for point in range(since, until)}
            assert not points & closed
            closed |= points
    assert closed == _closure({(a, b, p) for a, b, s, u in rows for p in range(s, u)})


def test_a_fixpoint_of_nothing_has_no_relation() -> None:
    engine = DuckOfTest()
    engine.load("a", _table([], ("k", *INTERVAL)))
    keys = {"r": ("k",), "s": ("k",)}
    assert interval_fixpoint(engine, keys, {"r": _all("a")}, lambda *_: {}, "nothing") == {}


def _closure(steps: set[tuple[object, object, int]]) -> set[tuple[object, object, int]]:
    closed = {*steps}
    while True:
        longer = {(a, d, p) for a, b, p in closed for c, d, q in steps if b == c and p == q}
        if longer <= closed:
            return closed
        closed |= longer


def _all(name: str) -> exp.Query:
    return select(*columns(("k", *INTERVAL)), from_=rows_of(name))


def _points(intervals: Sequence[Interval]) -> set[tuple[str, int]]:
    return {(key, point) for key, since, until in intervals for point in range(since, until)}


def _rows(query: exp.Query, relations: Mapping[str, Sequence[Interval]]) -> list[Interval]:
    engine = DuckOfTest()
    for name, rows in relations.items():
        engine.load(name, _table(rows, ("k", *INTERVAL)))
    computed = engine.rows(select(*columns(("k", *INTERVAL)), from_=subquery(query, "q")))
    return [(str(key), int(str(since)), int(str(until))) for key, since, until in computed]


def _table(rows: Sequence[tuple[object, ...]], names: Sequence[str]) -> pa.Table:
    kinds = {"since": pa.int64(), "until": pa.int64()}
    return pa.table(
        {
            name: pa.array([row[i] for row in rows], kinds.get(name, pa.string()))
            for i, name in enumerate(names)
        }
    )
