"""Where a batch is worked on, and how a source is stopped in the middle of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from jobs.ingest.changesets import ChangeSet, SourceError
from jobs.ingest.engine import Engine
from jobs.ingest.local import LocalEngine
from jobs.ingest.rows import Rows
from jobs.settings import Settings
from lake.lake import Lake
from lake.tables import QUADS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jobs.ingest.distributed import DistributedEngine


class Workplace:
    """What a batch works with; Spark is asked for only where it is needed.

    Args:
        spark: gives the session, which may have to be started.
        settings: the limits.
        lake: where the tables are.
        prefix: of the names of the batch's relations.
        staging: folder or URI for rows that are too many for the driver.
    """

    def __init__(
        self,
        spark: Callable[[], SparkSession],
        settings: Settings,
        lake: Lake,
        prefix: str,
        staging: str,
    ) -> None:
        self.settings, self.prefix, self.staging = settings, prefix, staging
        self._spark, self._lake = spark, lake
        self._local: LocalEngine | None = None
        self._distributed: DistributedEngine | None = None

    def name(self, relation: str) -> str:
        """The name of one of the batch's relations."""
        return f"{self.prefix}_{relation}"

    def engine_for(self, rows: Rows) -> Engine:
        """DuckDB for rows that the driver has, if they are few; else Spark."""
        frames = [*rows.changes, *rows.rejections]
        here = [frame for frame in frames if isinstance(frame, pa.Table)]
        few = sum(frame.num_rows for frame in here) <= self.settings.limits.driver_rows
        if few and len(here) == len(frames) and self._is_lake_small():
            return self.local()
        return self.distributed()

    def local(self) -> LocalEngine:
        """The engine on the driver."""
        if self._local is None:
            self._local = LocalEngine(self.settings, self._lake)
        return self._local

    def distributed(self) -> DistributedEngine:
        """The engine on Spark."""
        from jobs.ingest.distributed import DistributedEngine

        if self._distributed is None:
            self._distributed = DistributedEngine(
                self._spark(), self.settings, self._lake, self.staging
            )
        return self._distributed

    def release(self) -> None:
        """Forget all relations, and what was staged for them."""
        if self._local is not None:
            self._local.release()
        if self._distributed is not None:
            self._distributed.release()

    def _is_lake_small(self) -> bool:
        """Whether the driver may look quads up."""
        table = self._lake.open(QUADS.name)
        if table is None:
            return True
        files = pa.table(table.get_add_actions(flatten=True)).select(["size_bytes"]).to_pylist()
        size = sum(file["size_bytes"] for file in files)
        return bool(size <= self.settings.limits.driver_table_bytes)


@dataclass(slots=True)
class Taken:
    """The change sets that will become epochs, by ordinal; fewer and fewer as sources stop.

    refused: change sets that sources stopped at because nothing in them can be used.
    """

    change_sets: dict[int, ChangeSet]
    stopped: dict[str, SourceError] = field(default_factory=dict)
    refused: dict[int, ChangeSet] = field(default_factory=dict)

    def refuse(self, ordinal: int, error: SourceError) -> None:
        """Stop a source at a change set that is rejected as a whole."""
        self.refused[ordinal] = self.change_sets[ordinal]
        self.stop(ordinal, error)

    def stop(self, ordinal: int, error: SourceError) -> None:
        """Take in nothing of a source from the change set `ordinal` on."""
        source = self.change_sets[ordinal].source.name
        # Of several reasons the last one told is that of the earliest change set.
        self.stopped[source] = error
        self.change_sets = {
            number: each
            for number, each in self.change_sets.items()
            if number < ordinal or each.source.name != source
        }

    def replace(self, ordinals: Sequence[int], change_set: ChangeSet) -> None:
        """Take in `change_set` instead of all of `ordinals`."""
        for ordinal in ordinals:
            del self.change_sets[ordinal]
        self.change_sets[max(ordinals)] = change_set

    def of(self, source: str) -> dict[int, ChangeSet]:
        """The change sets of one source."""
        return {
            number: each for number, each in self.change_sets.items() if each.source.name == source
        }

    def by_source(self) -> dict[str, dict[int, ChangeSet]]:
        """The change sets of each source."""
        names = dict.fromkeys(each.source.name for each in self.change_sets.values())
        return {name: self.of(name) for name in names}
