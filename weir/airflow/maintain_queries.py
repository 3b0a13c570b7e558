"""Keep every registered query's answers equal to the query over `quads`.

One run per event. The watermarks of the tables determine the new changes, so a lost or merged event
does no harm, and running again commits nothing. Each stage continues with what the one before it
has completed: a query that cannot be maintained, or whose rows fail a check, makes the run fail,
but not the other queries. Only validated rows are published, and each answer that got rows emits an
event, also if others are held back. Channels of notifications, if there are any, are then notified,
and the site, figures, artefacts and events of lineage written as far as the settings say where.

The parameter `accept` names queries, separated by commas: the answer that is held of each is
published by this run, though it is beyond the guards of the query.
"""

from __future__ import annotations

from airflow.sdk import DAG, Param

from weir.airflow.announce_task import AnnounceAnswers
from weir.airflow.deployment import START, Deployment
from weir.airflow.documents_task import documents_tasks
from weir.airflow.notify_task import NotifyChannels
from weir.airflow.programs import all_succeeded
from weir.airflow.stage_task import submit


def dag(deployment: Deployment) -> DAG:
    """The DAG `maintain_queries`."""
    with DAG(
        dag_id=deployment.dag_id("maintain_queries"),
        schedule=[deployment.assets.quads()],
        start_date=START,
        catchup=False,
        max_active_runs=1,  # answers are published in the order of epochs
        doc_md=__doc__,
        params={
            "accept": Param(
                None,
                type=["null", "string"],
                title="Queries whose held answer is published",
                description="Names of queries with commas between them; mostly empty.",
            )
        },
        tags=["weir", "answers"],
    ) as built:
        maintain = submit("maintain_queries", deployment)
        # No retry: the same rows would fail the same checks again.
        validate = submit(
            "validate_answers",
            deployment,
            *("--accept", "{{ params.accept or '' }}"),
            retries=0,
            trigger_rule="all_done",
        )
        publish = submit("publish_answers", deployment, trigger_rule="all_done")
        announced = AnnounceAnswers(
            deployment=deployment, trigger_rule="all_done", **deployment.retrying
        )
        maintain >> validate >> publish >> announced
        notified = [NotifyChannels(deployment=deployment)] if deployment.settings.notify else []
        written = documents_tasks(deployment)
        publish >> [*notified, *written]
        [maintain, validate, publish, announced, *notified, *written] >> all_succeeded()
    return built
