"""The task that notifies channels of what changed, with the credentials of their connections."""

from __future__ import annotations

import shlex
from contextlib import suppress
from typing import Any

from airflow.sdk import BaseHook, Context
from airflow.sdk.exceptions import AirflowNotFoundException

from weir.airflow.deployment import Deployment
from weir.airflow.programs import LakeCommand, command
from weir.remotes.connections import VARIABLE


class NotifyChannels(LakeCommand):
    """Delivers messages; what is not delivered is tried again by the next run.

    Args:
        deployment: of the project, which has channels.
        wiring: what Airflow adds.
    """

    def __init__(self, *, deployment: Deployment, **wiring: Any) -> None:
        channels = deployment.settings.notify.values()
        notify = shlex.join(command(deployment, "notify_channels", *deployment.page))
        super().__init__(
            deployment=deployment,
            task_id="notify_channels",
            # Not as a part of the command: the name of a run may have any character.
            bash_command=f'{notify} --run-id "$RUN_ID"',
            env={"RUN_ID": "{{ run_id }}"},
            trigger_rule="all_done",
            **deployment.retrying,
            **wiring,
        )
        self._connections = sorted({c.connection for c in channels if c.connection is not None})

    def get_env(self, context: Context) -> dict[str, str]:
        """The variables of the command, with the connections of webhooks."""
        secrets = {}
        for name in self._connections:
            # The channel that lacks its connection says so; the others are notified.
            with suppress(AirflowNotFoundException):
                secrets[f"{VARIABLE}{name.upper()}"] = BaseHook.get_connection(name).get_uri()
        return {**super().get_env(context), **secrets}
