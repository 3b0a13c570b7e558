"""Fixpoint: what steps lead to from the rows of a relation."""

from __future__ import annotations

import re
from random import Random

import pytest
from sqlglot import exp

from tests.support.duck import DuckOfTest
from weir.compute.duck import DuckEngine
from weir.compute.relations import Statement
from weir.compute.sql import alias, column, inner_join, number, rows_of, select, union_all
from weir.engine.fixpoint import Fixpoint, Steps, make

Pair = tuple[int, int]
_MANY, _FEW = 10**9, 0


@pytest.fixture(params=[False, True], ids=["here", "distant"])
def engine(request: pytest.FixtureRequest) -> DuckEngine:
    duck = DuckOfTest()
    duck.is_distant = request.param
    return duck


def _then(first: str, second: str) -> exp.Select:
    return select(
        column("a", "f"),
        column("b", "s"),
        from_=rows_of(first, "f"),
        joins=[inner_join(rows_of(second, "s"), column("b", "f").eq(column("a", "s")))],
    )


def _follow(rows: str, steps: str) -> exp.Select:
    return select(
        alias(column("b", "s"), "n"),
        from_=rows_of(rows, "r"),
        joins=[inner_join(rows_of(steps, "s"), column("n", "r").eq(column("a", "s")))],
    )


def _pairs(pairs: set[Pair]) -> exp.Query:
    return union_all([select(alias(number(a), "a"), alias(number(b), "b")) for a, b in pairs])


def _reached(engine: DuckEngine, pairs: set[Pair], start: int = 0, joined: int = 1) -> list[object]:
    """The nodes that pairs lead to from one; `joined` rows are said to be joined by a stride."""
    engine.make(Statement("pairs", _pairs(pairs), "small"))
    steps = Steps("pairs", ("a", "b"), _then, lambda _: select(number(joined)))
    make(engine, Fixpoint("q", ("n",), select(alias(number(start), "n")), steps, _follow))
    return sorted(row[0] for row in engine.rows(select("*", from_=rows_of("q"))))  # type: ignore[type-var]


def _chain(length: int) -> set[Pair]:
    return {(i, i + 1) for i in range(length)}


@pytest.mark.parametrize("joined", [_FEW, _MANY])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 15, 16, 17, 18, 80])
def test_a_fixpoint_has_the_seed_and_all_that_follows_each_row_once(
    engine: DuckEngine, length: int, joined: int
) -> None:
    """With strides and without, with merges of rounds and merges of merged ones."""
    assert _reached(engine, _chain(length), joined=joined) == [*range(length + 1)]


def test_a_fixpoint_of_an_empty_seed_is_empty(engine: DuckEngine) -> None:
    engine.make(Statement("pairs", _pairs(_chain(3)), "small"))
    steps = Steps("pairs", ("a", "b"), _then, lambda _: select(number(1)))
    empty = select(alias(number(1), "n"), where=[exp.false()])
    make(engine, Fixpoint("q", ("n",), empty, steps, _follow))
    assert engine.rows(select("*", from_=rows_of("q"))) == []


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("joined", [_FEW, _MANY])
def test_a_fixpoint_over_cycles_and_short_cuts_has_what_can_be_reached(joined: int) -> None:
    random = Random(5)
    for i in range(24):
        size = random.randrange(2, 60)
        pairs = {(node, node + 1) for node in range(size) if random.random() < 0.95}
        pairs |= {(random.randrange(size), random.randrange(size)) for _ in range(i % 4)}
        reached = {0}
        while more := {b for a, b in pairs if a in reached} - reached:
            reached |= more
        duck = DuckOfTest()
        duck.is_distant = i % 2 == 0
        assert _reached(duck, pairs or {(0, 0)}, joined=joined) == sorted(reached)


def test_rounds_grow_with_the_logarithm_of_the_distance(engine: DuckEngine) -> None:
    def rounds(length: int) -> int:
        duck = _Counting()
        duck.is_distant = engine.is_distant  # type: ignore[attr-defined]
        assert len(_reached(duck, _chain(length))) == length + 1
        return duck.rounds

    assert rounds(400) - rounds(100) <= 3


class _Counting(DuckOfTest):
    rounds = 0

    def make(self, statement: Statement) -> None:
        self.rounds += re.fullmatch(r"q_round\d+", statement.name) is not None
        super().make(statement)


def test_a_closure_of_a_chain_makes_each_row_once() -> None:
    """What follows from a row is computed once, also by strides."""
    engine, made = DuckOfTest(), 0
    engine.is_distant = True

    def counted(rows: str, steps: str) -> exp.Select:
        nonlocal made
        query = _then(rows, steps)
        made += len(engine.rows(query))
        return query

    engine.make(Statement("pairs", _pairs(_chain(64)), "small"))
    steps = Steps("pairs", ("a", "b"), _then, lambda _: select(number(1)))
    make(engine, Fixpoint("q", ("a", "b"), select("*", from_=rows_of("pairs")), steps, counted))
    assert engine.count("q") == 64 * 65 // 2
    assert made == engine.count("q") - 64


def test_strides_are_made_once_the_fixpoint_has_as_many_rows_as_they_join() -> None:
    duck = _Counting()
    duck.is_distant = True
    duck.make(Statement("pairs", _pairs(_chain(90)), "small"))
    steps = Steps("pairs", ("a", "b"), _then, lambda _: select(number(100_001)))
    seed = select(
        alias(column("range"), "n"),
        from_=exp.Table(
            this=exp.Anonymous(this="range", expressions=[number(-100_000), number(1)])
        ),
    )
    make(duck, Fixpoint("q", ("n",), seed, steps, _follow))
    assert duck.count("q") == 100_000 + 91
    assert duck.rounds < 20


def test_strides_that_join_too_much_are_not_made(engine: DuckEngine) -> None:
    def then(first: str, second: str) -> exp.Select:
        raise AssertionError((first, second))

    engine.make(Statement("pairs", _pairs(_chain(40)), "small"))
    steps = Steps("pairs", ("a", "b"), then, lambda _: select(number(_MANY)))
    make(engine, Fixpoint("q", ("n",), select(alias(number(0), "n")), steps, _follow))
    assert engine.count("q") == 41
