"""The DAGs run by Airflow, ingest and maintain by a local Spark: a failure affects nothing else.

All stages run by Spark in `test_standalone.py`.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.dags.installation import HERE, Airflow, Runs
from tests.dags.spark import succeeded_tasks, variables_of
from tests.support.opened import call
from weir.ingest.stage import ingest_changes
from weir.maintain.stage import maintain_queries
from weir.publish.stage import publish_answers
from weir.settings import CONFIG_FILE, Settings
from weir.validate.stage import validate_answers

FOURTH = """H id <urn:uuid:4> .
H prev <urn:uuid:3> .
TX .
D <http://example.org/bob> <http://xmlns.com/foaf/0.1/name> "Robert" .
A <http://example.org/bob> <http://xmlns.com/foaf/0.1/name> "Bert" .
TC .
"""


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory, airflow_database: Path) -> Airflow:
    """An Airflow whose project has three epochs, and the answers up to the third."""
    started = Airflow(tmp_path_factory.mktemp("execution"), airflow_database, HERE / "project")
    settings = Settings.load(started.project / CONFIG_FILE)
    for stage in (ingest_changes, maintain_queries, validate_answers, publish_answers):
        call(stage, settings, "test")
    return started


@pytest.fixture(scope="module")
def runs(airflow: Airflow) -> Runs:
    """Both DAGs, with a fourth change set, and a source, a query and an answer that are wrong.

    The source does not exist, the query is broken, and the answer is above its limit.
    """
    (airflow.project / "queries" / "few.rq").write_text("#+ max_rows: 1\nSELECT * { ?s ?p ?o }")
    (airflow.project / "queries" / "broken.rq").write_text("SELECT nonsense")
    with (airflow.project / "sources.yml").open("a") as sources:
        sources.write("\n  - {name: absent, kind: patches, location: nowhere}\n")
    (airflow.project / "patches" / "4.rdfp").write_text(FOURTH)
    # Starting Spark takes longer than all else; what the last two stages read is a row at most.
    variables = variables_of(airflow.project.parent / "events") | {"WEIR_LIMITS__DRIVER_ROWS": "1"}
    return airflow.run_dags("ingest_changes", "maintain_queries", variables=variables)


def test_an_answer_that_is_held_back_is_named_in_the_log_with_its_reason(runs: Runs) -> None:
    assert "1 answer held back:" in runs.output
    assert "rows, max_rows is 1 (queries/few.rq:1)" in runs.output


def test_what_was_published_is_announced_although_another_answer_is_held_back(
    airflow: Airflow, runs: Runs
) -> None:
    assert runs.codes
    with closing(sqlite3.connect(airflow.database)) as database:
        events = database.execute(
            "SELECT e.source_task_id, a.name FROM asset_event e JOIN asset a ON a.id = e.asset_id"
            " WHERE a.name LIKE 'answers/%' ORDER BY a.name"
        ).fetchall()
    assert events == [
        ("announce_answers", "answers/acquaintances"),
        ("announce_answers", "answers/names"),
    ]


def test_what_became_of_each_query_is_kept_for_the_page_of_the_task(
    airflow: Airflow, runs: Runs
) -> None:
    assert runs.codes
    with closing(sqlite3.connect(airflow.database)) as database:
        ((value,),) = database.execute(
            "SELECT value FROM xcom WHERE task_id = 'announce_answers' AND key = 'queries'"
        ).fetchall()
    kept = json.loads(value)
    results = {
        result["query"]: result for result in (json.loads(kept) if isinstance(kept, str) else kept)
    }
    states = {name: (result["state"], result["epoch"]) for name, result in results.items()}
    assert states.pop("few") == ("held", None)
    assert states == {"acquaintances": ("published", 4), "names": ("published", 4)}
    assert (results["acquaintances"]["mode"], results["acquaintances"]["rows"]) == (
        "incremental",
        2,
    )
    assert "max_rows is 1" in results["few"]["reason"]
    assert "few is held: row_count_is_within_max_rows" in runs.output


def test_a_stage_that_fails_makes_its_dag_run_fail_with_the_reason(runs: Runs) -> None:
    assert all(runs.codes)
    assert "absent: " in runs.output
    assert "broken.rq:1" in runs.output


def test_a_source_that_fails_does_not_affect_the_others(airflow: Airflow, runs: Runs) -> None:
    assert runs.codes
    assert airflow.newest_states("ingest_changes") == {
        "ingest_changes": "failed",
        "announce_changes": "success",
        "all_succeeded": "upstream_failed",
    }


def test_a_query_that_fails_does_not_affect_the_others(airflow: Airflow, runs: Runs) -> None:
    assert runs.codes
    assert airflow.newest_states("maintain_queries") == {
        "maintain_queries": "failed",
        "validate_answers": "failed",
        "publish_answers": "failed",
        "announce_answers": "success",
        "all_succeeded": "upstream_failed",
    }
    ann = "<http://example.org/ann>"
    assert airflow.answer("acquaintances") == {
        (2, 1, ann, '"Bob"'),
        (3, -1, ann, '"Bob"'),
        (3, 1, ann, '"Robert"'),
        (4, -1, ann, '"Robert"'),
        (4, 1, ann, '"Bert"'),
    }


def test_spark_ingests_the_change_set_and_computes_the_answers(
    airflow: Airflow, runs: Runs
) -> None:
    assert runs.codes
    tasks = succeeded_tasks(airflow.project.parent / "events")
    assert {name for name, counts in tasks.items() if sum(counts.values())} == {
        "weir ingest",
        "weir maintain",
    }
