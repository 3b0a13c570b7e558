"""The task that submits a stage to Spark; what another try cannot change is not tried again."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Final

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowException, AirflowFailException

import weir
from weir.airflow.deployment import Deployment
from weir.airflow.store_credentials import store_credentials
from weir.errors import EXIT_QUALITY, EXIT_USAGE
from weir.spark_setup.installation import use_java, with_jars

JOBS: Final = (Path(weir.__file__).parent / "jobs").resolve()
"""Where the programs are that are submitted."""
_EXIT_CODE = re.compile(r"Error code is: (\d+)\.")
_REASON = re.compile(r"^error: ", re.MULTILINE)
_FINAL = (EXIT_USAGE, EXIT_QUALITY)
"""Exit codes of a wrong configuration and of a failed check."""


class SubmitStage(SparkSubmitOperator):
    """Submits a stage; its reason to fail is an error of the task's log.

    The exit code is known where Spark's driver runs beside the task (deploy mode `client`).
    Elsewhere a failure is one like any other, and retried.

    Args:
        storage_connection: the connection with the credentials of the lake's store.
        wiring: `task_id` and other arguments of the task.
    """

    def __init__(self, *, storage_connection: str | None, **wiring: Any) -> None:
        super().__init__(**wiring)
        self._storage_connection = storage_connection

    def execute(self, context: Context) -> None:
        """Run the stage.

        Raises:
            AirflowFailException: the configuration is wrong or a check failed, which another try
                does not change.
            AirflowException: it failed; a retry continues at the stage's own watermark.
        """
        try:
            use_java()
            with store_credentials(self._storage_connection):
                super().execute(context)
        except AirflowException as error:
            code = _EXIT_CODE.search(str(error))
            reasons = _REASON.split(str(error))
            if code is None or len(reasons) == 1:
                raise
            kind = AirflowFailException if int(code[1]) in _FINAL else AirflowException
            # Without the command and the lines of Spark.
            raise kind(f"{self.task_id} ended with exit code {code[1]}.\n{reasons[-1]}") from None


def submit(stage: str, deployment: Deployment, *arguments: str, **wiring: Any) -> SubmitStage:
    """The task that runs `weir/jobs/<stage>.py` on Spark.

    Args:
        stage: name of the task and of the program.
        deployment: of the project.
        arguments: of the program, beside those that all have; templates.
        wiring: `retries` and other arguments of the task.
    """
    spark, config = deployment.settings.spark, str(deployment.config)
    return SubmitStage(
        storage_connection=deployment.storage_connection,
        task_id=stage,
        name=f"weir {stage}",
        conn_id="spark_default",
        application=str(JOBS / f"{stage}.py"),
        application_args=[
            *("--config", config, *deployment.page, "--run-id", "{{ run_id }}", *arguments)
        ],
        driver_memory=spark.driver_memory,
        conf={
            "spark.pyspark.driver.python": sys.executable,
            "spark.pyspark.python": deployment.python_of_executors,
            # Airflow stores all of Spark's output; at INFO that is thousands of lines.
            "spark.log.level": "WARN",
            # Options of the driver's JVM must be known when it starts. None is a secret: the
            # settings refuse those.
            **with_jars(spark.conf),
        },
        py_files=deployment.py_files,
        **{**deployment.retrying, **wiring},
    )
