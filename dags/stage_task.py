"""The task that submits a stage to Spark; what another try cannot change is not tried again."""

from __future__ import annotations

import re

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowException, AirflowFailException

from dags.store_credentials import store_credentials
from weir.errors import EXIT_QUALITY, EXIT_USAGE

_EXIT_CODE = re.compile(r"Error code is: (\d+)\.")
_REASON = re.compile(r"^error: ", re.MULTILINE)
_FINAL = (EXIT_USAGE, EXIT_QUALITY)
"""Exit codes of a wrong configuration and of a failed check."""


class SubmitStage(SparkSubmitOperator):
    """Submits a stage; its reason to fail is an error of the task's log.

    The exit code is known where Spark's driver runs beside the task (deploy mode `client`).
    Elsewhere a failure is one like any other, and retried.
    """

    def execute(self, context: Context) -> None:
        """Run the stage.

        Raises:
            AirflowFailException: the configuration is wrong or a check failed, which another try
                does not change.
            AirflowException: it failed; a retry continues at the stage's own watermark.
        """
        try:
            with store_credentials():
                super().execute(context)
        except AirflowException as error:
            code = _EXIT_CODE.search(str(error))
            reasons = _REASON.split(str(error))
            if code is None or len(reasons) == 1:
                raise
            kind = AirflowFailException if int(code[1]) in _FINAL else AirflowException
            # Without the command and the lines of Spark.
            raise kind(f"{self.task_id} ended with exit code {code[1]}.\n{reasons[-1]}") from None
