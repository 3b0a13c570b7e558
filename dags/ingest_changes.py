"""Take new change sets of all sources into `quads`.

Each source goes on from its own position in `transactions`: a run that finds nothing new commits
nothing, a run that was killed is completed by the next. A source that stops makes the run fail and
spares the others: what they brought is announced all the same. So is a query that is new, edited or
behind; if there is nothing to be done, nobody is woken.
"""

from airflow.sdk import DAG

from dags.common import START, announce, any_failure, quads, schedule, submit

with DAG(
    dag_id="ingest_changes",
    schedule=schedule("ingest", "*/15 * * * *"),
    start_date=START,
    catchup=False,
    max_active_runs=1,  # epochs are numbered by one writer
    doc_md=__doc__,
    tags=["weir", "graph"],
):
    ingest = submit("ingest_changes")
    announced = announce(quads())
    ingest >> announced
    [ingest, announced] >> any_failure()
