"""Append the new change sets of all sources to `quads`.

Each source continues from its position in `transactions`: a run without new change sets commits
nothing, and a run that was killed is completed by the next one. A source that stops makes the run
fail, but not the other sources; their changes are announced nevertheless. A query that is new,
edited or behind is announced, too. Without pending work there is no event, and no other DAG runs.

What `refresh_remotes` has found is a source too: it is ingested at once.

The parameter `accept` names sources, separated by commas: the change set that stopped each of them
is taken in by this run, though it is beyond the guards of the source.
"""

from airflow.sdk import DAG, Param

from dags.common import START, all_succeeded, announce, ingest_schedule, quads, submit

with DAG(
    dag_id="ingest_changes",
    schedule=ingest_schedule(),
    start_date=START,
    catchup=False,
    max_active_runs=1,  # epochs are numbered by one writer
    doc_md=__doc__,
    params={
        "accept": Param(
            None,
            type=["null", "string"],
            title="Sources whose stopped change set is taken in",
            description="Names of sources with commas between them; mostly empty.",
        )
    },
    tags=["weir", "graph"],
):
    # Null is what the form of Airflow's page makes of an empty field.
    ingest = submit("ingest_changes", "--accept", "{{ params.accept or '' }}")
    announced = announce(quads())
    ingest >> announced
    [ingest, announced] >> all_succeeded()
