"""Airflow in processes of its own: its warnings are not ours to turn into errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
CODE = HERE.parent.parent
LOCAL_SPARK = {"conn_type": "spark", "host": "local[2]", "extra": {"deploy-mode": "client"}}


def _environment(home: Path, project: Path) -> dict[str, str]:
    """The environment of an Airflow that keeps everything below `home`, whatever is set here."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AIRFLOW", "WEIR_", "PYSPARK", "SPARK_HOME"))
    }
    return inherited | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(CODE / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "WARNING",
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps(LOCAL_SPARK),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "WEIR_PROJECT": str(project),
        "WEIR_RETRIES": "0",
    }


@pytest.fixture(scope="session")
def airflow_environment() -> Callable[[Path, Path], dict[str, str]]:
    """(folder of Airflow, folder of the project) -> environment of Airflow's processes."""
    return _environment


@pytest.fixture(scope="session")
def described(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Airflow finds in `dags/` for the project beside this file."""
    done = subprocess.run(
        [sys.executable, HERE / "describe.py", CODE / "dags"],
        env=_environment(tmp_path_factory.mktemp("airflow"), HERE / "project")
        | {"WEIR_RETRIES": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
