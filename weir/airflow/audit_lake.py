"""Examine the whole lake: files, logs, answers, and samples of answers computed again.

A check that fails makes the run fail; `weir repair` rebuilds what can be rebuilt.
"""

from __future__ import annotations

from airflow.sdk import DAG

from weir.airflow.deployment import START, Deployment
from weir.airflow.stage_task import submit


def dag(deployment: Deployment) -> DAG:
    """The DAG `audit_lake`."""
    with DAG(
        dag_id=deployment.dag_id("audit_lake"),
        schedule=deployment.schedule("audit", "0 4 * * 0"),
        start_date=START,
        catchup=False,
        max_active_runs=1,
        doc_md=__doc__,
        tags=["weir", "upkeep"],
    ) as built:
        submit("audit_lake", deployment, "--full")
    return built
