"""Keep the tables fast to read: merge small files and consolidate logs.

Only epochs that all queries have processed are consolidated: the slowest watermark is the limit.
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
