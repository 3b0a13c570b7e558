"""Stages that compute everything by Spark, a few rows each, and the tasks in their event logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from weir.settings import Limits

QUICK_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
LIMITS = {"driver_rows": 0, "driver_parse_bytes": 0}
"""Spark computes everything, however small, and reads the whole graph."""
SMALL_DATA = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.driver.extraJavaOptions": QUICK_JVM,
    "spark.executor.extraJavaOptions": QUICK_JVM,
    "spark.executor.memory": "600m",
}
"""For a dozen rows, compiling and optimizing a query takes longer than running it."""


ALONE = dict.fromkeys((name for name in Limits.model_fields if name.startswith("driver_")), "0") | {
    "broadcast_rows": "1"
}
"""Limits by which Spark computes everything, and sends no relation with a plan."""


def logging_to(events: Path) -> dict[str, str]:
    """Settings by which applications write their events to a folder, as text."""
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
    }


def variables_of(events: Path) -> dict[str, str]:
    """The environment of DAGs whose stages compute by Spark, and log its events to a folder."""
    events.mkdir()
    return {
        **{f"WEIR_LIMITS__{name.upper()}": str(value) for name, value in LIMITS.items()},
        "WEIR_SPARK__CONF": json.dumps({**SMALL_DATA, **logging_to(events)}),
    }


def succeeded_tasks(events: Path) -> dict[str, dict[bool, int]]:
    """How many tasks succeeded, per name of the application, on executors and in the driver."""
    tasks: dict[str, dict[bool, int]] = {}
    for log in events.rglob("events_*"):
        lines: list[dict[str, Any]] = [json.loads(line) for line in log.read_text().splitlines()]
        (name,) = (
            line["App Name"] for line in lines if line["Event"] == "SparkListenerApplicationStart"
        )
        by_executor = tasks.setdefault(name, {True: 0, False: 0})
        for line in lines:
            is_end = line["Event"] == "SparkListenerTaskEnd"
            if is_end and line["Task End Reason"]["Reason"] == "Success":
                by_executor[line["Task Info"]["Executor ID"] != "driver"] += 1
    return tasks
