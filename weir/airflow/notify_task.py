"""The task that notifies channels of what changed, with the credentials of their connections."""

from __future__ import annotations

import shlex

from airflow.sdk import BaseHook, Context

from weir.airflow.deployment import Deployment
from weir.airflow.programs import LakeCommand, command
from weir.remotes.connections import VARIABLE


class NotifyChannels(LakeCommand):
    """Delivers messages; what is not delivered is tried again by the next run.

    Args:
        deployment: of the project, which has channels.
    """

    def __init__(self, *, deployment: Deployment) -> None:
        channels = deployment.settings.notify.values()
        super().__init__(
            deployment=deployment,
            task_id="notify_channels",
            # Not as a part of the command: the name of a run may have any character.
            bash_command=f'{shlex.join(command(deployment, "notify_channels"))} --run-id "$RUN_ID"',
            env={"RUN_ID": "{{ run_id }}"},
            trigger_rule="all_done",
            **deployment.retrying,
        )
        self._connections = sorted({c.connection for c in channels if c.connection is not None})

    def get_env(self, context: Context) -> dict[str, str]:
        """The variables of the command, with the connections of webhooks."""
        secrets = {
            f"{VARIABLE}{name.upper()}": BaseHook.get_connection(name).get_uri()
            for name in self._connections
        }
        return {**super().get_env(context), **secrets}
