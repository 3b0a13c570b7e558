"""Examine the whole lake: files, logs, answers, and samples of answers computed again.

A check that fails makes the run fail; `weir repair` rebuilds what can be rebuilt.
"""

from airflow.sdk import DAG

from dags.common import START, schedule, submit

with DAG(
    dag_id="audit_lake",
    schedule=schedule("audit", "0 4 * * 0"),
    start_date=START,
    catchup=False,
    max_active_runs=1,
    doc_md=__doc__,
    tags=["weir", "upkeep"],
):
    submit("audit_lake", "--full")
