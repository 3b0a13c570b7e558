"""Airflow runs in processes of its own, so its warnings do not become errors of the tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.dags.installation import CODE, HERE, environment, migrated_database


@pytest.fixture(scope="session")
def airflow_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new database of Airflow, to be copied."""
    return migrated_database(tmp_path_factory.mktemp("airflow"))


@pytest.fixture(scope="session")
def described(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The DAGs that Airflow finds in `dags/` for the project beside this file."""
    done = subprocess.run(
        [sys.executable, HERE / "describe.py", CODE / "dags"],
        env=environment(tmp_path_factory.mktemp("airflow"), HERE / "project")
        | {"WEIR_RETRIES": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
