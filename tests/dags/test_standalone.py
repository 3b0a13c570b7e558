"""The three DAGs on a Spark cluster, of a project whose lake and sources are in an object store.

Airflow, spark-submit, a master, two workers and their executors, which see nothing of the project.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.object_store import Store
from tests.dags.cluster import Cluster, running_cluster
from tests.dags.installation import HERE, Airflow, Runs
from tests.dags.spark import variables_of
from weir.lake.lake import Lake

pytestmark = pytest.mark.usefixtures("own_jvm")

# UCASE runs in the Python of the executors.
ACQUAINTANCES = """#+ history: full
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
SELECT ?person (UCASE(?name) AS ?loud) WHERE { ?person foaf:knows ?other . ?other foaf:name ?name }
"""
DAGS = ("ingest_changes", "maintain_queries", "compact_lake", "ingest_changes")
ANN = "<http://example.org/ann>"


@pytest.fixture(scope="module")
def lake(object_store: Store) -> Lake:
    """The lake; it is empty, and its change sets are beside it."""
    lake = Lake(object_store.empty(), object_store.options)
    changes = object_store.objects(lake.root.removesuffix("/lake"))
    for file in (HERE / "project" / "patches").iterdir():
        changes.write(f"patches/{file.name}", file)
    return lake


@pytest.fixture(scope="module")
def airflow(
    tmp_path_factory: pytest.TempPathFactory, airflow_database: Path, lake: Lake
) -> Airflow:
    airflow = Airflow(tmp_path_factory.mktemp("standalone"), airflow_database, HERE / "project")
    location = f"{lake.root.removesuffix('/lake')}/patches"
    source = {"name": "people", "kind": "patches", "location": location}
    (airflow.project / "sources.yml").write_text(json.dumps({"sources": [source]}))
    queries = airflow.project / "queries"
    (queries / "names.rq").unlink()
    (queries / "acquaintances.rq").write_text(ACQUAINTANCES)
    return airflow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, airflow: Airflow) -> Iterator[Cluster]:
    hidden = airflow.project.parent
    with running_cluster(tmp_path_factory.mktemp("cluster"), hidden) as running:
        yield running


@pytest.fixture(scope="module")
def runs(airflow: Airflow, cluster: Cluster, lake: Lake, object_store: Store) -> Runs:
    """The credentials are in a connection."""
    connection = {"conn_type": "aws", "extra": object_store.options}
    variables = {
        **cluster.variables,
        **variables_of(cluster.events),
        "WEIR_LAKE": lake.root,
        "WEIR_STORAGE_CONNECTION": "store",
        "AIRFLOW_CONN_STORE": json.dumps(connection),
    }
    return airflow.run_dags(*DAGS, variables=variables)


def test_the_python_of_the_executors_has_the_packages_but_not_the_checkout(
    cluster: Cluster, tmp_path: Path
) -> None:
    def imports(module: str) -> bool:
        command = [str(cluster.python), "-c", f"import {module}"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0

    assert imports("pyarrow")
    assert not imports("weir")


def test_the_dags_publish_the_delta_answers(airflow: Airflow, runs: Runs, lake: Lake) -> None:
    assert runs.codes == [0] * len(DAGS), runs.output[-8000:]
    assert airflow.answer("acquaintances", lake) == {
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
