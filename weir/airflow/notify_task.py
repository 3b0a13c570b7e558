"""The task that notifies channels of what changed, with the credentials of their connections."""

from __future__ import annotations

import shlex
from typing import Any

from weir.airflow.deployment import Deployment
from weir.airflow.programs import LakeCommand, command


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
            connections=[c.connection for c in channels if c.connection is not None],
            task_id="notify_channels",
            # Not as a part of the command: the name of a run may have any character.
            bash_command=f'{notify} --run-id "$RUN_ID"',
            env={"RUN_ID": "{{ run_id }}"},
            trigger_rule="all_done",
            **deployment.retrying,
            **wiring,
        )
