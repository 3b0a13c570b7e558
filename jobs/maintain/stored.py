"""Make a stored table known to the engines: to the driver if it is small, else to Spark."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from jobs.compute.hybrid import HybridEngine
from jobs.compute.small_reads import small_table
from jobs.settings import Settings
from lake.lake import Lake
from lake.scan import attach

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def open_stored(
    engine: HybridEngine,
    session: Callable[[], SparkSession],
    settings: Settings,
    lake: Lake,
    relation: str,
    table_name: str,
) -> None:
    """Make `table_name` known as `relation`; nothing is read yet."""

    def frame() -> DataFrame:
        return session().read.format("delta").load(lake.location(table_name))

    here = small_table(settings, lake, table_name) if engine.driver_rows else None
    if here is None:
        engine.register(relation, frame())
    else:
        is_large = here.rows > settings.limits.local_whole_rows
        engine.register_stored(
            relation, partial(attach, table=here.table), frame, is_large=is_large
        )
