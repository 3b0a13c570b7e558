"""The task that writes the site, figures and artefacts after publication."""

from __future__ import annotations

import shlex

from weir.airflow.deployment import Deployment
from weir.airflow.programs import LakeCommand, command


def documents_tasks(deployment: Deployment) -> list[LakeCommand]:
    """The task, whether all was published or not; none if the settings name no place."""
    if not deployment.settings.documents:
        return []
    return [
        LakeCommand(
            deployment=deployment,
            task_id="write_documents",
            bash_command=shlex.join(command(deployment, "write_documents", *deployment.page)),
            trigger_rule="all_done",
            **deployment.retrying,
        )
    ]
