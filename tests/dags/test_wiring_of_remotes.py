"""What the DAGs of a project with remotes are, beside those of any project."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.dags.installation import HERE, describe
from weir.errors import EXIT_USAGE

REMOTES = """remotes:
  - name: wd
    iri: http://remote.example/sparql
    connection: wd_login
    contact: tests@example.org
  - name: geo
    iri: http://geo.example/sparql
    every: PT1H
    contact: tests@example.org
"""
TRAVERSALS = """traversals:
  - name: pods
    seeds: ["https://pods.example/"]
    connection: pods_login
    contact: tests@example.org
"""
REFRESHES = ("refresh_wd", "refresh_geo", "refresh_pods")


def project(folder: Path, remotes: str, traversals: str = TRAVERSALS) -> Path:
    """The project beside this file, with remotes and traversals."""
    shutil.copytree(HERE / "project", folder)
    (folder / "remotes.yml").write_text(remotes)
    (folder / "traversals.yml").write_text(traversals)
    return folder


@pytest.fixture(scope="module")
def with_remotes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("remotes")
    return describe(folder / "home", project(folder / "project", REMOTES))


@pytest.fixture(scope="module")
def tasks(with_remotes: dict[str, Any]) -> dict[str, Any]:
    by_name: dict[str, Any] = with_remotes["dags"]["refresh_remotes"]["tasks"]
    return by_name


def test_remotes_add_one_dag_that_refreshes_them(with_remotes: dict[str, Any]) -> None:
    assert with_remotes["import_errors"] == {}
    assert set(with_remotes["dags"]) == {
        *("ingest_changes", "maintain_queries", "compact_lake", "audit_lake", "refresh_remotes")
    }


def test_loading_the_dags_imports_no_engine(with_remotes: dict[str, Any]) -> None:
    assert with_remotes["heavy_modules"] == []


def test_remotes_are_refreshed_as_often_as_the_shortest_time_between_evaluations(
    with_remotes: dict[str, Any],
) -> None:
    assert with_remotes["dags"]["refresh_remotes"]["schedule"] == "*/10 * * * *"


def test_ingest_runs_by_the_clock_and_when_a_refresh_found_changes(
    with_remotes: dict[str, Any],
) -> None:
    assert with_remotes["dags"]["ingest_changes"]["schedule"] == [
        *("*/15 * * * *", "replicas/wd", "replicas/geo", "documents/pods")
    ]


def test_no_dag_runs_twice_at_once_or_for_the_past(with_remotes: dict[str, Any]) -> None:
    dag = with_remotes["dags"]["refresh_remotes"]
    assert (dag["max_active_runs"], dag["catchup"]) == (1, False)


def test_each_remote_has_a_task_in_its_own_pool(tasks: dict[str, Any]) -> None:
    pools = {name: tasks[name]["pool"] for name in REFRESHES}
    assert pools == {name: f"weir_{name.removeprefix('refresh_')}" for name in REFRESHES}


def test_freshness_is_checked_whether_a_refresh_failed_or_not(tasks: dict[str, Any]) -> None:
    assert {name: task["downstream"] for name, task in tasks.items()} == {
        **{name: ["all_succeeded", "check_freshness"] for name in REFRESHES},
        "check_freshness": ["all_succeeded"],
        "all_succeeded": [],
    }
    rules = {name: task["trigger_rule"] for name, task in tasks.items()}
    assert (rules["check_freshness"], rules["all_succeeded"]) == ("all_done", "none_failed")


def test_a_refresh_is_retried_and_a_failed_check_is_not(tasks: dict[str, Any]) -> None:
    assert {name: task["retries"] for name, task in tasks.items()} == {
        **dict.fromkeys(REFRESHES, 2),
        "check_freshness": 0,
        "all_succeeded": 0,
    }


def test_a_success_alone_is_no_event_of_the_replica(tasks: dict[str, Any]) -> None:
    """The task calls `emit_on_request`, after which its aliases alone are left."""
    outlets = {name: (task["aliases"], [*task["assets"]]) for name, task in tasks.items()}
    assert {name: outlet for name, outlet in outlets.items() if any(outlet)} == {
        "refresh_wd": (["changes of replicas/wd"], ["replicas/wd"]),
        "refresh_geo": (["changes of replicas/geo"], ["replicas/geo"]),
        "refresh_pods": (["changes of documents/pods"], ["documents/pods"]),
    }


@pytest.mark.usefixtures("slow")
def test_one_pool_can_take_the_place_of_all(tmp_path: Path) -> None:
    described = describe(
        tmp_path / "home",
        project(tmp_path / "project", REMOTES),
        WEIR_REFRESH_POOL="default_pool",
        WEIR_REFRESH_SCHEDULE="7 * * * *",
    )
    dag = described["dags"]["refresh_remotes"]
    assert {dag["tasks"][name]["pool"] for name in REFRESHES} == {"default_pool"}
    assert dag["schedule"] == "7 * * * *"


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize(
    ("remotes", "traversals", "what", "place"),
    [
        (REMOTES.replace("PT1H", "soon"), TRAVERSALS, "remotes.1.every", "remotes.yml:8:5"),
        (REMOTES, f"{TRAVERSALS}    every: soon\n", "traversals.0.every", "traversals.yml:6:5"),
    ],
    ids=["remotes", "traversals"],
)
def test_a_wrong_declaration_is_an_error_of_one_dag_with_its_place(
    tmp_path: Path, remotes: str, traversals: str, what: str, place: str
) -> None:
    folder = project(tmp_path / "project", remotes, traversals)
    shown = describe(tmp_path / "home", folder)
    assert shown["import_errors"] == {}
    assert shown["dags"]["ingest_changes"]["schedule"] == "*/15 * * * *"
    wrong = shown["dags"]["refresh_remotes"]
    assert f"{place}: {what}: it is not a duration" in wrong["doc"]
    assert {name: task["downstream"] for name, task in wrong["tasks"].items()} == {
        "check_freshness": ["all_succeeded"],
        "all_succeeded": [],
    }
    # Its only task fails by the same error.
    done = subprocess.run(
        ["bash", "-c", " ".join(wrong["tasks"]["check_freshness"]["command"].splitlines())],
        env={**os.environ, "RUN_ID": "scheduled"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == EXIT_USAGE
    assert place in done.stderr
