"""Append the new change sets of all sources to `quads`.

Each source continues from its position in `transactions`: a run without new change sets commits
nothing, and a run that was killed is completed by the next one. A source that stops makes the run
fail, but not the other sources; their changes are announced nevertheless. A query that is new,
edited or behind is announced, too. Without pending work there is no event, and no other DAG runs.

What `refresh_remotes` has found is a source too: it is ingested at once. What the run did is sent
as events of lineage, if the settings say where.

The parameter `accept` names sources, separated by commas: the change set that stopped each of them
is taken in by this run, though it is beyond the guards of the source.
"""

from __future__ import annotations

from airflow.sdk import DAG, AssetAny, AssetOrTimeSchedule, CronTriggerTimetable, Param

from weir.airflow.deployment import START, Deployment
from weir.airflow.documents_task import lineage_tasks
from weir.airflow.programs import all_succeeded, announce_changes
from weir.airflow.stage_task import submit
from weir.errors import ConfigurationError
from weir.traversals.names import declared_to_refresh


def dag(deployment: Deployment) -> DAG:
    """The DAG `ingest_changes`."""
    with DAG(
        dag_id=deployment.dag_id("ingest_changes"),
        schedule=_schedule(deployment),
        start_date=START,
        catchup=False,
        max_active_runs=1,  # epochs are numbered by one writer
        doc_md=__doc__,
        params={
            "accept": Param(
                None,
                type=["null", "string"],
                title="Sources whose stopped change set is taken in",
                description="Names of sources with commas between them; mostly empty.",
            )
        },
        tags=["weir", "graph"],
    ) as built:
        # Null is what the form of Airflow's page makes of an empty field.
        accepted = ("--accept", "{{ params.accept or '' }}")
        ingest = submit("ingest_changes", deployment, *accepted)
        announced = announce_changes(deployment)
        sent = lineage_tasks(deployment, "ingest")
        ingest >> [announced, *sent]
        [ingest, announced, *sent] >> all_succeeded()
    return built


def _schedule(deployment: Deployment) -> str | AssetOrTimeSchedule:
    """By the clock, and at once where a refresh has found changes."""
    cron = deployment.schedule("ingest", "*/15 * * * *")
    try:
        remotes = declared_to_refresh(deployment.settings)
    except ConfigurationError:
        # The task itself says what is wrong.
        remotes = ()
    if not remotes:
        return cron
    inboxes = (deployment.assets.inbox(remote) for remote in remotes)
    timetable = CronTriggerTimetable(cron, timezone="UTC")
    return AssetOrTimeSchedule(timetable=timetable, assets=AssetAny(*inboxes))
