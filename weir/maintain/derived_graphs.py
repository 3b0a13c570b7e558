"""Derived graphs: the table of the triples that a definition gives, for others to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self
from uuid import uuid4

from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import alias, column, columns, number, rows_of, select, text
from weir.compute.writing import Commit
from weir.definitions.definition import Definition
from weir.engine.graph import POSITIONS
from weir.lake.delta.commit import SaveMode
from weir.lake.delta.metadata import LOG_ID, Metadata
from weir.lake.lake import Lake
from weir.lake.tables import EMBEDDINGS, Table, derived_graph
from weir.maintain.logs import log_of
from weir.maintain.tasks import JOB
from weir.plan.plan import ANSWER

_EMBEDDINGS = "embeddings"
"""What the metadata has: the id of the log of embeddings whose triples the graph has."""


@dataclass(frozen=True, slots=True)
class DerivedGraph:
    """The graph that a definition gives."""

    giver: Definition

    @classmethod
    def of(cls, definition: Definition) -> Self | None:
        """The graph that a definition gives, None if it gives none."""
        return None if definition.graph is None else cls(definition)

    @property
    def table(self) -> Table:
        """The table of the triples."""
        return derived_graph(self.giver.name)

    def last(self, lake: Lake) -> Metadata | None:
        """The metadata of the newest commit, None if there is no table."""
        last = lake.last_metadata(self.table.name, job=JOB)
        return None if last is None else last[1]

    def is_behind(self, lake: Lake, embeddings: Metadata) -> bool:
        """Whether triples of a commit of embeddings are missing."""
        return self.continued(lake) is None or self._complete_to(lake) < embeddings.watermark

    def _complete_to(self, lake: Lake) -> int:
        last = self.continued(lake)
        return 0 if last is None else last.watermark

    def continued(self, lake: Lake) -> Metadata | None:
        """The metadata of the newest commit, if it is of the log of embeddings there is now."""
        last = self.last(lake)
        is_of_log = last is not None and last.extra[_EMBEDDINGS] == log_of(lake, self.giver.name)
        return last if is_of_log else None

    def log(self, embeddings: str) -> exp.Select:
        """The log of the triples (`POSITIONS`, epoch, weight), out of embeddings."""
        cells = [column(stored) for _, stored in self.giver.columns]
        terms = [alias(cell, shown) for cell, shown in zip(cells, POSITIONS, strict=True)]
        of_answer = column("node").eq(text(ANSWER))
        own = (*terms, *columns(("epoch", "weight")))
        return select(*own, from_=rows_of(embeddings), where=[of_answer])

    def write(self, lake: Lake, engine: Engine, embeddings: Metadata, run_id: str) -> Commit:
        """Append what the embeddings have more, or replace all triples if these were replaced.

        Args:
            lake: has the tables.
            engine: of the lake.
            embeddings: the metadata of their newest commit.
            run_id: of the run.
        """
        name, continued = self.giver.name, self.continued(lake)
        rows, new = f"triples_of_{name}", f"new_answers_{name}"
        later = None if continued is None else column("epoch") > number(continued.watermark)
        engine.open(new, EMBEDDINGS.name(name), where=later)
        engine.make(Statement(rows, self.log(new), "cache"))
        log_id = uuid4().hex if continued is None else continued.extra[LOG_ID]
        extra: dict[str, Any] = {LOG_ID: log_id, _EMBEDDINGS: embeddings.extra.get(LOG_ID, "")}
        metadata = Metadata(
            run_id,
            JOB,
            embeddings.watermark,
            embeddings.base,
            embeddings.fingerprint,
            mode="rebased" if continued is None else "incremental",
            extra=extra,
        )
        mode: SaveMode = "overwrite" if continued is None else "append"
        return engine.write(self.table, rows, metadata, mode=mode, rows=engine.count(rows))
