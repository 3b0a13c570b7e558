"""The rows of a scope around a change, with marks: when they are there, and when they would be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import pyarrow as pa
from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.sql import (
    alias,
    any_of,
    bigint,
    coalesce,
    column,
    columns,
    equal,
    left_join,
    number,
    rows_of,
    select,
    subquery,
    union_all,
)
from weir.engine.graph import POSITIONS, graph_columns
from weir.engine.relations import FOREVER, INTERVAL
from weir.engine.sweep import ends, presence
from weir.engine.windows import EVENT
from weir.plan.scope import Scope
from weir.why.explanation import Event, Part, Triple
from weir.why.worlds import Positions

Mark: TypeAlias = Literal["before", "after", "before_undone", "after_undone"]
"""Whether a row is there before and after the change; `undone`: if its step had not happened."""
MARKS: tuple[Mark, ...] = ("before", "after", "before_undone", "after_undone")
_NTH = "nth"
_Piece: TypeAlias = tuple[Mark, exp.Expr, exp.Expr]


@dataclass(frozen=True, slots=True)
class MarkedRows:
    """What a scope has around a change.

    Attributes:
        relation: of the columns of a triple of the scope, those of its step, and `MARKS`. A row of
            which no mark is true need not be there.
        stream: that a window reads; None for the graph. The steps of a window are events (`EVENT`),
            those of the graph triples.
    """

    relation: str
    stream: str | None = None

    @property
    def key(self) -> Sequence[str]:
        """The columns that say which step a row is of."""
        return POSITIONS if self.stream is None else EVENT

    def taken_back(
        self, engine: SqlEngine, scope: Scope, steps: Sequence[Part], at: Positions, prefix: str
    ) -> exp.Query:
        """The intervals of its triples while steps are taken back one after the other.

        What has no step stays as it is.
        """

        def turn() -> exp.Expr:
            return bigint(coalesce(column(_NTH, "s"), number(at.steps + 1)))

        pieces: list[_Piece] = [
            ("before", number(0), number(1)),
            ("after", number(1), turn() + number(1)),
            ("after_undone", turn() + number(1), number(at.steps + 2)),
        ]
        if at.looks_back:
            first = 2 * at.steps + 3
            pieces += [
                ("before_undone", number(at.steps + 2), number(first) - turn()),
                ("before", number(first) - turn(), number(FOREVER)),
            ]
        return self._intervals(engine, scope, steps, pieces, prefix)

    def put_back(
        self, engine: SqlEngine, scope: Scope, steps: Sequence[Part], where: Mark, prefix: str
    ) -> exp.Query:
        """The intervals of its triples while all goes, and steps are put back one by one.

        What has no step stays away.
        """
        again = bigint(coalesce(column(_NTH, "s") + number(1), number(FOREVER)))
        pieces: list[_Piece] = [
            (where, number(0), number(1)),
            (where, again, number(FOREVER)),
        ]
        return self._intervals(engine, scope, steps, pieces, prefix)

    def _intervals(
        self,
        engine: SqlEngine,
        scope: Scope,
        steps: Sequence[Part],
        pieces: Sequence[_Piece],
        prefix: str,
    ) -> exp.Query:
        numbered, triple = f"{prefix}_steps", graph_columns(scope)
        engine.load(numbered, _numbered(steps, self.stream))
        parts: list[exp.Query] = [
            select(
                *columns(triple, "r"),
                alias(since, "since"),
                alias(until, "until"),
                from_=rows_of(self.relation, "r"),
                joins=[left_join(rows_of(numbered, "s"), *equal(self.key, "r", "s"))],
                where=[column(mark, "r")],
            )
            for mark, since, until in pieces
        ]
        return united(union_all(parts), triple)

    def parts(self, engine: SqlEngine, where: exp.Expr, most: int) -> Sequence[Part]:
        """The steps of some of its rows, at most one more than `most`."""
        chosen = select(
            *columns(self.key), from_=rows_of(self.relation), where=[where], distinct=True
        )
        ordered = chosen.order_by(*columns(self.key)).limit(most + 1)
        return [self._part(row) for row in engine.rows(ordered)]

    def _part(self, row: Sequence[object]) -> Part:
        subject, predicate, object_, *rest = row
        triple: Triple = (str(subject), str(predicate), str(object_))
        if self.stream is None:
            return triple
        instant, epoch, line = (int(str(value)) for value in rest)
        return Event(self.stream, triple, instant, epoch, line)


def united(intervals: exp.Query, triple: tuple[str, ...]) -> exp.Query:
    """The intervals in which a triple has any; some of them may be empty."""
    weighted = select(
        *columns((*triple, *INTERVAL)),
        alias(number(1), "weight"),
        from_=subquery(intervals, "pieces"),
        where=[column("since") < column("until")],
    )
    content = presence(ends(weighted, triple), triple)
    return select(*columns((*triple, *INTERVAL)), from_=subquery(content, "content"))


def differs(*pairs: tuple[Mark, Mark]) -> exp.Expr:
    """Whether one of some pairs of marks has different ones."""
    return any_of([column(one).neq(column(other)) for one, other in pairs])


def marks_of(conditions: Mapping[Mark, exp.Expr]) -> list[exp.Expr]:
    """The columns of marks."""
    return [alias(conditions[mark], mark) for mark in MARKS]


def _numbered(steps: Sequence[Part], stream: str | None) -> pa.Table:
    """A relation of the steps of a stream, or of the graph: their columns, and their numbers."""
    own = [
        (nth, step)
        for nth, step in enumerate(steps, start=1)
        if (step.stream if isinstance(step, Event) else None) == stream
    ]
    triples = [step.triple if isinstance(step, Event) else step for _, step in own]
    names = [*POSITIONS]
    cells: list[pa.Array[Any]] = [
        pa.array([triple[i] for triple in triples], pa.string()) for i in range(3)
    ]
    if stream is not None:
        events = [step for _, step in own if isinstance(step, Event)]
        for name in EVENT[len(POSITIONS) :]:
            names.append(name)
            cells.append(pa.array([getattr(event, name) for event in events], pa.int64()))
    return pa.table([*cells, pa.array([nth for nth, _ in own], pa.int64())], [*names, _NTH])
