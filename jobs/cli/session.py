"""The Spark session of a command, started in the background or when it is first asked for."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jobs.settings import Settings


class LateSession:
    """Called, it gives the session; a run that finds nothing new waits for no JVM."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def __call__(self) -> SparkSession:
        """The session; waits until it has started."""
        return self._started.result()

    def ahead(self) -> None:
        """Start it in the background, while the driver does what needs no Spark."""
        assert self._started is not None, "it has been asked for"

    @cached_property
    def _started(self) -> Future[SparkSession]:
        threads = ThreadPoolExecutor(1)
        future = threads.submit(_start, self._settings)
        threads.shutdown(wait=False)
        return future


def _start(settings: Settings) -> SparkSession:
    from lake.session import start

    return start(
        "weir",
        master=settings.spark.master,
        driver_memory=settings.spark.driver_memory,
        shuffle_partitions=settings.spark.shuffle_partitions,
        conf=settings.spark.conf,
    )
