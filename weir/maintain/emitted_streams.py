"""Streams out of queries: the table of the elements that a query over streams emits."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import (
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
from weir.compute.writing import Commit
from weir.definitions.definition import Definition
from weir.engine.graph import POSITIONS
from weir.lake.delta.commit import SaveMode, arrow_schema
from weir.lake.delta.metadata import LOG_ID, Metadata
from weir.lake.lake import Lake
from weir.lake.tables import EMBEDDINGS, Table, output_stream
from weir.maintain.tasks import JOB
from weir.plan.plan import ANSWER
from weir.progress.backlog import LaterStart
from weir.sparql.algebra.windows import StreamOperator
from weir.timeline.axis import Instants
from weir.timeline.elements import LOG
from weir.timeline.emission import Emission
from weir.timeline.timeline import Timeline
from weir.timeline.windows import closing_windows


@dataclass(frozen=True, slots=True)
class OutputStream:
    """The stream out of a query.

    Attributes:
        query: with an operator.
        operator: makes the stream of the answer.
    """

    query: Definition
    operator: StreamOperator

    @classmethod
    def of(cls, query: Definition) -> OutputStream | None:
        """The stream out of a query, None if it has none."""
        operator = query.axis.output
        return None if operator is None else cls(query, operator)

    @property
    def table(self) -> Table:
        """The table of the elements."""
        return output_stream(self.query.name, self._names)

    @property
    def _names(self) -> tuple[str, ...]:
        """The columns of an element."""
        if self.query.writes_triples:
            return POSITIONS
        return self.query.output.columns

    def complete_to(self, lake: Lake, log_id: str) -> int:
        """The epoch up to which the elements are those of a log of embeddings; 0 without any."""
        last = lake.last_metadata(self.table.name, job=JOB)
        return last[1].watermark if last is not None and last[1].extra[LOG_ID] == log_id else 0

    def is_behind(self, lake: Lake, embeddings: Metadata) -> bool:
        """Whether the elements of a commit of embeddings are missing."""
        return self.complete_to(lake, embeddings.extra.get(LOG_ID, "")) < embeddings.watermark

    def emission(self, lake: Lake, timeline: Timeline, embeddings: Metadata, last: int) -> Emission:
        """What is to be emitted up to the epoch `last`, of a log of embeddings."""
        assert isinstance(self.query.axis, Instants), "an operator has a window"
        windows = closing_windows(self.query.axis, timeline.origin or 0)
        after = self.complete_to(lake, embeddings.extra[LOG_ID])
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
        names = self._names
        elements = f"stream_of_{name}"
        if emission.timeline.horizon(emission.last) is None:
            engine.load(elements, arrow_schema(table).empty_table())
        else:
            answers = self._answers(engine, emission)
            made = emission.statement(engine, answers, names, limit, f"emitted_{name}")
            engine.make(made)
            query = select(*columns((*names, *LOG)), from_=rows_of(made.name))
            engine.make(Statement(elements, query, "small"))
        mode: SaveMode = "append" if emission.after else "overwrite"
        return engine.write(table, elements, metadata, mode=mode, rows=engine.count(elements))

    def _rows(self, embeddings: str) -> exp.Query:
        """The rows of the answer in a relation of embeddings, as elements: names, `LOG`."""
        return self.query.body.elements(embeddings, self.query.columns)

    def _answers(self, engine: Engine, emission: Emission) -> str:
        """Name the part of the answer's log that the elements follow from."""
        name = self.query.name
        whole, new, known = f"answers_{name}", f"new_answers_{name}", f"known_answers_{name}"
        table = EMBEDDINGS.name(name)
        of_answer = column("node").eq(text(ANSWER))
        if self.operator == "rstream" or not emission.after:
            engine.open(new, table, where=of_answer)
            engine.make(Statement(whole, self._rows(new)))
            return whole
        later = column("epoch") > number(emission.after)
        engine.open(new, table, where=all_of([of_answer, later]))
        parts = [self._rows(new)]
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
            parts.append(self._rows(known))
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
        ((begins, ends),) = engine.rows(query)
        return None if begins is None else (int(str(begins)), int(str(ends)))
