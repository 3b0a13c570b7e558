"""Relations that are made by repeating a statement until it finds nothing new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import assert_never

from sqlglot import exp

from jobs.compute.protocol import SqlEngine
from jobs.compute.relations import Keep, Loaded, Statement
from jobs.compute.sql import (
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
class Fixpoint:
    """The least relation that has the rows of `seed` and, with any rows, what `step` makes of them.

    A set: each row once. It ends if `step` can make finitely many rows only.

    Attributes:
        name: the relation to make.
        columns: its columns; the last is never null.
        seed: the first rows.
        step: from the name of a relation of rows that are new to the rows that follow from them.
        keep: how the rows of each round are stored.
        compose: from the names of two relations of rows to what follows from a row of each; the
            rows of n steps composed with those of m are the rows of n + m. None if rows follow from
            one row only, or if it would make rows that no step makes of the seed.
    """

    name: str
    columns: tuple[str, ...]
    seed: exp.Query
    step: Callable[[str], exp.Query]
    keep: Keep = "small"
    compose: Callable[[str, str], exp.Query] | None = None


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
    known = _Found(engine, fixpoint)
    rows = fixpoint.seed
    for number in count():
        name = f"{fixpoint.name}_round{number}"
        engine.make(Statement(name, _new(rows, fixpoint.columns, known.relations), fixpoint.keep))
        is_last = engine.count(name) == 0
        if not (is_last and known.relations):
            known.add(name)
        if is_last:
            break
        rows = _following(known, name, number)
    engine.make(Statement(fixpoint.name, _all(fixpoint.columns, known.relations)))


_STEPS = 6
"""Most steps in one round: their rows are made again for every following one."""


def _following(known: _Found, name: str, number: int) -> exp.Query:
    """What follows from the rows of a round: by one step where a round costs little.

    A round of Spark takes about a second, however few its rows are. It makes more steps than the
    one before, or composes what is new with all that is known, which doubles the steps.
    """
    engine, fixpoint = known.engine, known.fixpoint
    if engine.is_on_driver(name):
        return fixpoint.step(name)
    if fixpoint.compose is not None:
        both = f"{name}_known"
        engine.make(Statement(both, _all(fixpoint.columns, known.relations)))
        return union_all([fixpoint.compose(name, both), fixpoint.compose(both, name)])
    steps = [name]
    for step in range(min(number + 1, _STEPS)):
        steps.append(f"{name}_step{step}")
        rows = _new(fixpoint.step(steps[-2]), fixpoint.columns, [])
        # Stored, or Spark would inline the expressions of a step, which name each column of the one
        # before several times.
        engine.make(Statement(steps[-1], rows, "cache"))
    return _all(fixpoint.columns, steps[1:])


def _new(found: exp.Query, names: tuple[str, ...], relations: Sequence[str]) -> exp.Query:
    """The rows of `found` that no relation has, each once."""
    if not relations:
        return select(*columns(names, "f"), from_=subquery(found, "f"), distinct=True)
    known = subquery(_all(names, relations), "known")
    return select(
        *columns(names, "f"),
        from_=subquery(found, "f"),
        joins=[left_join(known, *same_row(names, "f", "known"))],
        # The last column is never null, so a row without a partner has null there.
        where=[is_null(column(names[-1], "known"))],
        distinct=True,
    )


def _all(names: tuple[str, ...], relations: Sequence[str]) -> exp.Query:
    return union_all([select(*columns(names), from_=rows_of(name)) for name in relations])
