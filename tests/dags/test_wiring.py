"""The schedules and edges of the DAGs, and the exact commands of their tasks.

`WEIR_UPDATE_EXPECTED=1 pytest tests/dags` rewrites the `.expected` files; review the difference
before committing it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from weir.settings import Limits

HERE = Path(__file__).parent
CODE = HERE.parent.parent
STAGES = (
    "ingest_changes.ingest_changes",
    "maintain_queries.maintain_queries",
    "maintain_queries.validate_answers",
    "maintain_queries.publish_answers",
    "compact_lake.compact_lake",
    "audit_lake.audit_lake",
)
COMMANDS = (*STAGES, "ingest_changes.announce_changes")


def test_every_dag_file_loads(described: dict[str, Any]) -> None:
    assert described["import_errors"] == {}


def test_a_project_without_remotes_has_four_dags(described: dict[str, Any]) -> None:
    assert set(described["dags"]) == {
        *("ingest_changes", "maintain_queries", "compact_lake", "audit_lake")
    }


def test_loading_the_dags_imports_neither_spark_nor_the_checks(described: dict[str, Any]) -> None:
    assert described["heavy_modules"] == []


@pytest.mark.parametrize(
    ("dag", "schedule"),
    [
        ("ingest_changes", "*/15 * * * *"),
        ("maintain_queries", ["quads"]),
        ("compact_lake", "0 3 * * *"),
        ("audit_lake", "0 4 * * 0"),
    ],
)
def test_maintain_runs_when_quads_change_and_other_dags_by_the_clock(
    described: dict[str, Any], dag: str, schedule: object
) -> None:
    assert described["dags"][dag]["schedule"] == schedule


def test_no_dag_runs_twice_at_once_or_for_the_past(described: dict[str, Any]) -> None:
    assert {(dag["max_active_runs"], dag["catchup"]) for dag in described["dags"].values()} == {
        (1, False)
    }


def test_answers_are_validated_before_they_are_published(described: dict[str, Any]) -> None:
    tasks = described["dags"]["maintain_queries"]["tasks"]
    assert {name: task["downstream"] for name, task in tasks.items()} == {
        "maintain_queries": ["all_succeeded", "validate_answers"],
        "validate_answers": ["all_succeeded", "publish_answers"],
        "publish_answers": ["all_succeeded", "announce_answers"],
        "announce_answers": ["all_succeeded"],
        "all_succeeded": [],
    }


def test_a_stage_runs_whether_the_one_before_it_failed_or_not(described: dict[str, Any]) -> None:
    tasks = described["dags"]["maintain_queries"]["tasks"]
    assert {name: task["trigger_rule"] for name, task in tasks.items()} == {
        "maintain_queries": "all_success",
        "validate_answers": "all_done",
        "publish_answers": "all_done",
        "announce_answers": "all_done",
        "all_succeeded": "none_failed",
    }


def test_changes_are_announced_even_if_a_source_stopped(described: dict[str, Any]) -> None:
    tasks = described["dags"]["ingest_changes"]["tasks"]
    assert tasks["ingest_changes"]["assets"] == {}
    announce = tasks["announce_changes"]
    assert (announce["trigger_rule"], [*announce["assets"]]) == ("all_done", ["quads"])
    assert {name: task["downstream"] for name, task in tasks.items()} == {
        "ingest_changes": ["all_succeeded", "announce_changes"],
        "announce_changes": ["all_succeeded"],
        "all_succeeded": [],
    }


@pytest.mark.parametrize("task", STAGES)
def test_a_stage_that_hangs_is_ended(described: dict[str, Any], task: str) -> None:
    dag_id, task_id = task.split(".")
    hours = described["dags"][dag_id]["tasks"][task_id]["hours"]
    assert hours == Limits().task_seconds / 3600


def test_a_failed_check_is_not_retried(described: dict[str, Any]) -> None:
    tasks = described["dags"]["maintain_queries"]["tasks"]
    assert tasks["validate_answers"]["retries"] == 0 < tasks["publish_answers"]["retries"]


def test_answers_have_a_producer_and_what_their_files_say_of_them(
    described: dict[str, Any],
) -> None:
    tasks = described["dags"]["maintain_queries"]["tasks"]
    producers = {name: task["assets"] for name, task in tasks.items() if task["assets"]}
    assert [*producers] == ["announce_answers"]
    assets = producers["announce_answers"]
    about = {
        name: {key: value for key, value in asset.items() if key != "location"}
        for name, asset in assets.items()
    }
    assert about == {
        "answers/acquaintances": {
            "group": "answers",
            "description": "Who knows somebody by name.",
            "owner": "ann@example.org",
            "tags": ["people", "names"],
        },
        "answers/names": {"group": "answers", "description": "Who has which name."},
    }
    assert tasks["announce_answers"]["aliases"] == ["published answers"]


def test_the_form_of_every_dag_can_be_sent_as_it_opens(described: dict[str, Any]) -> None:
    params = {name: dag["params"] for name, dag in described["dags"].items() if dag["params"]}
    accept = {"accept": {"is_sent": True, "is_emptied": True}}
    assert params == {"ingest_changes": accept, "maintain_queries": accept}


def test_every_dag_has_a_description(described: dict[str, Any]) -> None:
    assert all(dag["doc"] for dag in described["dags"].values())


@pytest.mark.parametrize("task", COMMANDS)
def test_the_command_of_a_task_is_that_of_its_expected_file(
    described: dict[str, Any], task: str
) -> None:
    dag_id, task_id = task.split(".")
    command = described["dags"][dag_id]["tasks"][task_id]["command"]
    shown = _with_placeholders(command) + "\n"
    expected = HERE / "expected" / f"{task}.expected"
    if os.environ.get("WEIR_UPDATE_EXPECTED") == "1":
        expected.write_text(shown)
    assert shown == expected.read_text()


def _with_placeholders(command: str) -> str:
    for path, name in (
        (sys.executable, "<python>"),
        (str(HERE / "project"), "<project>"),
        (str(CODE), "<code>"),
    ):
        command = command.replace(path, name)
    return command
