"""Ask the declared remotes for the keys that answers depend on, then check how fresh they are.

A task per remote, in the pool `weir_<remote>` (`weir remotes pools` prints the pools to import). A
remote is evaluated at whole multiples of its `every`, each at most once: a run in between does
nothing, and a retry continues with what is left of the budget. A remote that fails makes the run
fail, but not the other remotes. So does a replica that is too old; it holds no answer.

`ingest_changes` takes what was found. This DAG exists if `remotes.yml` declares a remote; while the
file is wrong, its runs fail and say where.
"""

from __future__ import annotations

from collections.abc import Sequence

from airflow.sdk import DAG

from weir.airflow.deployment import START, Deployment
from weir.airflow.programs import all_succeeded, check_freshness
from weir.airflow.refresh_task import RefreshRemote
from weir.errors import ConfigurationError
from weir.remotes.names import DeclaredRemote, cron_of, declared_remotes


def dag(deployment: Deployment) -> DAG | None:
    """The DAG `refresh_remotes`; None if there are no remotes."""
    try:
        remotes = declared_remotes(deployment.settings.remotes)
    except ConfigurationError as error:
        # The other DAGs are in the same file of Airflow's folder, and do not need the remotes.
        # Here the check alone is left, which fails with the same error.
        return _dag(deployment, (), cron="0 * * * *", doc=f"{error}\n\n{__doc__}")
    if not remotes:
        return None
    # As often as the shortest `every`, once a minute at most.
    cron = cron_of(min(remote.every_us for remote in remotes))
    return _dag(deployment, remotes, cron, doc=str(__doc__))


def _dag(deployment: Deployment, remotes: Sequence[DeclaredRemote], cron: str, doc: str) -> DAG:
    with DAG(
        dag_id="refresh_remotes",
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
        refreshed >> checked
        [*refreshed, checked] >> all_succeeded()
    return built
