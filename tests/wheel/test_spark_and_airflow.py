"""With its extras, the wheel has the DAGs, and a stage of theirs runs on Spark."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from setup.jars import JAR_SETS
from tests.dags.installation import HERE, LOCAL_SPARK, migrated_database
from tests.dags.spark import LIMITS, SMALL_DATA
from tests.wheel.environments import clean_variables, new_environment, run
from weir.lake.lake import Lake

DAGS = """\
from weir.airflow import dags

globals().update(dags({project!r}))
"""

pytestmark = pytest.mark.usefixtures("own_jvm")


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who has installed the wheel and written a file in Airflow's folder of DAGs.

    Attributes:
        programs: the folder of the environment's programs.
        project: the project's folder.
        dags: Airflow's folder.
        variables: of the environment.
        installed: what `weir setup-spark` printed.
    """

    programs: Path
    project: Path
    dags: Path
    variables: dict[str, str]
    installed: list[dict[str, str]]

    def python(self, *arguments: str | Path) -> str:
        """What a program in Python prints, in the project's folder, which has traps."""
        return run([self.programs / "python", *arguments], self.project, self.variables)


@pytest.fixture(scope="module")
def user(wheel: Path, traps: Path, tmp_path_factory: pytest.TempPathFactory) -> User:
    folder = tmp_path_factory.mktemp("user")
    programs = new_environment(folder / "environment", wheel, "airflow", "java")
    project, dags, data = folder / "project", folder / "dags", folder / "data"
    shutil.copytree(HERE / "project", project)
    shutil.copytree(traps, project, dirs_exist_ok=True)
    # What was downloaded for this checkout is not downloaded again.
    (ivy,) = {artifact.folder for artifact in JAR_SETS}
    shutil.copytree(ivy, data / "weir" / "ivy")
    dags.mkdir()
    (dags / "museum.py").write_text(DAGS.format(project=str(project)))
    database = migrated_database(folder / "airflow")
    variables = clean_variables(programs, folder) | {
        "XDG_DATA_HOME": str(data),
        "AIRFLOW_HOME": str(database.parent),
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps(LOCAL_SPARK),
        "WEIR_SPARK__CONF": json.dumps(SMALL_DATA),
        "WEIR_RETRIES": "0",
    }
    variables |= {f"WEIR_LIMITS__{name.upper()}": str(value) for name, value in LIMITS.items()}
    printed = run([programs / "weir", "setup-spark", "--output", "json"], project, variables)
    return User(programs, project, dags, variables, json.loads(printed))


@pytest.fixture(scope="module")
def described(user: User) -> dict[str, Any]:
    """The DAGs that Airflow finds."""
    printed = user.python("-P", HERE / "describe.py", user.dags)
    shown: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return shown


def test_spark_is_set_up_in_a_folder_of_the_user(user: User) -> None:
    java, *jars = user.installed
    assert java["part"] == "Java"
    assert java["place"] == str(user.project.parent / "data" / "weir" / "java" / "bin" / "java")
    assert [(jar["part"], jar["source"]) for jar in jars] == [
        (jar.name, "is there") for artifact in JAR_SETS for jar in artifact.jars()
    ]


def test_the_doctor_finds_what_was_set_up(user: User) -> None:
    command = (user.programs / "weir", "doctor", "--output", "json")
    printed = run(command, user.project, user.variables)
    findings = {finding["check"]: finding["ok"] for finding in json.loads(printed)}
    assert findings["Java"]
    assert findings["Delta jars"]
    # The lake is in a folder.
    assert "S3 jars" not in findings


def test_a_file_that_calls_dags_has_those_of_the_project(described: dict[str, Any]) -> None:
    assert described["import_errors"] == {}
    assert described["heavy_modules"] == []
    assert set(described["dags"]) == {
        *("ingest_changes", "maintain_queries", "compact_lake", "audit_lake")
    }


def test_a_task_submits_the_program_of_the_wheel_with_the_jars_of_the_user(
    user: User, described: dict[str, Any]
) -> None:
    command = described["dags"]["ingest_changes"]["tasks"]["ingest_changes"]["command"].splitlines()
    (site_packages,) = user.programs.parent.glob("lib/python*/site-packages")
    assert str(site_packages / "weir" / "jobs" / "ingest_changes.py") in command
    (jars,) = (word for word in command if word.startswith("spark.jars="))
    ivy = user.project.parent / "data" / "weir" / "ivy"
    places = [str(jar.resolved_in(ivy)) for artifact in JAR_SETS for jar in artifact.jars()]
    assert jars == f"spark.jars={','.join(places)}"


def test_the_dags_run_on_spark(user: User) -> None:
    output = user.python("-P", HERE / "run_dags.py", "ingest_changes")
    assert json.loads(output.splitlines()[-1]) == [0], output[-8000:]
    rows = Lake(str(user.project / "lake_data")).rows("transactions", ["epoch"])
    assert set(rows["epoch"].to_pylist()) == {1, 2, 3}
