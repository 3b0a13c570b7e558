"""Keep every registered query's answers equal to the query over `quads`.

One run per wake-up. What is new comes from the tables' watermarks, so a lost or merged wake-up does
no harm and re-running commits nothing. Each stage goes on with what the one before it has done: a
query that cannot be maintained, or whose rows fail a check, makes the run fail and spares the
others. Only rows that are validated are published, whatever happened before.
"""

from airflow.sdk import DAG

from dags.common import START, answers, any_failure, quads, submit

with DAG(
    dag_id="maintain_queries",
    schedule=[quads()],
    start_date=START,
    catchup=False,
    max_active_runs=1,  # answers are published in the order of epochs
    doc_md=__doc__,
    tags=["weir", "answers"],
):
    maintain = submit("maintain_queries")
    # The same rows fail the same checks again: somebody has to look at them first.
    validate = submit("validate_answers", retries=0, trigger_rule="all_done")
    publish = submit("publish_answers", outlets=answers(), trigger_rule="all_done")
    maintain >> validate >> publish
    [maintain, validate, publish] >> any_failure()
