"""The Spark session of a command, started when it is first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jobs.settings import Settings


class LateSession:
    """Called, it gives the session; a run over few changes asks for none and starts no JVM."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def __call__(self) -> SparkSession:
        """The session; the first call starts it, which takes seconds."""
        return self._session

    @cached_property
    def _session(self) -> SparkSession:
        return _start(self._settings)


def _start(settings: Settings) -> SparkSession:
    from lake.session import start

    return start(
        "weir",
        master=settings.spark.master,
        driver_memory=settings.spark.driver_memory,
        shuffle_partitions=settings.spark.shuffle_partitions,
        conf=settings.spark.conf,
    )
