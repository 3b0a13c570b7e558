"""Relations that are made by repeating a statement until it finds nothing new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import assert_never

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Keep, Loaded, Statement
from weir.compute.sql import (
    column,
    columns,
    is_null,
    left_join,
    rows_of,
    same_row,
    select,
    subquery,
    union_all,
)


@dataclass(frozen=True, slots=True)
class Steps:
    """Rows that lead from one row of a fixpoint to another.

    Attributes:
        relation: the name of the relation that has them.
        columns: its columns; the last is never null.
        then: from the names of two relations of steps to the steps that lead as far as one of the
            first, followed by one of the second.
        joined: from the name of a relation of steps to the number of rows, at most, that `then`
            joins of it and itself.
    """

    relation: str
    columns: tuple[str, ...]
    then: Callable[[str, str], exp.Query]
    joined: Callable[[str], exp.Query]


@dataclass(frozen=True, slots=True)
class Fixpoint:
    """The least relation that has the rows of `seed` and, with any row, those one step further.

    A set: each row once. It ends if the steps lead to finitely many rows only.

    Attributes:
        name: the relation to make.
        columns: its columns; the last is never null.
        seed: the first rows.
        steps: what leads from a row to others.
        follow: from the names of a relation of rows and of one of steps to where these lead.
        keep: how the rows of each round are stored.
    """

    name: str
    columns: tuple[str, ...]
    seed: exp.Query
    steps: Steps
    follow: Callable[[str, str], exp.Query]
    keep: Keep = "small"


Step = Statement | Loaded | Fixpoint
"""A relation that an engine makes: by one statement, of given rows, or by repeating one."""


def make(engine: SqlEngine, step: Step) -> None:
    """Make the relation of a step."""
    match step:
        case Statement():
            engine.make(step)
        case Loaded():
            engine.load(step.name, step.rows)
        case Fixpoint():
            _repeat(engine, step)
        case _:
            assert_never(step)


# As many relations that were merged equally often become one: a statement reads few, however many
# rounds there were, and a row is copied a few times, not in every round.
_MERGED = 8


@dataclass(slots=True)
class _Found:
    """The rows that the rounds have found: relations without a common row, the most merged first.

    `copied[i]`: how many times the rows of `relations[i]` have been copied.
    """

    engine: SqlEngine
    fixpoint: Fixpoint
    relations: list[str] = field(default_factory=list)
    copied: list[int] = field(default_factory=list)
    merges: int = 0

    def add(self, name: str) -> None:
        """Add the rows of one more round."""
        self.relations.append(name)
        self.copied.append(0)
        while self.copied[-_MERGED:] == [self.copied[-1]] * _MERGED:
            together = f"{self.fixpoint.name}_rounds{self.merges}"
            rows = _all(self.fixpoint.columns, self.relations[-_MERGED:])
            self.engine.make(Statement(together, rows, self.fixpoint.keep))
            self.merges += 1
            self.relations[-_MERGED:] = [together]
            self.copied[-_MERGED:] = [self.copied[-1] + 1]


def _repeat(engine: SqlEngine, fixpoint: Fixpoint) -> None:
    """Make a fixpoint by rounds, each of which finds the rows that are new.

    The distance of a row is the least number of steps to it. A round leads `stride` steps further:
    from the rows of as many distances to those of as many following ones. Where strides can be
    doubled, the rounds grow with the logarithm of the longest distance.
    """
    known, stride = _Found(engine, fixpoint), _Stride(engine, fixpoint)
    latest: list[str] = []
    rows = fixpoint.seed
    for number in count():
        name = f"{fixpoint.name}_round{number}"
        engine.make(Statement(name, _new(rows, fixpoint.columns, known.relations), fixpoint.keep))
        size = engine.count(name)
        if size or number == 0:
            known.add(name)
        if size == 0:
            break
        latest = [*latest, name] if stride.double(number, name, size) else [name]
        start = name
        if len(latest) > 1:
            start = f"{name}_start"
            engine.make(Statement(start, _all(fixpoint.columns, latest)))
        rows = fixpoint.follow(start, stride.relation)
    engine.make(Statement(fixpoint.name, _all(fixpoint.columns, known.relations)))


_SINGLE_ON_DRIVER, _SINGLE_ON_SPARK = 16, 2
"""The number of the round from which on strides are doubled: a round of Spark takes a second,
however few its rows are, but what a few steps reach should not cost strides of all steps."""
_CHEAP, _GROWTH = 100_000, 8
"""Strides that join more rows than this, and than so many times the steps, are not made before the
fixpoint has so many rows: nodes with many steps to and from them would make their product."""


@dataclass(slots=True)
class _Stride:
    """What leads `2^k` steps further.

    Attributes:
        engine: where it is computed.
        fixpoint: what the rounds make.
        rows: those of the fixpoint that are known.
        doublings: k.
        joined: how many rows twice as many steps would join at most; None if that is not known.
        cheap: how many may be joined however few rows the fixpoint has.
    """

    engine: SqlEngine
    fixpoint: Fixpoint
    rows: int = 0
    doublings: int = 0
    joined: float | None = None
    cheap: int | None = None

    @property
    def relation(self) -> str:
        """The name of the relation of strides."""
        first = self.fixpoint.steps.relation
        return f"{self.fixpoint.name}_stride{self.doublings}" if self.doublings else first

    def double(self, number: int, latest: str, size: int) -> bool:
        """Double it after round `number`, which found `size` rows, if that pays; whether it was."""
        engine, steps = self.engine, self.fixpoint.steps
        self.rows += size
        single = _SINGLE_ON_DRIVER if engine.is_on_driver(latest) else _SINGLE_ON_SPARK
        if number < single:
            return False
        if self.cheap is None:
            self.cheap = max(_CHEAP, _GROWTH * engine.count(steps.relation))
        if self.joined is None:
            ((joined,),) = engine.rows(steps.joined(self.relation))
            self.joined = float(str(joined))
        if self.joined > max(self.rows, self.cheap):
            return False
        rows = _new(steps.then(self.relation, self.relation), steps.columns, [])
        self.doublings += 1
        self.joined = None
        engine.make(Statement(self.relation, rows, self.fixpoint.keep))
        return True


def _new(reached: exp.Query, names: tuple[str, ...], relations: Sequence[str]) -> exp.Query:
    """The rows of `reached` that no relation has, each once."""
    if not relations:
        return select(*columns(names, "f"), from_=subquery(reached, "f"), distinct=True)
    known = subquery(_all(names, relations), "known")
    return select(
        *columns(names, "f"),
        from_=subquery(reached, "f"),
        joins=[left_join(known, *same_row(names, "f", "known"))],
        # The last column is never null, so a row without a partner has null there.
        where=[is_null(column(names[-1], "known"))],
        distinct=True,
    )


def _all(names: tuple[str, ...], relations: Sequence[str]) -> exp.Query:
    return union_all([select(*columns(names), from_=rows_of(name)) for name in relations])
