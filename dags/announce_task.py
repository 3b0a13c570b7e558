"""The task that emits the events of the answers that its run has published."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowException, AirflowSkipException

from dags.common import CODE, CONFIG, answer, answers, child_environment
from dags.requested_events import ProducesOnRequest
from dags.store_credentials import store_credentials

RESULTS = "queries"
"""The key of the XCom with what the run did for each query, as `weir.jobs.published_answers`."""


class AnnounceAnswers(ProducesOnRequest):
    """Emits an event of the asset `answers/<query>` for each answer that got rows.

    The tables decide, not the outcome of the tasks before it: that one query is held back is no
    reason to keep quiet about the others.

    Args:
        wiring: arguments of the task.
    """

    def __init__(self, **wiring: Any) -> None:
        super().__init__(
            task_id="announce_answers", alias="published answers", assets=answers(), **wiring
        )

    def execute(self, context: Context) -> None:
        """Emit the events, and keep what became of each query.

        Raises:
            AirflowSkipException: nothing was published.
            AirflowException: the tables cannot be read; a retry reads them again.
        """
        self.emit_on_request()
        command = [
            sys.executable,
            "-P",
            "-m",
            "weir.jobs.published_answers",
            "--config",
            str(CONFIG),
        ]
        command += ["--run-id", str(context["run_id"])]
        with store_credentials():
            environment = child_environment()
        done = subprocess.run(
            command, cwd=CODE, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise AirflowException(f"exit code {done.returncode}\n{done.stderr.strip()}")
        results = json.loads(done.stdout)
        context["ti"].xcom_push(key=RESULTS, value=results)
        for each in results:
            if each["state"] != "published":
                self.log.warning("%s is %s: %s", each["query"], each["state"], each["reason"])
        published = [each for each in results if each["state"] == "published"]
        if not published:
            raise AirflowSkipException("No answer got new rows.")
        for each in published:
            extra = {name: each[name] for name in ("epoch", "version", "mode", "rows")}
            context["outlet_events"][self.events].add(answer(each["query"]), extra=extra)
            self.log.info("%s is published up to epoch %s", each["query"], each["epoch"])
