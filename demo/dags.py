"""Run a DAG as Airflow does, for a project of the demo, and say where its time went."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from demo.changes import stage_seconds
from weir.spark_setup.commands import SetupError

# Each task is a JVM that runs for seconds only: the fast compiler is enough.
QUICK_START = {"spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"}


@dataclass(frozen=True, slots=True)
class DagRuns:
    """Runs the DAGs over a project.

    `airflow dags test` runs the DAG files with their real operators, without a scheduler: each task
    is a spark-submit.

    Attributes:
        project: folder of `weir.toml`.
        lake: folder of its tables.
        logs: gets the output of Airflow, a file per DAG.
        console: gets a line per run.
    """

    project: Path
    lake: Path
    logs: Path
    console: Console

    def run(self, dag: str, purpose: str) -> None:
        """Run one DAG.

        Raises:
            SetupError: a task of it failed.
        """
        self.logs.mkdir(parents=True, exist_ok=True)
        log = self.logs / f"{dag}.log"
        self.console.print(f"demo: DAG {dag}: {purpose} ...")
        since, started = datetime.now(UTC), time.monotonic()
        with log.open("w") as output:
            done = subprocess.run(
                ["airflow", "dags", "test", dag],
                env=os.environ
                | {
                    "WEIR_PROJECT": str(self.project),
                    "WEIR_RETRIES": "0",
                    "WEIR_SPARK__CONF": json.dumps(QUICK_START),
                },
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode:
            sys.stderr.write(reason(log.read_text()))
            raise SetupError(f"DAG {dag} failed; its output is in {log}")
        seconds = time.monotonic() - started
        stages = stage_seconds(str(self.lake), since)
        shares = ", ".join(f"{job} {spent:.1f} s" for job, spent in stages.items())
        start_up = seconds - sum(stages.values())
        self.console.print(
            f"demo: DAG {dag}: {seconds:.1f} s: {shares}, starting Airflow and Spark"
            f" {start_up:.1f} s"
        )


def reason(log: str) -> str:
    """Why a DAG failed, by its log: the error of the stage, else the last lines."""
    lines = log.splitlines(keepends=True)
    errors = [line for line in lines if line.startswith("error: ")]
    return "".join(errors or lines[-40:])
