"""The Spark session that reads and writes the lake."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession

from weir.lake.lake import Lake
from weir.lake.scratch import scratch_folder

_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # IRIs share long beginnings: with the default of 32 characters the statistics of all predicates
    # of a vocabulary are equal, and no file is ever skipped.
    "spark.databricks.io.skipping.stringPrefixLength": "256",
    # 50 tasks to read the log of a small table are 49 too many.
    "spark.databricks.delta.snapshotPartitions": "2",
    # A commit without rows still carries a watermark.
    "spark.databricks.delta.skipRecordingEmptyCommits": "false",
    # Nothing reads Delta's checksum files here, and Spark reads the whole log to write one.
    "spark.databricks.delta.writeChecksumFile.enabled": "false",
    # A flipped bit in a data file must be an error, not a wrong row.
    "spark.hadoop.parquet.page.write-checksum.enabled": "true",
    "spark.hadoop.parquet.page.verify-checksum.enabled": "true",
    # What Spark masks in its pages, event logs and plans; its default does not mask account keys.
    "spark.redaction.regex": "(?i)secret|password|token|(access|account|private)[.]?key",
}
_SAFE = {
    # Python of the executors starts in the folder where Spark was started: a file `json.py` there
    # must not take the place of the module.
    "spark.executorEnv.PYTHONSAFEPATH": "1",
}
NO_ANSWER = (Py4JError, OSError, AttributeError)
"""Errors of a JVM that does not answer, and of a context that was stopped by this process."""
_QUICK = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Spark 4.2 fails to rewrite the constraints of a checkpointed relation below a union ("key not
    # found: epoch#222L"); without constraints it also plans faster.
    "spark.sql.constraintPropagation.enabled": "false",
    # Terms repeat, so that files are a small part of the rows in memory (1.3 million rows in 6 MB).
    # By the size of files alone Spark would send such a table to every task.
    "spark.sql.sources.fileCompressionFactor": "20",
    # Spark keeps the last 100 classes that it generates; a run has hundreds. So each run of a
    # process would generate, load and optimize all of them again.
    "spark.sql.codegen.cache.maxEntries": "2000",
}
_JVM = (
    "-XX:+UseSerialGC",
    # Java optimizes what is called 5,000 times, by threads that take the same cores. For a run of
    # a few changes this was a third of all processor time, spent on code that then was hardly
    # called again; a scan of many rows calls its code so often within its first second.
    "-XX:Tier4InvocationThreshold=50000",
    "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000",
    "-XX:Tier4BackEdgeThreshold=400000",
    # Spark has loaded 100 MB of classes before its first job; from 20 MB on Java would collect all
    # garbage each time that this grows.
    "-XX:MetaspaceSize=256m",
)
"""Options of Java in the process that computes what is not on a cluster."""


def start(
    app_name: str,
    *,
    master: str = "local[2]",
    driver_memory: str = "3g",
    shuffle_partitions: int = 2,
    conf: Mapping[str, str] | None = None,
    hadoop: Mapping[str, str] | None = None,
    py_files: str | None = None,
) -> SparkSession:
    """Start the session, or take the one that spark-submit prepared.

    Under spark-submit the master, the memory and the driver's address are those of the submission.

    Args:
        app_name: name shown by a cluster.
        master: Spark master, unless spark-submit started the process.
        driver_memory: heap of the driver, unless spark-submit started the process.
        shuffle_partitions: partitions after a shuffle, best as many as the cluster has cores.
        conf: further settings, which win over those of this function.
        hadoop: options of Hadoop such as credentials, without the prefix `spark.hadoop.`; `conf`
            and spark-submit win over them.
        py_files: archives of Python packages for the executors, unless spark-submit started the
            process.
    """
    settings = {
        **_DELTA,
        **_SAFE,
        **_QUICK,
        "spark.sql.shuffle.partitions": str(shuffle_partitions),
        "spark.sql.warehouse.dir": str(scratch_folder() / "warehouse"),
    }
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if not submitted:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        quiet = (Path(__file__).parent / "log4j2.properties").as_uri()
        settings |= {
            "spark.master": master,
            "spark.driver.memory": driver_memory,
            "spark.driver.extraJavaOptions": " ".join(
                (*_JVM, f"-Dlog4j2.configurationFile={quiet}")
            ),
        }
        if master.startswith("local"):
            settings |= _on_this_machine()
        if py_files is not None:
            settings["spark.submit.pyFiles"] = py_files
    builder = SparkSession.builder.appName(app_name)
    for key, value in {**settings, **(conf or {})}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    _set_in_hadoop(session, hadoop or {})
    return session


def _on_this_machine() -> dict[str, str]:
    """Settings of a Spark without executors of its own, which nobody else has to reach."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(scratch_folder() / "spark"),
        # Each hash table of Spark, as of a relation that is sent to every task, has a page of its
        # own. By default that is a sixteenth of the memory of a task, 32 MB here: a run of small
        # relations has dozens, and Java would collect them for an eighth of its time. A task has at
        # most 8,192 pages, so this is for heaps up to 50 GB.
        "spark.buffer.pageSize": "4m",
    }


def _set_in_hadoop(session: SparkSession, options: Mapping[str, str]) -> None:
    """Set options of Hadoop in the running JVM.

    Settings of a session before its start become arguments of the JVM, which everybody on the
    machine can list.
    """
    if not options:
        return
    context = session.sparkContext
    conf, hadoop = context.getConf(), context._jsc.hadoopConfiguration()
    for key, value in options.items():
        if not conf.contains(f"spark.hadoop.{key}"):
            hadoop.set(key, value)


def answers(session: SparkSession) -> bool:
    """Whether the context of a session is there: it was not stopped, and its JVM did not die."""
    try:
        return not session.sparkContext._jsc.sc().isStopped()
    except NO_ANSWER:
        return False


def goes_on(session: SparkSession) -> bool:
    """Whether a session can be used; if it ended, it is cleared away, so that `start` starts one.

    Its context was stopped, such as by a cluster that removed the application, or its JVM died.
    """
    if answers(session):
        return True
    with suppress(*NO_ANSWER):
        session.stop()
        return False
    gateway = SparkContext._gateway
    if gateway is not None:
        with suppress(*NO_ANSWER):
            gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None
    return False


def read(spark: SparkSession, lake: Lake, table_name: str, version: int | None = None) -> DataFrame:
    """The rows of a table, at `version` or at its newest version."""
    reader = spark.read.format("delta")
    if version is not None:
        reader = reader.option("versionAsOf", version)
    return reader.load(lake.location(table_name))
