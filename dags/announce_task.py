"""The task that emits the events of the answers that its run has published."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from airflow.sdk import AssetAlias, BaseOperator, Context
from airflow.sdk.exceptions import AirflowException, AirflowSkipException

from dags.common import CODE, CONFIG, asset, child_environment
from dags.store_credentials import store_credentials


class AnnounceAnswers(BaseOperator):
    """Emits an event of the asset `answers/<query>` for each answer that got rows.

    The tables decide, not the outcome of the tasks before it: that one query is held back is no
    reason to keep quiet about the others.

    Args:
        wiring: arguments of the task.
    """

    def __init__(self, **wiring: Any) -> None:
        # Events of an asset itself are emitted by every success; those of an alias on request.
        self._published = AssetAlias("published answers")
        super().__init__(task_id="announce_answers", outlets=[self._published], **wiring)

    def execute(self, context: Context) -> None:
        """Emit the events.

        Raises:
            AirflowSkipException: nothing was published.
            AirflowException: the tables cannot be read; a retry reads them again.
        """
        command = [sys.executable, "-m", "jobs.published_answers", "--config", str(CONFIG)]
        command += ["--run-id", str(context["run_id"])]
        with store_credentials():
            environment = child_environment()
        done = subprocess.run(
            command, cwd=CODE, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise AirflowException(f"exit code {done.returncode}\n{done.stderr.strip()}")
        published = json.loads(done.stdout)
        if not published:
            raise AirflowSkipException("No answer got new rows.")
        for each in published:
            extra = {"epoch": each["epoch"], "version": each["version"]}
            table = asset(f"answers/{each['query']}")
            context["outlet_events"][self._published].add(table, extra=extra)
            self.log.info("%s is published up to epoch %s", each["query"], each["epoch"])
