"""Make a stored table known to the engines: to the driver if it is small, else to Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from jobs.engine.hybrid import HybridEngine
from jobs.settings import Settings
from jobs.small_reads import rows_here
from lake.reader import location

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def open_stored(
    engine: HybridEngine,
    session: Callable[[], SparkSession],
    settings: Settings,
    relation: str,
    table_name: str,
) -> None:
    """Make `table_name` known as `relation`; nothing is read yet."""

    def frame() -> DataFrame:
        return session().read.format("delta").load(location(settings.lake, table_name))

    rows = settings.limits.neighbourhood_rows
    here = rows_here(settings, table_name, rows) if engine.driver_rows else None
    if here is None:
        engine.register(relation, frame())
    else:
        engine.register_stored(relation, here, frame)
