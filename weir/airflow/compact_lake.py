"""Keep the tables fast to read: merge small files and consolidate logs.

Only epochs that all queries have processed are consolidated: the slowest watermark is the limit.
"""

from __future__ import annotations

from airflow.sdk import DAG

from weir.airflow.deployment import START, Deployment
from weir.airflow.stage_task import submit


def dag(deployment: Deployment) -> DAG:
    """The DAG `compact_lake`."""
    with DAG(
        dag_id=deployment.dag_id("compact_lake"),
        schedule=deployment.schedule("compact", "0 3 * * *"),
        start_date=START,
        catchup=False,
        max_active_runs=1,  # two of them would rewrite the same files
        doc_md=__doc__,
        tags=["weir", "upkeep"],
    ) as built:
        submit("compact_lake", deployment)
    return built
