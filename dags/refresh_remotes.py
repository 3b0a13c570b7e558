"""Ask the declared remotes for the keys that answers depend on, then check how fresh they are.

A task per remote, in the pool `weir_<remote>` (`weir remotes pools` prints the pools to import). A
remote is evaluated at whole multiples of its `every`, each at most once: a run in between does
nothing, and a retry continues with what is left of the budget. A remote that fails makes the run
fail, but not the other remotes. So does a replica that is too old; it holds no answer.

`ingest_changes` takes what was found. This DAG exists if `remotes.yml` declares a remote.
"""

from airflow.sdk import DAG

from dags.common import (
    RETRYING,
    START,
    all_succeeded,
    check_freshness,
    refresh_pool,
    refresh_schedule,
    remotes,
    schedule,
)
from dags.refresh_task import RefreshRemote

DECLARED = remotes()

if DECLARED:
    with DAG(
        dag_id="refresh_remotes",
        schedule=schedule("refresh", refresh_schedule(DECLARED)),
        start_date=START,
        catchup=False,
        max_active_runs=1,  # a remote is asked by one run at a time
        doc_md=__doc__,
        tags=["weir", "graph"],
    ):
        refreshed = [
            RefreshRemote(remote=remote, pool=refresh_pool(remote), **RETRYING)
            for remote in DECLARED
        ]
        checked = check_freshness()
        refreshed >> checked
        [*refreshed, checked] >> all_succeeded()
