"""What is emitted by the epochs of a range: the new rows of a stream out of a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    bigint,
    coalesce,
    column,
    number,
    rows_of,
    select,
    sum_of,
)
from weir.engine.windows import Window
from weir.errors import WeirError
from weir.sparql.algebra.windows import StreamOperator
from weir.timeline.elements import (
    changed_rows,
    closing,
    reported_closes,
    reported_intervals,
    reported_rows,
)
from weir.timeline.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Emission:
    """What is to be emitted.

    Attributes:
        operator: makes the stream of the answer.
        windows: of the query.
        timeline: of the query.
        after: the epoch up to which the stream is complete.
        last: the epoch up to which it will be.
        begins: the first instant of the query, if it is not that of its streams.
    """

    operator: StreamOperator
    windows: Sequence[Window]
    timeline: Timeline
    after: int
    last: int
    begins: int | None = None

    @property
    def reached(self) -> int | None:
        """The last instant that is final at `after`; None if none is."""
        return self.timeline.horizon(self.after)

    @property
    def has_closes(self) -> bool:
        """Whether a window closes at an instant that became final after `after`."""
        final = self.timeline.horizon(self.last)
        if self.timeline.origin is None or final is None:
            return False
        return any(
            window_closes.any_until(final)
            for window_closes in closing(self.windows, self._begin - 1)
        )

    @property
    def _begin(self) -> int:
        """The first instant that was not final at `after`."""
        assert self.timeline.origin is not None, "there are answers"
        return self.timeline.origin if self.reached is None else self.reached + 1

    def statement(
        self, engine: SqlEngine, answers: str, row: Sequence[str], limit: int, prefix: str
    ) -> Statement:
        """The statement that makes the elements of the epochs (after, last]: `row`, `LOG`.

        Args:
            engine: has `answers`, and makes what the statement reads.
            answers: the log of the answer up to `last`; with ISTREAM and DSTREAM it need not have
                but the instants that have rows of later epochs than `after`.
            row: the columns of the answer in it.
            limit: most elements of RSTREAM.
            prefix: begins the names of the relations that are made.

        Raises:
            WeirError: there are more.
        """
        name = f"{prefix}_elements"
        match self.operator:
            case "istream" | "dstream":
                query = changed_rows(answers, row, self.after, self.operator, self.begins)
                return Statement(name, query)
            case "rstream":
                return Statement(name, self._reports(engine, answers, row, limit, prefix))

    def _reports(
        self, engine: SqlEngine, answers: str, row: Sequence[str], limit: int, prefix: str
    ) -> exp.Select:
        epochs, finals, intervals, reported = (
            f"{prefix}_{name}" for name in ("epochs", "finals", "intervals", "reported")
        )
        origin, final = self.timeline.origin, self.timeline.horizon(self.last)
        assert origin is not None, "there are answers"
        assert final is not None, "there are answers"
        engine.load(epochs, self._epochs())
        engine.load(finals, self._finals())
        query = reported_intervals(answers, row, epochs, self.after, self._begin)
        engine.make(Statement(intervals, query))
        closes = closing(self.windows, origin - 1)
        numbered = reported_closes(intervals, row, closes, final)
        engine.make(Statement(reported, numbered, "cache"))
        repeats = column("last") - column("first") + number(1)
        total = alias(coalesce(bigint(sum_of(exp.Paren(this=repeats))), number(0)), "rows")
        ((row_count,),) = engine.rows(select(total, from_=rows_of(reported)))
        _check(int(str(row_count)), limit)
        return reported_rows(reported, row, closes, finals)

    def _epochs(self) -> pa.Table:
        """epoch, reached: of each later epoch the last instant that was final before it."""
        rows, reached = [], self.reached
        for arrival in self.timeline.arrivals:
            if self.after < arrival.epoch <= self.last:
                rows.append({"epoch": arrival.epoch, "reached": reached})
                reached = arrival.horizon
        return pa.Table.from_pylist(
            rows, schema=pa.schema({"epoch": pa.int64(), "reached": pa.int64()})
        )

    def _finals(self) -> pa.Table:
        """after, last, epoch: the instants (after, last] become final at the epoch."""
        rows, reached = [], self._begin - 1
        for arrival in self.timeline.arrivals:
            horizon = arrival.horizon
            if not self.after < arrival.epoch <= self.last or horizon is None or horizon <= reached:
                continue
            rows.append({"after": reached, "last": horizon, "epoch": arrival.epoch})
            reached = horizon
        names = ("after", "last", "epoch")
        return pa.Table.from_pylist(rows, schema=pa.schema([(n, pa.int64()) for n in names]))


def _check(rows: int, limit: int) -> None:
    if rows > limit:
        raise WeirError(
            f"RSTREAM would emit {rows:,} elements, more than rstream_rows = {limit:,}",
            "",
            "Raise `limits.rstream_rows`, or emit less: with ISTREAM, which emits what is new, with"
            " a longer STEP, or with a larger `unit` of a program.",
        )
