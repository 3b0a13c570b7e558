"""Airflow runs in processes of its own, so its warnings do not become errors of the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.dags.installation import HERE, describe, migrated_database


@pytest.fixture(scope="session")
def airflow_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new database of Airflow, to be copied."""
    return migrated_database(tmp_path_factory.mktemp("airflow"))


@pytest.fixture(scope="session")
def described(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The DAGs that Airflow finds in `dags/` for the project beside this file."""
    return describe(tmp_path_factory.mktemp("airflow"), HERE / "project")
