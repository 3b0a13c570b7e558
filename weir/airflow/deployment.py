"""A project as an Airflow runs it: its settings, and what the environment of Airflow says.

* `WEIR_INGEST_SCHEDULE`, `WEIR_COMPACT_SCHEDULE`, `WEIR_AUDIT_SCHEDULE`, `WEIR_REFRESH_SCHEDULE`:
  cron expressions.
* `WEIR_REFRESH_POOL`: one pool for all refreshes, in place of one per remote.
* `WEIR_STORAGE_CONNECTION`: the connection with the credentials of the lake's object store.
* `WEIR_RETRIES`: retries of a failed task (default: 2).
* `WEIR_PY_FILES`: the archive of `make zip`, for executors that cannot import our packages.
* `PYSPARK_PYTHON`: Python of the executors (default: the one that runs Airflow).

The Airflow connection `spark_default` alone decides where Spark runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Self

import pendulum

from weir.airflow.assets import LakeAssets
from weir.airflow.page_addresses import address_of, path_of
from weir.settings import CONFIG_FILE, Settings

VARIABLES: Final = (
    *(f"WEIR_{stage}_SCHEDULE" for stage in ("INGEST", "COMPACT", "AUDIT", "REFRESH")),
    *("WEIR_REFRESH_POOL", "WEIR_STORAGE_CONNECTION", "WEIR_RETRIES", "WEIR_PY_FILES"),
    "PYSPARK_PYTHON",
)
"""What is read of the environment; others can be secrets, and are not kept."""
START: Final = pendulum.datetime(2026, 1, 1, tz="UTC")


@dataclass(frozen=True, slots=True)
class Deployment:
    """What the DAGs of a project are built from.

    Attributes:
        config: `weir.toml`.
        settings: what it says.
        assets: those of the lake.
        environment: those of `VARIABLES` that the Airflow process has.
        name: of the project, if this Airflow runs several; else empty.
    """

    config: Path
    # They can have the credentials of the store.
    settings: Settings = field(repr=False)
    assets: LakeAssets
    environment: Mapping[str, str]
    name: str = ""

    @classmethod
    def of(cls, project: Path, name: str = "") -> Self:
        """The deployment of a project in this process.

        Raises:
            ConfigurationError: `weir.toml` is wrong.
        """
        config = project.resolve() / CONFIG_FILE
        settings = Settings.load(config)
        environment = {name: os.environ[name] for name in VARIABLES if name in os.environ}
        return cls(config, settings, LakeAssets.of(settings, name), environment, name)

    def dag_id(self, dag: str) -> str:
        """The id of a DAG, of several projects with the name of this one."""
        return f"{self.name}.{dag}" if self.name else dag

    @property
    def folder(self) -> Path:
        """The project's folder, in which programs of tasks run."""
        return self.config.parent

    @property
    def page(self) -> list[str]:
        """The option of programs that end their log with the address of the site."""
        if self.settings.site is None:
            return []
        return ["--page", address_of(path_of(self.name))]

    def schedule(self, stage: str, default: str) -> str:
        """The cron expression of a stage: `WEIR_<STAGE>_SCHEDULE`, or the default."""
        return self.environment.get(f"WEIR_{stage.upper()}_SCHEDULE", default)

    def refresh_pool(self, default: str) -> str:
        """The pool of a refresh.

        Airflow leaves a task in the queue whose pool does not exist.
        """
        return self.environment.get("WEIR_REFRESH_POOL", default)

    @property
    def storage_connection(self) -> str | None:
        """The connection with the credentials of the lake's store."""
        return self.environment.get("WEIR_STORAGE_CONNECTION")

    @property
    def py_files(self) -> str | None:
        """The archive of our packages for the executors."""
        return self.environment.get("WEIR_PY_FILES")

    @property
    def python_of_executors(self) -> str:
        """Where Python is on the executors' machines."""
        return self.environment.get("PYSPARK_PYTHON", sys.executable)

    @property
    def retrying(self) -> dict[str, Any]:
        """Arguments of the tasks of all stages."""
        return {
            # A retry continues where the failed attempt stopped: at the stage's own watermark.
            "retries": int(self.environment.get("WEIR_RETRIES", "2")),
            "retry_delay": timedelta(minutes=1),
            "retry_exponential_backoff": True,
            # A task that hangs renews its claim, too.
            "execution_timeout": timedelta(seconds=self.settings.limits.task_seconds),
        }
