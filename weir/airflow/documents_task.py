"""The tasks that write for readers outside of the lake: site, figures, artefacts and lineage."""

from __future__ import annotations

import shlex
from typing import Literal

from weir.airflow.deployment import Deployment
from weir.airflow.programs import LakeCommand, command


def documents_tasks(deployment: Deployment) -> list[LakeCommand]:
    """The task that writes all after publication; none if the settings name no place."""
    if not deployment.settings.documents:
        return []
    return [_task(deployment, "write_documents", *deployment.page)]


def lineage_tasks(deployment: Deployment, stage: Literal["ingest", "refresh"]) -> list[LakeCommand]:
    """The task that sends what a stage did as events of lineage; none if the settings want none.

    Args:
        deployment: of the project.
        stage: of the DAG, in which the graph changes and no answer does.
    """
    if "openlineage" not in deployment.settings.documents:
        return []
    return [_task(deployment, "send_lineage", "--lineage-of", stage)]


def _task(deployment: Deployment, task_id: str, *arguments: str) -> LakeCommand:
    """The task, whether those before it succeeded or not."""
    write = shlex.join(command(deployment, "write_documents", *arguments))
    connection = deployment.settings.openlineage.connection
    return LakeCommand(
        deployment=deployment,
        connections=() if connection is None else (connection,),
        task_id=task_id,
        # Not as a part of the command: the name of a run may have any character.
        bash_command=f'{write} --run-id "$RUN_ID"',
        env={"RUN_ID": "{{ run_id }}"},
        trigger_rule="all_done",
        **deployment.retrying,
    )
