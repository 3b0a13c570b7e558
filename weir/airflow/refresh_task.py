"""The task that refreshes a remote or a traversal: a child that is given its secret by a pipe."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from airflow.sdk import BaseHook, Context
from airflow.sdk.exceptions import AirflowException, AirflowFailException

from weir.airflow.deployment import Deployment
from weir.airflow.programs import child_environment, command
from weir.airflow.requested_events import ProducesOnRequest
from weir.airflow.store_credentials import store_credentials
from weir.errors import EXIT_NOTHING_TO_DO, EXIT_USAGE
from weir.remotes.names import DeclaredRemote


class RefreshRemote(ProducesOnRequest):
    """Runs `weir.jobs.refresh_remotes` for one remote or traversal, without Spark.

    The connection is looked up while the task runs, and its login and password go to the standard
    input of the child: they are in no argument, variable, template or log. The event of the asset
    of its inbox is emitted if there is something for ingest to take.

    Args:
        remote: who is asked.
        deployment: of the project.
        wiring: `retries` and other arguments of the task.
    """

    def __init__(self, *, remote: DeclaredRemote, deployment: Deployment, **wiring: Any) -> None:
        inbox = deployment.assets.inbox(remote)
        super().__init__(
            task_id=f"refresh_{remote.name}",
            alias=f"changes of {inbox.name}",
            assets=[inbox],
            pool=deployment.refresh_pool(remote.pool),
            **wiring,
        )
        self.remote = remote.name
        self.inbox = inbox
        self.connection = remote.connection
        self._deployment = deployment
        self._child: subprocess.Popen[str] | None = None

    def execute(self, context: Context) -> None:
        """Refresh, and emit the event.

        Raises:
            AirflowFailException: the configuration is wrong, which another try does not change.
            AirflowException: it failed; a retry continues the evaluation with what is left of its
                budget.
        """
        self.emit_on_request()
        code = self._run(str(context["run_id"]))
        if code == 0:
            context["outlet_events"][self.events].add(self.inbox)
        elif code == EXIT_USAGE:
            raise AirflowFailException(f"{self.remote}: the configuration is wrong, see above.")
        elif code != EXIT_NOTHING_TO_DO:
            raise AirflowException(f"{self.remote}: refresh ended with exit code {code}.")

    def on_kill(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.kill()

    def _run(self, run_id: str) -> int:
        """The exit code of the child, whose lines are logged."""
        deployment = self._deployment
        arguments = ("--run-id", run_id, "--remote", self.remote, "--credentials", "--event")
        with store_credentials(deployment.storage_connection):
            environment = child_environment()
        with subprocess.Popen(
            command(deployment, "refresh_remotes", *arguments),
            cwd=deployment.folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as child:
            self._child = child
            try:
                assert child.stdin is not None
                assert child.stdout is not None
                with child.stdin:
                    json.dump(self._credentials(), child.stdin)
                for line in child.stdout:
                    self.log.info("%s", line.rstrip())
                return child.wait()
            finally:
                # Also if the time of the task is over.
                child.kill()
                self._child = None

    def _credentials(self) -> dict[str, dict[str, str]]:
        if self.connection is None:
            return {}
        known = BaseHook.get_connection(self.connection)
        return {self.connection: {"login": known.login or "", "password": known.password or ""}}
