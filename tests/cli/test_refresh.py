"""`weir refresh`, `weir remotes`, `weir run --refresh` and `weir doctor` over real endpoints."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from demo.fuseki import Credentials
from tests.support.endpoints import port_of
from tests.support.oxigraph_endpoint import OxigraphEndpoint
from tests.support.projects.command_line import Weir
from tests.support.projects.replicas import IRI, ReplicaProject
from weir.project import open_lake
from weir.stage import claimed

pytestmark = pytest.mark.usefixtures("sampled")

QUERY = f"""SELECT ?user ?n WHERE {{
  ?user <http://x/city> ?city
  SERVICE <{IRI}> {{ ?city <http://x/population> ?n }}
}}
"""
OTHER = "http://other.example/sparql"
ACCESS = Credentials("reader", "not-a-real-password")


@pytest.fixture
def endpoint() -> Iterator[OxigraphEndpoint]:
    with OxigraphEndpoint(credentials=ACCESS) as running:
        running.update(
            "INSERT DATA { <http://x/a> <http://x/population> 1 ."
            " <http://x/b> <http://x/population> 2 }"
        )
        yield running


@pytest.fixture
def project(
    endpoint: OxigraphEndpoint,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    without_spark: None,
) -> ReplicaProject:
    """A project with the remote `wd`, whose connection is in the environment."""
    del without_spark
    monkeypatch.chdir(tmp_path)
    started = ReplicaProject(tmp_path)
    started.declare_remote(
        url=endpoint.query_url,
        allow=["127.0.0.1/32"],
        ports=[port_of(endpoint)],
        connection="wd",
        every="PT1H",
        budget={"keys": 10, "requests": 4, "bytes": "200kB", "seconds": 8},
    )
    secret = {"login": ACCESS.user, "password": ACCESS.password}
    monkeypatch.setenv("AIRFLOW_CONN_WD", json.dumps(secret))
    started.query("cities", QUERY)
    started.change_set(
        "A <http://x/u> <http://x/city> <http://x/a> .",
        "A <http://x/v> <http://x/city> <http://x/b> .",
    )
    return started


def declare_also(project: ReplicaProject, **changes: Any) -> None:
    """Declare another remote with the settings of the first one, but for some."""
    project.remotes(project.declared | changes, project.declared)


def test_a_run_without_refresh_asks_nobody(
    project: ReplicaProject, endpoint: OxigraphEndpoint, weir: Weir
) -> None:
    assert weir("run").code == 0
    assert endpoint.queries == 0
    assert not open_lake(project.settings).exists("answers/cities")


@pytest.mark.parametrize("command", ["remotes", "refresh", "doctor", "run"])
def test_a_remote_with_the_name_of_a_source_is_reported(
    project: ReplicaProject, weir: Weir, command: str
) -> None:
    project.remotes(project.declared | {"name": "data"})
    called = weir(command)
    assert called.code != 0
    assert "a source and a remote are named data" in " ".join((called.out + called.err).split())


@pytest.mark.usefixtures("project")
def test_the_status_of_a_query_that_waits_for_a_remote_names_the_refresh(weir: Weir) -> None:
    weir("run")
    called = weir("status", "--output", "json")
    (query,) = called.json["queries"]
    assert query["state"] == "waiting"
    assert "`weir run --refresh`" in query["reason"]


@pytest.mark.usefixtures("project")
def test_show_of_a_query_that_waits_for_a_remote_names_the_refresh(weir: Weir) -> None:
    weir("run")
    called = weir("show", "cities")
    assert called.code != 0
    assert "`weir run --refresh`" in called.err
    assert weir("show", "--held", "cities").code == 0


def test_rows_that_follow_from_too_old_answers_are_shown_with_the_reason(
    project: ReplicaProject, weir: Weir
) -> None:
    weir("run", "--refresh")
    project.query("cities", f"#+ max_staleness: PT0.000001S\n{QUERY}")
    project.change_set("D <http://x/u> <http://x/city> <http://x/a> .")
    assert weir("run").code == 3
    (query,) = weir("status", "--output", "json").json["queries"]
    assert query["state"] == "held"
    called = weir("show", "--held", "cities")
    assert called.code == 0
    assert "older than its max_staleness" in called.out


def test_an_answer_of_too_old_answers_is_held_in_epochs_that_do_not_touch_it(
    project: ReplicaProject, weir: Weir
) -> None:
    weir("run", "--refresh")
    project.query("cities", f"#+ max_staleness: PT0.000001S\n{QUERY}")
    project.change_set("A <http://x/u> <http://x/other> <http://x/a> .")
    assert weir("run").code == 3
    (query,) = weir("status", "--output", "json").json["queries"]
    assert query["state"] == "held"
    assert weir("show", "--held", "cities").code == 0


def test_nothing_is_held_of_a_query_that_was_removed_while_it_waited(
    project: ReplicaProject, weir: Weir
) -> None:
    weir("run")
    project.remove_query("cities")
    called = weir("show", "--held", "cities")
    assert called.code == 2
    assert "no rows of cities are held back" in called.err


def test_a_run_with_refresh_publishes_what_the_remote_says_at_once(
    project: ReplicaProject, endpoint: OxigraphEndpoint, weir: Weir
) -> None:
    called = weir("run", "--refresh", "--output", "json")
    assert (called.code, called.json["errors"]) == (0, [])
    assert len(project.answer("cities")) == 2
    assert [stage["stage"] for stage in called.json["stages"]] == [
        *("ingest", "maintain", "refresh", "ingest", "maintain", "validate", "publish")
    ]
    assert [q["rows"] for q in called.json["queries"]] == [2]
    assert endpoint.queries == 1
    again = weir("run", "--refresh", "--output", "json")
    assert [stage["stage"] for stage in again.json["stages"]] == ["ingest"]
    assert endpoint.queries == 1


def test_what_was_maintained_before_an_evaluation_without_changes_is_not_maintained_twice(
    project: ReplicaProject, endpoint: OxigraphEndpoint, weir: Weir
) -> None:
    endpoint.update("DROP ALL")
    called = weir("run", "--refresh", "--output", "json")
    assert [stage["stage"] for stage in called.json["stages"]] == [
        *("ingest", "maintain", "refresh", "ingest", "validate", "publish")
    ]
    assert (called.code, project.answer("cities")) == (0, {})


def test_a_remote_that_is_given_a_filter_sends_only_what_passes(
    project: ReplicaProject, endpoint: OxigraphEndpoint, weir: Weir
) -> None:
    cities = range(60)
    rows = " ".join(f"<http://x/c{n}> <http://x/population> {n} ." for n in cities)
    endpoint.update(f"INSERT DATA {{ {rows} }}")
    project.declare_remote(**project.declared | {"budget": {"keys": 1000}})
    project.change_set(*(f"A <http://x/u{n}> <http://x/city> <http://x/c{n}> ." for n in cities))
    sent, query = [], QUERY.replace("}\n}", "} FILTER (?n >= 55) }")
    for name, head in (("without", ""), ("given", "#+ push_filters: true\n")):
        # Each evaluates the remote for the first time.
        shutil.rmtree(project.folder / "lake", ignore_errors=True)
        before = endpoint.server.sent
        project.query("cities", head + query)
        assert weir("run", "--refresh").code == 0
        assert len(project.answer("cities")) == 5, name
        sent.append(endpoint.server.sent - before)
    without, given = sent
    assert given < without / 4


def test_a_remote_that_fails_does_not_keep_a_run_from_publishing_the_others(
    project: ReplicaProject, weir: Weir
) -> None:
    declare_also(project, name="locked", iri=OTHER, connection="absent")
    project.query("others", QUERY.replace(IRI, OTHER))
    called = weir("run", "--refresh", "--output", "json")
    assert called.code == 2
    assert [error.partition(".")[0] for error in called.json["errors"]] == [
        "AIRFLOW_CONN_ABSENT: there is no connection absent"
    ]
    assert len(project.answer("cities")) == 2


def test_refresh_reports_what_was_asked_and_what_it_took(
    project: ReplicaProject, weir: Weir
) -> None:
    assert project.folder
    weir("run")
    called = weir("refresh", "--output", "json")
    assert (called.code, called.json["errors"]) == (0, [])
    (row,) = called.json["remotes"]
    names = ("remote", "outcome", "round", "asked", "answered", "changed", "never_asked", "state")
    assert [row[name] for name in names] == ["wd", "evaluated", 1, 2, 2, 2, 0, "fresh"]
    assert row["budget"] == {"keys": 10, "requests": 4, "bytes": 200_000, "seconds": 8.0}
    used = row["used"]
    assert (used["keys"], used["requests"]) == (2, 1)
    assert 0 < used["bytes"] <= 200_000
    assert 0 < used["seconds"] <= 8
    (again,) = weir("refresh", "wd", "--output", "json").json["remotes"]
    assert (again["outcome"], again["round"], again["used"]) == ("not due", 1, used)


def test_refresh_prints_a_line_per_remote(project: ReplicaProject, weir: Weir) -> None:
    assert project.folder
    weir("run")
    called = weir("refresh")
    assert (called.code, called.err) == (0, "")
    lines = [line.split() for line in called.out.splitlines()]
    head = next(words for words in lines if words[:1] == ["remote"])
    row = next(words for words in lines if words[:1] == ["wd"])
    assert head[:5] == ["remote", "outcome", "evaluation", "asked", "answered"]
    assert row[:2] == ["wd", "evaluated"]
    assert "2/10" in row


def test_a_remote_that_no_query_asks_is_not_needed(project: ReplicaProject, weir: Weir) -> None:
    project.remove_query("cities")
    weir("run")
    (row,) = weir("refresh", "--output", "json").json["remotes"]
    assert (row["outcome"], row["evaluation"], row["next_at"]) == ("not needed", None, None)


def test_an_error_of_one_remote_does_not_hide_the_others(
    project: ReplicaProject, weir: Weir
) -> None:
    declare_also(project, name="locked", iri=OTHER, connection="absent")
    project.query("others", QUERY.replace(IRI, OTHER))
    weir("run")
    called = weir("refresh", "--output", "json")
    outcomes = {row["remote"]: row["outcome"] for row in called.json["remotes"]}
    assert outcomes == {"locked": "failed", "wd": "evaluated"}
    assert called.code == 2
    assert "there is no connection absent" in called.err


def test_another_run_of_the_same_remote_is_exit_code_4(project: ReplicaProject, weir: Weir) -> None:
    weir("run")
    with claimed(open_lake(project.settings), "refresh", "other", 60, of="wd"):
        called = weir("refresh", "--output", "json")
    assert (called.code, called.json["remotes"][0]["outcome"]) == (4, "busy")


def test_a_remote_that_is_not_declared_is_exit_code_2(project: ReplicaProject, weir: Weir) -> None:
    assert project.folder
    called = weir("refresh", "nobody")
    assert called.code == 2
    assert "there is no remote nobody" in called.err
    assert "Remotes: wd." in called.err


def test_remotes_lists_who_is_asked_for_whom_and_when(project: ReplicaProject, weir: Weir) -> None:
    declare_also(project, name="idle", iri=OTHER)
    weir("run")
    idle, wd = weir("remotes", "--output", "json").json
    assert (idle["remote"], idle["queries"], idle["next_at"]) == ("idle", [], None)
    assert (wd["remote"], wd["iri"], wd["every"], wd["policy"]) == ("wd", IRI, "PT1H", "LRU.F+")
    assert wd["budget"] == {"keys": 10, "requests": 4, "bytes": 200_000, "seconds": 8.0}
    assert [*wd["patterns"].values()] == [["cities"]]
    due = wd["next_at"]
    weir("refresh")
    assert weir("remotes", "--output", "json").json[1]["next_at"] > due
    assert "200,000 B" in weir("remotes").out


def test_pools_have_a_slot_per_remote(project: ReplicaProject, weir: Weir) -> None:
    declare_also(project, name="idle", iri=OTHER)
    pools = weir("remotes", "pools").json
    assert {name: pool["slots"] for name, pool in pools.items()} == {"weir_idle": 1, "weir_wd": 1}
    assert all(pool["description"] for pool in pools.values())


def test_without_remotes_there_is_nothing_to_refresh(project: ReplicaProject, weir: Weir) -> None:
    (project.folder / "remotes.yml").unlink()
    project.remove_query("cities")
    assert "No remote is declared" in weir("refresh").out
    assert "No remote is declared" in weir("remotes").out
    assert weir("remotes", "pools").json == {}


def refuse_its_port(project: ReplicaProject) -> None:
    """Declare the remote without the port at which it is asked."""
    project.remotes({key: value for key, value in project.declared.items() if key != "ports"})


def test_a_refused_port_is_reported_with_the_setting_that_allows_it(
    project: ReplicaProject, endpoint: OxigraphEndpoint, weir: Weir
) -> None:
    refuse_its_port(project)
    port = port_of(endpoint)
    reason = (
        f"2 keys not asked for: port {port} is not allowed: add it to `ports` of its declaration"
    )
    called = weir("run", "--refresh")
    assert called.code == 0
    assert f"warning: wd: {reason}" in " ".join(called.out.split())
    for command in ("refresh", "freshness"):
        assert f"wd: {reason}" in " ".join(weir(command).out.split())
    (row,) = weir("refresh", "--output", "json").json["remotes"]
    assert row["state"] == "warn"
    assert row["reason"].startswith(reason)


def test_a_refused_address_is_reported_with_the_setting_that_allows_it(
    project: ReplicaProject, weir: Weir
) -> None:
    project.remotes({key: value for key, value in project.declared.items() if key != "allow"})
    weir("run")
    (row,) = weir("refresh", "--output", "json").json["remotes"]
    assert "127.0.0.1 is in 127.0.0.0/8" in row["reason"]
    assert "`allow` in remotes.yml" in row["reason"]


def findings(weir: Weir) -> dict[str, dict[str, Any]]:
    return {row["check"]: row for row in weir("doctor", "--output", "json").json}


def test_doctor_checks_remotes_and_their_connections(
    project: ReplicaProject, weir: Weir, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_check = findings(weir)
    assert (by_check["remotes"]["ok"], by_check["remotes"]["found"]) == (True, "wd")
    assert by_check["connection wd"]["ok"]
    monkeypatch.delenv("AIRFLOW_CONN_WD")
    missing = findings(weir)["connection wd"]
    assert not missing["ok"]
    assert "add the connection wd" in missing["fix"]
    project.query("others", QUERY.replace(IRI, OTHER))
    assert "no remote is declared with this IRI" in findings(weir)["query"]["found"]
    (project.folder / "remotes.yml").write_text("remotes:\n  - name: wd\n    colour: red\n")
    wrong = findings(weir)["remotes"]
    assert not wrong["ok"]
    assert "remotes.yml:3:5: remotes.0.colour: unknown key" in wrong["found"]


def test_doctor_says_that_the_last_evaluation_failed(project: ReplicaProject, weir: Weir) -> None:
    refuse_its_port(project)
    weir("run", "--refresh")
    failing = findings(weir)["remote wd"]
    assert not failing["ok"]
    assert failing["found"].startswith("warn: 2 keys not asked for: port ")
    assert "`ports`" in failing["fix"]


def test_doctor_has_the_state_of_a_remote_that_answers(project: ReplicaProject, weir: Weir) -> None:
    assert project.folder
    weir("run", "--refresh")
    fresh = findings(weir)["remote wd"]
    assert (fresh["ok"], fresh["found"]) == (True, "fresh")


def test_doctor_prints_no_secret(project: ReplicaProject, weir: Weir) -> None:
    assert project.folder
    called = weir("doctor", "--output", "json")
    assert ACCESS.password not in called.out + called.err
