"""Both DAGs run for real: Airflow, spark-submit, Delta."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lake.lake import Lake

HERE = Path(__file__).parent
pytestmark = pytest.mark.slow

FOURTH = """H id <urn:uuid:4> .
H prev <urn:uuid:3> .
TX .
D <http://example.org/bob> <http://xmlns.com/foaf/0.1/name> "Robert" .
A <http://example.org/bob> <http://xmlns.com/foaf/0.1/name> "Bert" .
TC .
"""

Environment = Callable[[Path, Path], dict[str, str]]


class Airflow:
    """An Airflow of its own with a project of its own."""

    def __init__(self, folder: Path, project: Path, environment: dict[str, str]) -> None:
        self.project = project
        self._folder, self._environment = folder, environment
        assert self.run("db", "migrate").returncode == 0

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run Airflow's command line."""
        return subprocess.run(
            [Path(sys.executable).with_name("airflow"), *words],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def newest_states(self, dag: str) -> dict[str, str]:
        """The states of the tasks of the newest run of a DAG."""
        with closing(sqlite3.connect(self._folder / "home" / "airflow.db")) as database:
            rows = database.execute(
                "SELECT task_id, state FROM task_instance WHERE dag_id = ? AND run_id ="
                " (SELECT run_id FROM dag_run WHERE dag_id = ? ORDER BY id DESC LIMIT 1)",
                [dag, dag],
            )
            return dict(rows.fetchall())

    def answer(self, query: str) -> set[tuple[object, ...]]:
        """The published rows of a query: epoch, weight, then the variables."""
        table = Lake(str(self.project / "lake_data")).rows(f"answers/{query}")
        rows = table.drop_columns(["event_time"]).to_pylist()
        return {tuple(row.values()) for row in rows}


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory, airflow_environment: Environment) -> Airflow:
    folder = tmp_path_factory.mktemp("airflow")
    project = folder / "project"
    shutil.copytree(HERE / "project", project)
    return Airflow(folder, project, airflow_environment(folder / "home", project))


def test_the_dags_publish_the_delta_answers_of_every_query(airflow: Airflow) -> None:
    for dag in ("ingest_changes", "maintain_queries"):
        done = airflow.run("dags", "test", dag)
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
    ann = "<http://example.org/ann>"
    assert airflow.answer("acquaintances") == {
        (2, 1, ann, '"Bob"'),
        (3, -1, ann, '"Bob"'),
        (3, 1, ann, '"Robert"'),
    }


def test_changes_are_announced_once(airflow: Airflow) -> None:
    assert airflow.run("dags", "test", "ingest_changes").returncode == 0
    assert airflow.newest_states("ingest_changes") == {
        "ingest_changes": "success",
        "announce_changes": "skipped",
        "any_failure": "skipped",
    }


def test_a_source_and_a_query_that_fail_spare_the_others(airflow: Airflow) -> None:
    (airflow.project / "queries" / "broken.rq").write_text("SELECT nonsense")
    sources = airflow.project / "sources.yml"
    was = sources.read_text()
    sources.write_text(f"{was}\n  - {{name: absent, kind: patches, location: nowhere}}\n")
    (airflow.project / "patches" / "4.rdfp").write_text(FOURTH)
    done = airflow.run("dags", "test", "ingest_changes")
    assert done.returncode != 0
    assert airflow.newest_states("ingest_changes") == {
        "ingest_changes": "failed",
        "announce_changes": "success",
        "any_failure": "failed",
    }
    done = airflow.run("dags", "test", "maintain_queries")
    assert done.returncode != 0
    assert airflow.newest_states("maintain_queries") == {
        "maintain_queries": "failed",
        "validate_answers": "success",
        "publish_answers": "success",
        "any_failure": "failed",
    }
    assert {row[0] for row in airflow.answer("acquaintances")} == {2, 3, 4}
    sources.write_text(was)


def test_a_stage_that_fails_makes_its_dag_run_fail(airflow: Airflow) -> None:
    (airflow.project / "sources.yml").write_text("sources: nonsense\n")
    done = airflow.run("dags", "test", "ingest_changes")
    assert done.returncode != 0
    assert "sources.yml:1" in done.stdout + done.stderr
