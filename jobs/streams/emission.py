"""What is emitted by the epochs of a range: the new rows of a stream out of a query."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from jobs.compute.protocol import SqlEngine
from jobs.compute.relations import Statement
from jobs.compute.sql import alias, column, rows_of, select
from jobs.engine.relations import FOREVER
from jobs.engine.windows import Window
from jobs.errors import WeirError
from jobs.sparql.algebra.windows import StreamOperator
from jobs.streams.elements import changed_rows, closes, reported_intervals, reported_rows
from jobs.streams.timeline import Timeline


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
        if self.timeline.horizon(self.last) is None:
            return False
        return any(map(len, self._closes(self._begin)))

    @property
    def _begin(self) -> int:
        """The first instant that was not final at `after`."""
        assert self.timeline.origin is not None, "there are answers"
        return self.timeline.origin if self.reached is None else self.reached + 1

    def _closes(self, first: int, last: int = FOREVER) -> tuple[range, ...]:
        """The closes from one instant to another that are final."""
        final = self.timeline.horizon(self.last)
        if self.timeline.origin is None or final is None:
            return ()
        return closes(self.windows, first - 1, min(last, final))

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
        epochs, intervals, closes_ = f"{prefix}_epochs", f"{prefix}_intervals", f"{prefix}_closes"
        engine.load(epochs, self._epochs())
        query = reported_intervals(answers, row, epochs, self.after, self._begin)
        engine.make(Statement(intervals, query, "cache"))
        first = alias(exp.Min(this=column("since")), "since")
        until = alias(exp.Max(this=column("until")), "until")
        ((since, end),) = engine.rows(select(first, until, from_=rows_of(intervals)))
        reported: tuple[range, ...] = ()
        if since is not None:
            reported = self._closes(int(str(since)), int(str(end)) - 1)
        rows = engine.count(intervals)
        if rows:
            _check(sum(map(len, reported)), limit)
        engine.load(closes_, self._stamped(reported if rows else ()))
        elements = reported_rows(intervals, row, closes_)
        if rows * sum(map(len, reported)) > limit:
            count = alias(exp.Count(this=exp.Star(), big_int=True), "rows")
            ((found,),) = engine.rows(select(count, from_=exp.Subquery(this=elements, alias="e")))
            _check(int(str(found)), limit)
        return elements

    def _epochs(self) -> pa.Table:
        """epoch, reached: of each later epoch the last instant that was final before it."""
        found, reached = [], self.reached
        for each in self.timeline.arrivals:
            if self.after < each.epoch <= self.last:
                found.append({"epoch": each.epoch, "reached": reached})
                reached = each.horizon
        return pa.Table.from_pylist(
            found, schema=pa.schema({"epoch": pa.int64(), "reached": pa.int64()})
        )

    def _stamped(self, reported: Sequence[range]) -> pa.Table:
        """instant, epoch: the closes, with the first epoch at which each is final."""
        instants = sorted({instant for each in reported for instant in each})
        later = [
            (each.horizon, each.epoch)
            for each in self.timeline.arrivals
            if each.horizon is not None and self.after < each.epoch <= self.last
        ]
        horizons = [horizon for horizon, _ in later]
        epochs = [later[bisect_left(horizons, instant)][1] for instant in instants]
        found = {"instant": pa.array(instants, pa.int64()), "epoch": pa.array(epochs, pa.int64())}
        return pa.table(found)


def _check(rows: int, limit: int) -> None:
    if rows > limit:
        raise WeirError(
            f"RSTREAM would emit {rows:,} elements, more than rstream_rows = {limit:,}",
            "",
            "Use ISTREAM, which emits what is new, a longer STEP, or raise `limits.rstream_rows`.",
        )
