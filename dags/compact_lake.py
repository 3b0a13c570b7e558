"""Keep the tables quick to read: bring small files together and consolidate logs.

Nothing that a query has not read yet is consolidated: the slowest watermark is the limit.
"""

from airflow.sdk import DAG

from dags.common import START, schedule, submit

with DAG(
    dag_id="compact_lake",
    schedule=schedule("compact", "0 3 * * *"),
    start_date=START,
    catchup=False,
    max_active_runs=1,  # two of them would rewrite the same files
    doc_md=__doc__,
    tags=["weir", "upkeep"],
):
    submit("compact_lake")
