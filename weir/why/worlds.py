"""What a plan answers if steps had not happened: all of that by one evaluation.

The axis of an evaluation has positions in the place of epochs. With n steps:

| position | the answer |
| --- | --- |
| 0 | before the change |
| 1 + k, for k = 0, .., n | after it, without the first k steps |
| 2n + 2 - k, for k = n, .., 0 | before it, without the first k steps |

The last part is left out where no step matters before the change. In the other kind of history all
goes at position 1, and the first k steps are there again at 1 + k.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Keep, Statement
from weir.compute.sql import (
    alias,
    ascending,
    bigint,
    column,
    columns,
    is_null,
    number,
    rows_of,
    select,
    sum_of,
    text,
)
from weir.definitions.definition import Body
from weir.engine.fixpoint import make
from weir.engine.relations import EpochRange
from weir.plan.plan import ANSWER
from weir.plan.scope import Scope
from weir.timeline.evaluation import EpochInputs
from weir.why.explanation import Row

STORED = "why_stored"
"""The relation of the embeddings, up to the epoch that is explained."""

Histories: TypeAlias = Callable[[SqlEngine], Mapping[Scope, exp.Query]]
"""Gives, by scope, the interval relation of its triples over positions; may load what these read.
"""


@dataclass(frozen=True, slots=True)
class Positions:
    """The positions of so many steps; `looks_back`: whether steps matter before the change."""

    steps: int
    looks_back: bool

    @property
    def last(self) -> int:
        """The last position."""
        return self.before(0) if self.looks_back else self.after(self.steps)

    def after(self, undone: int) -> int:
        """After the change, without so many steps."""
        return 1 + undone

    def before(self, undone: int) -> int:
        """Before the change, without so many steps."""
        return 2 * self.steps + 2 - undone if self.looks_back else 0


@dataclass(frozen=True, slots=True)
class Totals:
    """By how much the multiplicity of a row differs from that at position 0.

    at: the positions at which it changes, in order. values: what it is from there on.
    """

    at: Sequence[int]
    values: Sequence[int]

    def value(self, position: int) -> int:
        """The value at a position."""
        nth = bisect_right(self.at, position)
        return self.values[nth - 1] if nth else 0


@dataclass(frozen=True, slots=True)
class Worlds:
    """Evaluates a plan on axes of positions.

    Attributes:
        engine: has the embeddings as `STORED`.
        body: computes the answer.
        width: how many columns `v<i>` the embeddings have.
        columns: those of them that are published.
        keep: how relations as large as those of the graph are stored.
    """

    engine: SqlEngine
    body: Body
    width: int
    columns: Sequence[str]
    keep: Keep = "small"

    def totals(
        self, row: Row, histories: Histories, last: int, known: Sequence[exp.Expr] | None
    ) -> Totals:
        """How often there is a row, by position.

        Args:
            row: the values of the published columns.
            histories: what is read.
            last: the last position.
            known: conditions on the embeddings that make up the state at position 0; None if there
                is nothing before position 1.
        """
        with self.engine.scope() as engine:
            graph: dict[Scope, str] = {}
            for i, (scope, intervals) in enumerate(histories(engine).items()):
                graph[scope] = f"why_history{i}"
                engine.make(Statement(graph[scope], intervals, self.keep))
            if known is not None:
                engine.make(Statement(_STATE, self._state(known)))
            epochs = EpochRange(0, last, from_nothing=known is None)
            inputs = EpochInputs(engine, epochs, graph, _STATE, "why_q", self.keep, is_whole=True)
            delta = self.body.delta(inputs)
            for statement in (*delta.statements, delta.result):
                make(engine, statement)
            log = select(
                column("epoch"),
                alias(bigint(sum_of(column("weight"))), "weight"),
                from_=rows_of(delta.result.name),
                where=is_answer(self.columns, row),
                group_by=[column("epoch")],
                order_by=[ascending(column("epoch"))],
            )
            rows = [(int(str(at)), int(str(weight))) for at, weight in engine.rows(log)]
        return Totals([at for at, _ in rows], [*accumulate(weight for _, weight in rows)])

    def recorded(self, row: Row, known: Sequence[exp.Expr], stored: str = STORED) -> int:
        """The sum of the weights of a row in some of the embeddings, or in rows like these."""
        total = select(
            alias(bigint(sum_of(column("weight"))), "weight"),
            from_=rows_of(stored),
            where=[*is_answer(self.columns, row), *(condition.copy() for condition in known)],
        )
        ((weight,),) = self.engine.rows(total)
        return 0 if weight is None else int(str(weight))

    def _state(self, known: Sequence[exp.Expr]) -> exp.Select:
        return select(
            *columns(("node", *(f"v{i}" for i in range(self.width)))),
            alias(number(0), "epoch"),
            column("weight"),
            from_=rows_of(STORED),
            where=[condition.copy() for condition in known],
        )


_STATE = "why_state"


def is_answer(names: Sequence[str], row: Row) -> list[exp.Expr]:
    """Whether a stored row is a row of the answer, by the names of the published columns."""
    conditions: list[exp.Expr] = [column("node").eq(text(ANSWER))]
    for name, value in zip(names, row, strict=True):
        conditions.append(is_null(column(name)) if value is None else column(name).eq(text(value)))
    return conditions
