"""The DAGs of an Airflow into which only the package is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dags.installation import HERE, describe, environment

CONFIGURED = [{"name": "weir", "classpath": "weir.airflow.dag_bundle.ProjectsBundle", "kwargs": {}}]
PRINT_FOLDER = """
from airflow.dag_processing.bundles.manager import DagBundlesManager
print("folder", DagBundlesManager().get_bundle("weir").path)
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the bundle that the configuration of an Airflow names."""
    home = tmp_path_factory.mktemp("home")
    option = {"AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST": json.dumps(CONFIGURED)}
    done = subprocess.run(
        [sys.executable, "-c", PRINT_FOLDER],
        env=environment(home, HERE / "project") | option,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("folder "))
    return Path(line.removeprefix("folder "))


def test_a_bundle_has_the_dags_of_all_projects(bundle: Path, tmp_path: Path) -> None:
    for name in ("museum", "library"):
        shutil.copytree(HERE / "project", tmp_path / name)
    both = f"{tmp_path / 'museum'}{os.pathsep}{tmp_path / 'library'}"
    described = describe(tmp_path / "home", tmp_path / "museum", bundle, WEIR_PROJECT=both)
    assert described["import_errors"] == {}
    assert {dag.partition(".")[0] for dag in described["dags"]} == {"museum", "library"}


def test_a_bundle_without_a_project_says_which_variable_names_one(
    bundle: Path, tmp_path: Path
) -> None:
    described = describe(tmp_path / "home", HERE / "project", bundle, WEIR_PROJECT="")
    (error,) = described["import_errors"].values()
    assert "Set the variable WEIR_PROJECT to the folder of weir.toml." in error


def test_airflow_lists_the_package_as_a_provider(tmp_path: Path) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("airflow"), "providers", "list", "--output", "json"],
        env=environment(tmp_path, HERE / "project"),
        capture_output=True,
        text=True,
        check=False,
    )
    listed = json.loads(done.stdout[done.stdout.index("[") :])
    assert "weir" in {provider["package_name"] for provider in listed}
