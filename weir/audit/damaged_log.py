"""The readable rows of a damaged log of the graph, and how a rebuilt log takes them over."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Self

import pyarrow as pa
import pyarrow.dataset as ds
from sqlglot import exp

from weir.audit.rebuild_folders import replaced_lake
from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import (
    column,
    columns,
    equal,
    number,
    rows_of,
    select,
    semi_join,
    text,
)
from weir.ingest import netting
from weir.ingest.journal import Journal, append
from weir.ingest.netting import QUAD
from weir.lake.damage.storage_errors import StorageError
from weir.lake.delta.commit import write
from weir.lake.delta.file_commits import files_of
from weir.lake.lake import Lake
from weir.lake.tables import GRAPHS, QUADS
from weir.lake.upkeep.consolidated import consolidated_until

_COPY = replace(QUADS, name="old_quads")
"""The copy of the readable rows, in the temporary lake of the rebuild."""


@dataclass(frozen=True, slots=True)
class DamagedLog:
    """The damaged log of a graph that is rebuilt.

    Attributes:
        stored_in: the lake that has it; None if nothing of it can be read.
        temporary: the lake of the rebuild.
    """

    stored_in: Lake | None
    temporary: Lake

    @classmethod
    def of(cls, lake: Lake, temporary: Lake) -> Self:
        """The log of a lake; a killed repair may have moved it out of the lake."""
        for stored_in in (lake, replaced_lake(lake)):
            if not stored_in.exists(QUADS.name):
                continue
            try:
                stored_in.existing(QUADS.name)
            except StorageError:
                break
            return cls(stored_in, temporary)
        return cls(None, temporary)

    @property
    def consolidated_until(self) -> int:
        """The epoch up to which it was consolidated, so that changes of epochs are mixed."""
        return 0 if self.stored_in is None else consolidated_until(self.stored_in, QUADS.name)

    def take_over(
        self,
        new_engine: Callable[[], Engine],
        journal: Journal,
        source: str,
        epochs: Collection[int],
    ) -> None:
        """Append the readable rows of a source to the new log.

        Args:
            new_engine: gives an engine of the lake of the rebuild.
            journal: of that lake.
            source: its name.
            epochs: the epochs whose rows are taken over.
        """
        if self.stored_in is None or not self._copied(self.stored_in, journal):
            return
        with new_engine() as engine:
            engine.open("old", _COPY.name)
            engine.load("missing", pa.table({"epoch": pa.array(sorted(epochs), pa.int64())}))
            engine.open("owners", GRAPHS.name, where=column("source").eq(text(source)))
            engine.open("stored", QUADS.name)
            # As quad assertions: lost or foreign rows cannot lead to a second `+1`.
            engine.make(Statement("taken", _as_assertions("old", "owners", "missing"), "cache"))
            engine.make(Statement("about", netting.rows_about("stored", "taken", QUAD)))
            engine.make(Statement("present", netting.present("about"), "cache"))
            engine.make(Statement("log", netting.net_quads("taken", "present"), "cache"))
            rows = engine.count("log")
            if rows:
                log = select(*columns(QUADS.column_names), from_=rows_of("log"))
                append(engine, QUADS, log, journal.metadata(journal.head()), rows)

    def _copied(self, lake: Lake, journal: Journal) -> bool:
        """Copy the rows of the intact files, if not done yet; whether there are any."""
        if self.temporary.exists(_COPY.name):
            return True
        folder, stored = lake.folder(QUADS.name), lake.existing(QUADS.name)
        bad = {file.name for file in lake.damaged_files(QUADS.name)}
        files = [path for path, _ in files_of(stored) if path.rpartition("/")[2] not in bad]
        if not files:
            return False
        rows = ds.dataset([str(folder / path) for path in files]).scanner().to_reader()
        write(self.temporary, _COPY, rows, journal.metadata(journal.head()))
        return True


def _as_assertions(old: str, owners: str, epochs: str) -> exp.Select:
    """The rows of a log in the graphs of `owners` and at `epochs`, as quad assertions."""
    return select(
        column("epoch", "old"),
        exp.alias_(number(0), "line"),
        exp.alias_(column("weight", "old") > number(0), "insert"),
        *columns(QUAD, "old"),
        from_=rows_of(old, "old"),
        joins=[
            semi_join(rows_of(owners, "owned"), *equal(["graph"], "old", "owned")),
            semi_join(rows_of(epochs, "wanted"), *equal(["epoch"], "old", "wanted")),
        ],
    )
