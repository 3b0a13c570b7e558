"""Streams out of queries: the table of the elements that a query over streams emits."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from jobs.catalog.maintained import Maintained
from jobs.compute.engine import Commit, Engine
from jobs.compute.relations import Statement
from jobs.compute.sql import (
    alias,
    all_of,
    column,
    columns,
    number,
    rows_of,
    select,
    text,
    union_all,
)
from jobs.maintain.tasks import JOB
from jobs.plan.plan import ANSWER
from jobs.progress.backlog import LaterStart
from jobs.sparql.algebra.windows import StreamOperator
from jobs.streams.elements import LOG
from jobs.streams.emission import Emission
from jobs.streams.timeline import Timeline
from jobs.streams.windows import windows_of
from lake.commit import SaveMode, arrow_schema
from lake.lake import Lake
from lake.metadata import Metadata
from lake.tables import Table, output_stream

BEGAN = "began"
"""What the metadata of embeddings and elements has: the id of the log, another if recomputed."""


@dataclass(frozen=True, slots=True)
class OutputStream:
    """The stream out of a query.

    Attributes:
        query: with an operator.
        operator: makes the stream of the answer.
    """

    query: Maintained
    operator: StreamOperator

    @classmethod
    def of(cls, query: Maintained) -> OutputStream | None:
        """The stream out of a query, None if it has none."""
        operator = None if query.windowing is None else query.windowing.output
        return None if operator is None else cls(query, operator)

    @property
    def table(self) -> Table:
        """The table of the elements."""
        return output_stream(self.query.name, tuple(name for name, _ in self.query.plan.columns))

    def complete_to(self, lake: Lake, began: str) -> int:
        """The epoch up to which the elements are those of a log of embeddings; 0 without any."""
        last = lake.last_metadata(self.table.name, job=JOB)
        return last[1].watermark if last is not None and last[1].extra[BEGAN] == began else 0

    def is_behind(self, lake: Lake, embeddings: Metadata) -> bool:
        """Whether the elements of a commit of embeddings are missing."""
        return self.complete_to(lake, embeddings.extra.get(BEGAN, "")) < embeddings.watermark

    def emission(self, lake: Lake, timeline: Timeline, embeddings: Metadata, last: int) -> Emission:
        """What is to be emitted up to the epoch `last`, of a log of embeddings."""
        assert self.query.windowing is not None, "an operator has a window"
        windows = [*windows_of(self.query.windowing).values()]
        after = self.complete_to(lake, embeddings.extra[BEGAN])
        start = LaterStart.from_json(embeddings.extra)
        begins = None if start is None else start.begins
        return Emission(self.operator, windows, timeline, after, last, begins)

    def emit(self, engine: Engine, emission: Emission, metadata: Metadata, limit: int) -> Commit:
        """Append what is to be emitted, or replace all elements if the embeddings were replaced.

        Args:
            engine: computes and writes.
            emission: what.
            metadata: of the commit.
            limit: most elements of RSTREAM.
        """
        table, name = self.table, self.query.name
        names = [shown for shown, _ in self.query.plan.columns]
        row = [variable for _, variable in self.query.plan.columns]
        elements = f"stream_of_{name}"
        if emission.timeline.horizon(emission.last) is None:
            engine.load(elements, arrow_schema(table).empty_table())
        else:
            answers = self._answers(engine, emission, row)
            made = emission.statement(engine, answers, row, limit, f"emitted_{name}")
            engine.make(made)
            shown = [alias(column(v), c) for v, c in zip(row, names, strict=True)]
            query = select(*shown, *columns(LOG), from_=rows_of(made.name))
            engine.make(Statement(elements, query, "small"))
        mode: SaveMode = "append" if emission.after else "overwrite"
        return engine.write(table, elements, metadata, mode=mode, rows=engine.count(elements))

    def _answers(self, engine: Engine, emission: Emission, row: list[str]) -> str:
        """Name the part of the answer's log that the elements follow from."""
        name = self.query.name
        whole, new, known = f"answers_{name}", f"new_answers_{name}", f"known_answers_{name}"
        table = f"embeddings/{name}"
        of_answer = column("node").eq(text(ANSWER))
        if self.operator == "rstream" or not emission.after:
            engine.open(whole, table, where=of_answer)
            return whole
        later = column("epoch") > number(emission.after)
        engine.open(new, table, where=all_of([of_answer, later]))
        parts: list[exp.Query] = [select(*columns((*row, *LOG)), from_=rows_of(new))]
        corrected = self._corrected(engine, new, emission.reached)
        if corrected is not None:
            first, last = corrected
            where = [
                of_answer.copy(),
                column("epoch") <= number(emission.after),
                column("instant") >= number(first),
                column("instant") <= number(last),
            ]
            engine.open(known, table, where=all_of(where))
            parts.append(select(*columns((*row, *LOG)), from_=rows_of(known)))
        engine.make(Statement(whole, union_all(parts)))
        return whole

    def _corrected(self, engine: Engine, new: str, reached: int | None) -> tuple[int, int] | None:
        """The first and the last instant with a correction among new rows."""
        if reached is None:
            return None
        first, last = exp.Min(this=column("instant")), exp.Max(this=column("instant"))
        query = select(
            alias(first, "first"),
            alias(last, "last"),
            from_=rows_of(new),
            where=[column("instant") <= number(reached)],
        )
        ((found, until),) = engine.rows(query)
        return None if found is None else (int(str(found)), int(str(until)))
