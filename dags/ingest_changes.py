"""Take new change sets of all sources into `quads`.

Each source goes on from its own position in `transactions`: a run that finds nothing new commits
nothing, a run that was killed is completed by the next. The asset event only says that it is worth
looking; it comes with nothing new too, so that an edited query, or one that failed, is taken up.
"""

from airflow.sdk import DAG

from dags.common import START, quads, schedule, submit

with DAG(
    dag_id="ingest_changes",
    schedule=schedule("ingest", "*/15 * * * *"),
    start_date=START,
    catchup=False,
    max_active_runs=1,  # epochs are numbered by one writer
    doc_md=__doc__,
    tags=["weir", "graph"],
):
    submit("ingest_changes", outlets=[quads()])
