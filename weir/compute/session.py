"""The Spark session, started when it is first needed."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from weir.errors import WeirError
from weir.spark_setup.installation import use_java, with_jars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from weir.settings import Settings

Session: TypeAlias = "Callable[[], SparkSession]"
"""Returns the session; a run with few changes never calls it, and so starts no JVM."""
Spark: TypeAlias = "SparkSession | Session"
"""A running session, or a function that starts it."""


def late_session(settings: Settings, name: str = "weir") -> Session:
    """A function that returns the configured session; its first call takes seconds to start it.

    A session that ended (its cluster removed the application, its JVM died) is replaced by a new
    one.
    """
    lock = Lock()
    running: SparkSession | None = None

    def started() -> SparkSession:
        nonlocal running
        with lock:
            if running is None or not _goes_on(running):
                running = _start(settings, name)
            return running

    return started


def _goes_on(session: SparkSession) -> bool:
    from weir.lake.delta.session import goes_on

    return goes_on(session)


def _start(settings: Settings, name: str) -> SparkSession:
    from weir.lake.delta.hadoop_options import hadoop_options

    try:
        from weir.lake.delta.session import start
    except ModuleNotFoundError as error:
        raise WeirError(
            "this needs Spark, which is not installed",
            "",
            "`pip install 'weir[spark]'`, then `weir setup-spark`. What is computed without it is"
            " set by `limits.driver_rows` and the like.",
        ) from error
    use_java()
    return start(
        name,
        master=settings.spark.master,
        driver_memory=settings.spark.driver_memory,
        shuffle_partitions=settings.spark.shuffle_partitions,
        conf=with_jars(settings.spark.conf),
        hadoop=hadoop_options(settings.storage_options, os.environ),
        py_files=os.environ.get("WEIR_PY_FILES"),
    )


def session_of(spark: Spark) -> Session:
    """A function that returns the session."""
    return spark if callable(spark) else lambda: spark
