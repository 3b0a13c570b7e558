"""The task that writes the site, figures, artefacts and lineage after publication."""

from __future__ import annotations

import shlex

from weir.airflow.deployment import Deployment
from weir.airflow.programs import LakeCommand, command


def documents_tasks(deployment: Deployment) -> list[LakeCommand]:
    """The task, whether all was published or not; none if the settings name no place."""
    if not deployment.settings.documents:
        return []
    write = shlex.join(command(deployment, "write_documents", *deployment.page))
    connection = deployment.settings.openlineage.connection
    return [
        LakeCommand(
            deployment=deployment,
            connections=() if connection is None else (connection,),
            task_id="write_documents",
            # Not as a part of the command: the name of a run may have any character.
            bash_command=f'{write} --run-id "$RUN_ID"',
            env={"RUN_ID": "{{ run_id }}"},
            trigger_rule="all_done",
            **deployment.retrying,
        )
    ]
