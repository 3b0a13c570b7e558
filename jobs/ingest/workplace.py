"""Where a batch is worked on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa

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
