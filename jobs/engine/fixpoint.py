"""Relations that are made by repeating a statement until it finds nothing new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from jobs.engine.relations import Keep, Statement, column, columns, rows_of, select, union_all
from jobs.engine.sql import SqlEngine


@dataclass(frozen=True, slots=True)
class Fixpoint:
    """The least relation that has the rows of `seed` and, with any rows, what `step` makes of them.

    A set: each row once. It ends if `step` can make finitely many rows only.

    Attributes:
        name: the relation to make.
        columns: its columns; the last is never null.
        seed: the first rows.
        step: from the name of a relation of rows that are new to the rows that follow from them.
        keep: how the rows of each round are kept.
    """

    name: str
    columns: tuple[str, ...]
    seed: exp.Query
    step: Callable[[str], exp.Query]
    keep: Keep = "small"


Step = Statement | Fixpoint
"""What an engine is asked to make."""


def make(engine: SqlEngine, step: Step) -> None:
    """Make the relation of a statement or of a fixpoint."""
    match step:
        case Statement():
            engine.make(step)
        case Fixpoint():
            _repeat(engine, step)


def _repeat(engine: SqlEngine, fixpoint: Fixpoint) -> None:
    rounds: list[str] = []
    found = fixpoint.seed
    while True:
        name = f"{fixpoint.name}_round{len(rounds)}"
        engine.make(Statement(name, _new(found, fixpoint.columns, rounds), fixpoint.keep))
        rounds.append(name)
        if engine.count(name) == 0:
            break
        found = fixpoint.step(name)
    engine.make(Statement(fixpoint.name, _all(fixpoint.columns, rounds)))


def _new(found: exp.Query, names: tuple[str, ...], rounds: Sequence[str]) -> exp.Query:
    """The rows of `found` that no round has, each once."""
    rows = select(*columns(names, "f")).distinct(copy=False)
    rows = rows.from_(found.subquery("f", copy=False), copy=False)
    if not rounds:
        return rows
    known = _all(names, rounds).subquery("known", copy=False)
    same = (
        exp.NullSafeEQ(this=column(name, "f"), expression=column(name, "known")) for name in names
    )
    # The last column is never null, so a row without a partner has null there.
    return rows.join(known, on=exp.and_(*same), join_type="left", copy=False).where(
        column(names[-1], "known").is_(exp.null()), copy=False
    )


def _all(names: tuple[str, ...], rounds: Sequence[str]) -> exp.Query:
    return union_all([select(*columns(names)).from_(rows_of(name), copy=False) for name in rounds])
