"""A task gets the credentials of the store from a connection, in its environment alone."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.dags.installation import CODE, HERE, environment

CANARY = "canary-5e21-not-a-real-key"
OF_ANOTHER = "canary-6f32-not-a-real-password"
STORE = {
    "conn_type": "aws",
    "login": "id",
    "password": CANARY,
    "extra": {"endpoint_url": "http://store:9000", "AWS_ALLOW_HTTP": True, "role": "other"},
}


@dataclass
class Submission:
    """What took the place of spark-submit was given, and what the task printed."""

    arguments: str
    options: dict[str, str]
    printed: str


@pytest.fixture(scope="module")
def submission(tmp_path_factory: pytest.TempPathFactory) -> Submission:
    folder = tmp_path_factory.mktemp("store")
    program = folder / "spark-submit"
    program.write_text(
        f'#!/bin/sh\necho "$@" > {folder}/arguments\n'
        f'printf %s "$WEIR_STORAGE_OPTIONS" > {folder}/options\n'
    )
    program.chmod(0o755)
    variables = environment(folder / "home", HERE / "project")
    variables |= {
        "PATH": f"{folder}:{variables['PATH']}",
        "PYTHONPATH": str(CODE),
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "DEBUG",
        "AIRFLOW_CONN_STORE": json.dumps(STORE),
        "WEIR_STORAGE_CONNECTION": "store",
    }
    done = subprocess.run(
        [sys.executable, HERE / "end_of_stage.py", "0"],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    arguments, options = (folder / "arguments").read_text(), (folder / "options").read_text()
    return Submission(arguments, json.loads(options), done.stdout + done.stderr)


def test_a_stage_has_the_options_of_the_connection(submission: Submission) -> None:
    assert submission.options == {
        "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": CANARY,
        "AWS_ENDPOINT_URL": "http://store:9000",
        "AWS_ALLOW_HTTP": "true",
    }


def test_no_argument_of_spark_submit_is_a_secret(submission: Submission) -> None:
    assert CANARY not in submission.arguments


def test_the_log_of_the_task_has_no_secret(submission: Submission) -> None:
    assert CANARY not in submission.printed


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The variables of the commands that read the lake, by the name of their task."""
    folder = tmp_path_factory.mktemp("commands")
    variables = environment(folder / "home", HERE / "project")
    variables |= {
        "PYTHONPATH": str(CODE),
        "AIRFLOW_CONN_STORE": json.dumps(STORE),
        "AIRFLOW_CONN_OTHER": json.dumps({"conn_type": "http", "password": OF_ANOTHER}),
        "WEIR_STORAGE_CONNECTION": "store",
    }
    done = subprocess.run(
        [sys.executable, HERE / "environment_of_commands.py"],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    by_task: dict[str, dict[str, str]] = json.loads(
        (folder / "home" / "environments.json").read_text()
    )
    return by_task


@pytest.mark.parametrize("task", ["announce_changes", "check_freshness"])
def test_a_command_that_reads_the_lake_has_the_options_of_the_store(
    environments: dict[str, dict[str, str]], task: str
) -> None:
    options = json.loads(environments[task]["WEIR_STORAGE_OPTIONS"])
    assert options["AWS_SECRET_ACCESS_KEY"] == CANARY


@pytest.mark.parametrize("task", ["announce_changes", "check_freshness"])
def test_a_command_that_reads_the_lake_has_nothing_that_belongs_to_airflow(
    environments: dict[str, dict[str, str]], task: str
) -> None:
    variables = environments[task]
    assert not [name for name in variables if name.startswith("AIRFLOW")]
    assert OF_ANOTHER not in json.dumps(variables)


def test_the_name_of_the_run_is_a_variable_of_its_own(
    environments: dict[str, dict[str, str]],
) -> None:
    assert environments["check_freshness"]["RUN_ID"] == "{{ run_id }}"


def test_the_settings_of_a_project_are_no_way_to_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "weir.toml").write_text(
        f'[spark.conf]\n"spark.hadoop.fs.s3a.secret.key"="{CANARY}"'
    )
    done = subprocess.run(
        [sys.executable, CODE / "dags" / "weir_dags.py"],
        env=environment(tmp_path / "home", tmp_path) | {"PYTHONPATH": str(CODE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ConfigurationError" in done.stderr
    assert CANARY not in done.stdout + done.stderr
