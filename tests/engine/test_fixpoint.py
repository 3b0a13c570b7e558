"""Fixpoint: relations made by repeating a statement until it finds nothing new."""

from __future__ import annotations

import pytest
from sqlglot import exp

from jobs.compute.duck import DuckEngine
from jobs.compute.sql import alias, column, number, rows_of, select, small_number
from jobs.engine.fixpoint import Fixpoint, make
from tests.support.duck import DuckOfTest


@pytest.fixture
def engine() -> DuckEngine:
    return DuckOfTest()


def _one() -> exp.Select:
    return select(alias(number(1), "n"))


def _counting(found: str, limit: int) -> exp.Select:
    """The number after each of `found`, up to a limit."""
    following = alias(column("n") + small_number(1), "n")
    return select(following, from_=rows_of(found), where=[column("n") < number(limit)])


def _rows(engine: DuckEngine, name: str) -> list[object]:
    return sorted(row[0] for row in engine.rows(select("*", from_=rows_of(name))))  # type: ignore[type-var]


@pytest.mark.parametrize("limit", [1, 2, 9, 80])
def test_a_fixpoint_has_the_seed_and_all_that_follows_each_row_once(
    engine: DuckEngine, limit: int
) -> None:
    """With more rounds than are merged at once, and merges of merged ones."""
    make(engine, Fixpoint("q", ("n",), _one(), lambda found: _counting(found, limit)))
    assert _rows(engine, "q") == [*range(1, limit + 1)]


def test_a_fixpoint_of_an_empty_seed_is_empty(engine: DuckEngine) -> None:
    empty = select(alias(number(1), "n"), where=[exp.false()])
    make(engine, Fixpoint("q", ("n",), empty, lambda found: _counting(found, 9)))
    assert _rows(engine, "q") == []


def test_a_round_begins_with_the_rows_that_are_new(engine: DuckEngine) -> None:
    """What follows from a row is computed once: each round is given the rows of the one before."""
    seen: list[list[object]] = []

    def step(found: str) -> exp.Select:
        seen.append(_rows(engine, found))
        return _counting(found, 4)

    make(engine, Fixpoint("q", ("n",), _one(), step))
    assert seen == [[1], [2], [3], [4]]


def test_a_fixpoint_over_a_cycle_terminates(engine: DuckEngine) -> None:
    def step(found: str) -> exp.Select:
        following = (column("n") % small_number(5)) + small_number(1)
        return select(alias(following, "n"), from_=rows_of(found))

    make(engine, Fixpoint("q", ("n",), _one(), step))
    assert _rows(engine, "q") == [1, 2, 3, 4, 5]
