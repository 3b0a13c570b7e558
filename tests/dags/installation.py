"""An Airflow installation of its own, with a project of its own, as a test uses it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.lake.lake import Lake

HERE = Path(__file__).parent
CODE = HERE.parent.parent
PATIENCE = 1800
"""Seconds after which DAGs that have not ended are killed, with all that they started."""
LOCAL_SPARK = {"conn_type": "spark", "host": "local[2]", "extra": {"deploy-mode": "client"}}


def environment(home: Path, project: Path) -> dict[str, str]:
    """The environment of an Airflow that stores everything below `home`; the settings of the
    process that runs the tests do not reach it.
    """
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


def migrated_database(folder: Path) -> Path:
    """Create Airflow's database below `folder`."""
    done = subprocess.run(
        [Path(sys.executable).with_name("airflow"), "db", "migrate"],
        env=environment(folder, HERE / "project"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "airflow.db"


def describe(
    home: Path, project: Path, folder: Path = CODE / "dags", **variables: str
) -> dict[str, Any]:
    """The DAGs that an Airflow at `home` finds in a folder for a project."""
    done = subprocess.run(
        [sys.executable, HERE / "describe.py", folder],
        env=environment(home, project) | {"WEIR_RETRIES": "2"} | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    described: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return described


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of several DAGs: an exit code each, and their output."""

    codes: list[int]
    output: str


class Airflow:
    """An Airflow whose database is a copy of `database`, and a copy of the project `source`."""

    def __init__(self, folder: Path, database: Path, source: Path) -> None:
        self.project, self._home = folder / "project", folder / "home"
        self._home.mkdir(parents=True)
        shutil.copytree(source, self.project)
        shutil.copyfile(database, self._home / database.name)

    def run_dags(self, *dags: str, variables: Mapping[str, str] | None = None) -> Runs:
        """Run DAGs one after the other, whether those before failed or not.

        Args:
            dags: their ids.
            variables: further variables of the environment.
        """
        process = subprocess.Popen(
            [sys.executable, HERE / "run_dags.py", *dags],
            cwd=self._home,
            env={**environment(self._home, self.project), **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=PATIENCE)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        assert process.returncode == 0, output[-8000:]
        return Runs(json.loads(output.splitlines()[-1]), output)

    @property
    def database(self) -> Path:
        """Its database."""
        return self._home / "airflow.db"

    def add_connection(self, name: str, login: str, password: str) -> None:
        """Store a connection in the database, encrypted."""
        file = self._home / "connections.json"
        given = {name: {"conn_type": "http", "login": login, "password": password}}
        file.write_text(json.dumps(given))
        done = subprocess.run(
            [Path(sys.executable).with_name("airflow"), "connections", "import", file],
            cwd=self._home,
            env=environment(self._home, self.project),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        file.unlink()
        assert done.returncode == 0, done.stdout + done.stderr

    def newest_states(self, dag: str) -> dict[str, str]:
        """The states of the tasks of the newest run of a DAG."""
        with closing(sqlite3.connect(self._home / "airflow.db")) as database:
            rows = database.execute(
                "SELECT task_id, state FROM task_instance WHERE dag_id = ? AND run_id ="
                " (SELECT run_id FROM dag_run WHERE dag_id = ? ORDER BY id DESC LIMIT 1)",
                [dag, dag],
            )
            return dict(rows.fetchall())

    def answer(self, query: str, lake: Lake | None = None) -> set[tuple[object, ...]]:
        """The published rows of a query: epoch, weight, then the variables."""
        lake = lake or Lake(str(self.project / "lake_data"))
        table = lake.rows(f"answers/{query}")
        rows = table.drop_columns(["event_time"]).to_pylist()
        return {tuple(row.values()) for row in rows}
