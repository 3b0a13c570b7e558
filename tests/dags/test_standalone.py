"""The three DAGs on a Spark cluster: Airflow, spark-submit, a master, a worker, its executors."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dags.cluster import Cluster, running_cluster
from tests.dags.installation import HERE, Airflow, Runs
from tests.dags.spark import variables_of

pytestmark = pytest.mark.usefixtures("own_jvm")

# UCASE runs in the Python of the executors.
ACQUAINTANCES = """#+ history: full
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
SELECT ?person (UCASE(?name) AS ?loud) WHERE { ?person foaf:knows ?other . ?other foaf:name ?name }
"""
DAGS = ("ingest_changes", "maintain_queries", "compact_lake", "ingest_changes")
ANN = "<http://example.org/ann>"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory, airflow_database: Path) -> Airflow:
    found = Airflow(tmp_path_factory.mktemp("standalone"), airflow_database, HERE / "project")
    queries = found.project / "queries"
    (queries / "names.rq").unlink()
    (queries / "acquaintances.rq").write_text(ACQUAINTANCES)
    return found


@pytest.fixture(scope="module")
def runs(airflow: Airflow, cluster: Cluster) -> Runs:
    variables = {**cluster.variables, **variables_of(cluster.events)}
    return airflow.run_dags(*DAGS, variables=variables)


def test_the_python_of_the_executors_has_the_packages_but_not_the_checkout(
    cluster: Cluster, tmp_path: Path
) -> None:
    def imports(module: str) -> bool:
        command = [str(cluster.python), "-c", f"import {module}"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0

    assert imports("pyarrow")
    assert not imports("weir")


def test_the_dags_publish_the_delta_answers(airflow: Airflow, runs: Runs) -> None:
    assert runs.codes == [0] * len(DAGS), runs.output[-8000:]
    assert airflow.answer("acquaintances") == {
        (2, 1, ANN, '"BOB"'),
        (3, -1, ANN, '"BOB"'),
        (3, 1, ANN, '"ROBERT"'),
    }


def test_changes_are_announced_once(airflow: Airflow, runs: Runs) -> None:
    assert runs.codes[-1] == 0
    assert airflow.newest_states("ingest_changes") == {
        "ingest_changes": "success",
        "announce_changes": "skipped",
        "all_succeeded": "success",
    }


def test_every_stage_is_an_application_of_the_cluster(runs: Runs, cluster: Cluster) -> None:
    assert runs.codes == [0] * len(DAGS)
    assert cluster.finished_applications() == [
        "weir ingest",
        "weir maintain",
        "weir validate",
        "weir publish",
        "weir compact",
        "weir ingest",
    ]


def test_the_executors_compute_the_answers(runs: Runs, cluster: Cluster) -> None:
    assert runs.codes == [0] * len(DAGS)
    tasks = cluster.tasks_by_executors()
    assert {name for name, count in tasks.items() if count} == {
        f"weir {stage}" for stage in ("ingest", "maintain", "validate", "publish")
    }
