"""Programs of `weir.jobs` that a task runs beside it, without Spark."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import BaseHook, Context
from airflow.sdk.exceptions import AirflowNotFoundException

from weir.airflow.deployment import Deployment
from weir.airflow.store_credentials import store_credentials
from weir.errors import EXIT_NOTHING_TO_DO
from weir.remotes.connections import VARIABLE


def command(deployment: Deployment, program: str, *arguments: str) -> list[str]:
    """The command that runs a program for the project.

    With `-P`, since a file of the project's folder must not take the place of a module.
    """
    module = f"weir.jobs.{program}"
    return [sys.executable, "-P", "-m", module, "--config", str(deployment.config), *arguments]


def child_environment() -> dict[str, str]:
    """The environment of a task's child process, without what belongs to Airflow.

    A connection or a key of Airflow in its environment is not passed on.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}


class LakeCommand(BashOperator):
    """A command that reads the lake, in the project's folder.

    Args:
        deployment: of the project.
        connections: the connections whose credentials it has.
        wiring: `task_id`, `bash_command` and other arguments of the task.
    """

    def __init__(
        self, *, deployment: Deployment, connections: Collection[str] = (), **wiring: Any
    ) -> None:
        super().__init__(cwd=str(deployment.folder), **wiring)
        self._connections = sorted({*connections})
        self._storage_connection = deployment.storage_connection

    def execute(self, context: Context) -> Any:
        """Run it with the credentials of the lake's store."""
        with store_credentials(self._storage_connection):
            return super().execute(context)

    def get_env(self, context: Context) -> dict[str, str]:
        """The variables of the command: of every child of a task, of this one, and connections."""
        del context
        secrets = {}
        for name in self._connections:
            # The command says what it cannot do without its connection; it does the rest.
            with suppress(AirflowNotFoundException):
                secrets[f"{VARIABLE}{name.upper()}"] = BaseHook.get_connection(name).get_uri()
        return {**child_environment(), **(self.env or {}), **secrets}


def announce_changes(deployment: Deployment) -> LakeCommand:
    """The task that emits the event of `quads` if there is pending work; else it is skipped.

    The tables decide, not the outcome of the tasks before it.
    """
    return LakeCommand(
        deployment=deployment,
        task_id="announce_changes",
        bash_command=shlex.join(command(deployment, "pending_work")),
        skip_on_exit_code=EXIT_NOTHING_TO_DO,
        trigger_rule="all_done",
        outlets=[deployment.assets.quads()],
    )


def check_freshness(deployment: Deployment) -> LakeCommand:
    """The task that fails if a replica is too old, or a check of it does not hold.

    It comes after the refreshes, whether they succeeded or not, and is not retried.
    """
    check = shlex.join(command(deployment, "check_freshness", *deployment.page))
    return LakeCommand(
        deployment=deployment,
        task_id="check_freshness",
        # Not as a part of the command: the name of a run may have any character.
        bash_command=f'{check} --run-id "$RUN_ID"',
        env={"RUN_ID": "{{ run_id }}"},
        retries=0,
        trigger_rule="all_done",
    )


def all_succeeded() -> EmptyOperator:
    """The last task, which makes the run fail if any task failed: by default only the last count.

    It succeeds without doing anything if no task before it failed. If one did, it is not run, and
    its state is `upstream_failed`, which is a failure of the run.
    """
    return EmptyOperator(task_id="all_succeeded", trigger_rule="none_failed", retries=0)
