"""The task that emits the events of the answers that its run has published."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowException, AirflowSkipException

from weir.airflow.deployment import Deployment
from weir.airflow.programs import child_environment, command
from weir.airflow.requested_events import ProducesOnRequest
from weir.airflow.store_credentials import store_credentials

RESULTS = "queries"
"""The key of the XCom with what the run did for each query, as `weir.jobs.published_answers`."""
_SAID = ("query", "state", "reason")


class AnnounceAnswers(ProducesOnRequest):
    """Emits an event of the asset `answers/<query>` for each answer that got rows.

    The tables decide, not the outcome of the tasks before it: that one query is held back is no
    reason to keep quiet about the others.

    Args:
        deployment: of the project.
        wiring: arguments of the task.
    """

    def __init__(self, *, deployment: Deployment, **wiring: Any) -> None:
        super().__init__(
            task_id="announce_answers",
            alias="published answers",
            assets=deployment.assets.answers(),
            **wiring,
        )
        self._deployment = deployment

    def execute(self, context: Context) -> None:
        """Emit the events, and keep what became of each query.

        Raises:
            AirflowSkipException: nothing was published.
            AirflowException: the tables cannot be read; a retry reads them again.
        """
        self.emit_on_request()
        deployment, run_id = self._deployment, str(context["run_id"])
        with store_credentials(deployment.storage_connection):
            environment = child_environment()
        done = subprocess.run(
            command(deployment, "published_answers", "--run-id", run_id),
            cwd=deployment.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise AirflowException(f"exit code {done.returncode}\n{done.stderr.strip()}")
        results = json.loads(done.stdout)
        context["ti"].xcom_push(key=RESULTS, value=results)
        for result in results:
            if result["state"] != "published":
                self.log.warning("%s is %s: %s", *(result[key] for key in _SAID))
        published = [result for result in results if result["state"] == "published"]
        if not published:
            raise AirflowSkipException("No answer got new rows.")
        for result in published:
            extra = {name: result[name] for name in ("epoch", "version", "mode", "rows")}
            answer = deployment.assets.answer(result["query"])
            context["outlet_events"][self.events].add(answer, extra=extra)
            self.log.info("%s is published up to epoch %s", result["query"], result["epoch"])
