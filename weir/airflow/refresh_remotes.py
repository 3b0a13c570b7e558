"""Ask the declared remotes for the keys that answers depend on, follow the links of the declared
traversals, then check how fresh they are.

A task per remote or traversal, in the pool `weir_<name>` (`weir remotes pools` prints the pools to
import). Each is evaluated at whole multiples of its `every`, at most once: a run in between does
nothing, and a retry continues with what is left of the budget. One that fails makes the run fail,
but not the others. So does a replica that is too old; it holds no answer.

`ingest_changes` takes what was found. What the refreshes did is sent as events of lineage, if the
settings say where. This DAG exists if `remotes.yml` declares a remote or
`traversals.yml` a traversal; while a file is wrong, its runs fail and say where.
"""

from __future__ import annotations

from collections.abc import Sequence

from airflow.sdk import DAG

from weir.airflow.deployment import START, Deployment
from weir.airflow.documents_task import lineage_tasks
from weir.airflow.programs import all_succeeded, check_freshness
from weir.airflow.refresh_task import RefreshRemote
from weir.errors import ConfigurationError
from weir.remotes.names import DeclaredRemote, cron_of
from weir.traversals.names import declared_to_refresh


def dag(deployment: Deployment) -> DAG | None:
    """The DAG `refresh_remotes`; None if nothing is declared."""
    try:
        remotes = declared_to_refresh(deployment.settings)
    except ConfigurationError as error:
        # The other DAGs are in the same file of Airflow's folder, and do not need this.
        # Here the check alone is left, which fails with the same error.
        return _dag(deployment, (), cron="0 * * * *", doc=f"{error}\n\n{__doc__}")
    if not remotes:
        return None
    # As often as the shortest `every`, once a minute at most.
    cron = cron_of(min(remote.every_us for remote in remotes))
    return _dag(deployment, remotes, cron, doc=str(__doc__))


def _dag(deployment: Deployment, remotes: Sequence[DeclaredRemote], cron: str, doc: str) -> DAG:
    with DAG(
        dag_id=deployment.dag_id("refresh_remotes"),
        schedule=deployment.schedule("refresh", cron),
        start_date=START,
        catchup=False,
        max_active_runs=1,  # a remote is asked by one run at a time
        doc_md=doc,
        tags=["weir", "graph"],
    ) as built:
        refreshed = [
            RefreshRemote(remote=remote, deployment=deployment, **deployment.retrying)
            for remote in remotes
        ]
        checked = check_freshness(deployment)
        sent = lineage_tasks(deployment, "refresh") if refreshed else []
        for task in refreshed:
            task >> [checked, *sent]
        [*refreshed, checked, *sent] >> all_succeeded()
    return built
