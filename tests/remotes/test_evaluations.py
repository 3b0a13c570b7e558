"""What an evaluation knows of those before it: rows, requests, failures, and runs that died."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest
from deltalake import write_deltalake

from tests.support.opened import call
from tests.support.projects.replicas import IRI, START, ReplicaProject
from weir.compact.stage import compact_lake
from weir.errors import QualityError
from weir.project import open_lake
from weir.refresh.check import check_freshness
from weir.refresh.current import current_states
from weir.refresh.stage import refresh_remotes
from weir.remotes.http.outcomes import Failure
from weir.remotes.schedule import schedule

pytestmark = pytest.mark.usefixtures("sampled")

POPULATION = "http://x/population"
QUERY = f"""SELECT ?user ?n WHERE {{
  ?user <http://x/city> ?city
  SERVICE <{IRI}> {{ ?city <{POPULATION}> ?n }}
}}
"""
EVERY = timedelta(minutes=10)


class Killed(BaseException):
    """The run ends here."""


def project_of(folder: Path, **settings: object) -> ReplicaProject:
    """Two users in two cities, and their first evaluation."""
    project = ReplicaProject(folder)
    project.declare_remote(**settings)
    project.query("cities", QUERY)
    for city, n in (("a", 1), ("b", 2)):
        project.remote.set(f"http://x/{city}", POPULATION, n)
    project.change_set(
        "A <http://x/u> <http://x/city> <http://x/a> .",
        "A <http://x/v> <http://x/city> <http://x/b> .",
    )
    project.stages("ingest", "maintain")
    project.refresh()
    return project


def killed_at(project: ReplicaProject, point: str) -> None:
    """Refresh until a checkpoint."""

    def checkpoint(name: str) -> None:
        if name == point:
            raise Killed

    with mock.patch("weir.lake.delta.commit.checkpoint", checkpoint), pytest.raises(Killed):
        project.refresh()


def statuses(project: ReplicaProject) -> list[tuple[int, int, int]]:
    """Of each evaluation: changed, unchanged and gone keys."""
    return [(row["changed"], row["unchanged"], row["gone"]) for row in project.freshness()]


def test_a_mapping_that_has_gone_is_not_known_any_more(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    for values in ((10, 11), (11,), (11,), (), ()):
        project.remote.set("http://x/a", POPULATION, *values)
        project.now += EVERY
        project.refresh()
    assert statuses(project) == [(2, 0, 0), (1, 1, 0), (1, 1, 0), (0, 2, 0), (0, 1, 1), (0, 2, 0)]
    rounds = {
        (row["key"], row["round"]): row["rows_round"]
        for row in project.table("replicas/wd")
        if row["part"] == "key"
    }
    assert [rounds["<http://x/a>", n] for n in range(1, 7)] == [1, 2, 3, 3, 5, 5]


def test_an_epoch_is_at_the_instant_of_its_evaluation(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    project.now += EVERY
    project.remote.set("http://x/a", POPULATION, 7)
    project.refresh()
    project.stages("ingest")
    instants = {row["position"]: row["event_time"] for row in project.table("transactions")}
    assert (instants["1"], instants["2"]) == (START, START + EVERY)


def test_rounds_that_were_not_ingested_yet_are_ingested_together(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    for number in range(6):
        project.now += EVERY
        project.remote.set("http://x/a", POPULATION, number // 2)
        project.refresh()
    project.stages("ingest")
    positions = [row["position"] for row in project.table("transactions") if row["source"] == "wd"]
    changed = {
        str(row["round"]) for row in project.table("replicas/wd") if row["part"] == "mapping"
    }
    assert sorted(positions) == sorted(changed)
    assert len(changed) > 3


def test_what_a_killed_run_had_reserved_is_spent(tmp_path: Path) -> None:
    project = project_of(tmp_path, budget={"keys": 2})
    project.now += EVERY
    with (
        mock.patch.object(project.remote, "fetch", side_effect=Killed),
        pytest.raises(Killed),
    ):
        project.refresh()
    asked = len(project.remote.asked)
    project.refresh()
    assert len(project.remote.asked) == asked
    last = project.freshness()[-1]
    assert (last["stop"], last["keys_used"], last["not_asked"]) == ("budget", 2, 2)


def test_the_rows_of_freshness_that_a_killed_run_did_not_write_are_written(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    project.now += EVERY
    killed_at(project, "refresh:before:freshness")
    assert [row["round"] for row in project.freshness()] == [1]
    project.refresh()
    project.refresh()
    assert [row["round"] for row in project.freshness()] == [1, 2]


def test_failures_of_earlier_evaluations_open_the_circuit(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    failure = Failure("client_error", "no", 400)
    for _ in range(5):
        project.now += EVERY
        project.remote.failures = [failure] * 20
        project.refresh()
    asked = len(project.remote.asked)
    states = [row["state"] for row in project.freshness()]
    assert (states[0], states[-1]) == ("fresh", "backing_off")
    project.now += timedelta(minutes=1)
    project.refresh()
    assert len(project.remote.asked) == asked


def test_a_wait_that_a_killed_run_was_asked_for_is_kept(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    project.now += EVERY
    project.remote.failures = [Failure("throttled", "slow down", 429, retry_after=1800)]
    killed_at(project, "refresh:before:replicas/wd")
    asked = len(project.remote.asked)
    for _ in range(2):
        project.refresh()
        project.now += EVERY
    assert len(project.remote.asked) == asked
    assert {row["state"] for row in project.freshness()[1:]} == {"backing_off"}
    project.now += 2 * EVERY
    project.refresh()
    assert len(project.remote.asked) > asked


def test_the_files_of_rounds_are_merged_and_refreshes_go_on(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    for number in range(3):
        project.now += EVERY
        project.remote.set("http://x/a", POPULATION, number + 5)
        project.refresh()
    call(compact_lake, project.settings, "compact")
    assert len(open_lake(project.settings).existing("replicas/wd").file_uris()) == 1
    project.now += EVERY
    project.remote.set("http://x/b", POPULATION, 9)
    project.refresh()
    assert statuses(project) == [(2, 0, 0), *[(1, 1, 0)] * 4]
    project.run()
    literal = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert {dict(row)["n"] for row in project.answer("cities")} == {
        literal.format(7),
        literal.format(9),
    }


def test_requests_of_an_earlier_version_get_the_column_that_is_new(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    lake = open_lake(project.settings)
    table = lake.existing("requests")
    rows = lake.rows("requests").drop_columns(["not_before"])
    write_deltalake(table, rows, mode="overwrite", schema_mode="overwrite")
    project.now += EVERY
    project.remote.failures = [Failure("throttled", "slow down", 429, retry_after=60)]
    project.refresh()
    times = [row["not_before"] for row in project.table("requests")]
    assert [time is not None for time in times].count(True) == 1
    project.now += EVERY
    project.refresh()
    assert project.freshness()[-1]["state"] == "fresh"


def failing(project: ReplicaProject, failure: Failure | None, evaluations: int) -> list[str]:
    """Evaluate with a remote that always fails so, if at all; gives the lines of progress."""
    lines: list[str] = []
    for _ in range(evaluations):
        project.now += EVERY
        project.remote.failures = [failure] * 20
        call(
            refresh_remotes,
            project.settings,
            "run",
            lines.append,
            surroundings=project.surroundings(),
        )
    project.remote.failures = []
    return [line for line in lines if "answered" in line]


BROKEN = Failure("client_error", "the server answered 400: no such graph", 400)
REFUSED = Failure("url_refused", "port 3030 is not allowed")


def test_an_evaluation_that_failed_says_why(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    (line,) = failing(project, BROKEN, 1)
    reason = "2 keys failed: the server answered 400: no such graph"
    assert line == f"wd: 0 of 2 keys answered, 0 changed; {reason}"
    row = project.freshness()[-1]
    assert (row["state"], row["reason"], row["failure"]) == ("warn", reason, BROKEN.reason)


def test_an_answer_is_as_old_as_the_time_since_it_came(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    project.now += EVERY + timedelta(minutes=4)
    project.refresh()
    (state,) = current_states(project.settings, project.now + timedelta(minutes=2))
    assert state.largest("oldest") == 120.0


def test_the_state_now_says_why_the_last_evaluation_failed(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    failing(project, BROKEN, 1)
    (state,) = current_states(project.settings, project.now)
    assert (state.state, state.was_asked_in_vain) == ("warn", True)
    assert state.reason == "2 keys failed: the server answered 400: no such graph"
    project.now += EVERY
    project.refresh()
    (state,) = current_states(project.settings, project.now)
    assert (state.state, state.was_asked_in_vain) == ("fresh", False)


def test_a_remote_that_failed_too_often_is_not_said_to_have_asked_to_wait(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    *_, line = failing(project, BROKEN, 5)
    assert "8 requests in a row failed (last: the server answered 400: no such graph)" in line
    assert "asked to wait" not in line
    assert line.count("no such graph") == 1
    # Evaluations that ask nothing still know why.
    *_, line = failing(project, BROKEN, 7)
    assert "requests in a row failed (last: the server answered 400: no such graph)" in line


def test_a_remote_that_asked_to_wait_says_until_when(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    (line,) = failing(project, Failure("throttled", "slow down", 429, retry_after=900.0), 1)
    assert "the remote asked to wait until 00:25:00 UTC" in line
    project.now += EVERY
    project.refresh()
    row = project.freshness()[-1]
    assert row["not_before_reason"] == "the remote asked to wait until 00:25:00 UTC"


def test_requests_that_the_project_refuses_do_not_open_the_circuit(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    lines = failing(project, REFUSED, 8)
    reason = "2 keys not asked for: port 3030 is not allowed"
    assert lines == [f"wd: 0 of 2 keys answered, 0 changed; {reason}"] * 8
    call(check_freshness, project.settings, "check", now=project.now)
    project.now += EVERY
    project.refresh()
    # They are asked for in one request, as keys that never failed.
    last = project.freshness()[-1]
    assert (last["answered"], last["requests_used"]) == (2, 1)


@pytest.mark.parametrize(
    "failure", [BROKEN, Failure("throttled", "slow down", 429, retry_after=3600.0)]
)
def test_a_remote_whose_url_was_edited_is_asked_at_once(tmp_path: Path, failure: Failure) -> None:
    project = project_of(tmp_path)
    failing(project, failure, 7)
    project.now += timedelta(minutes=1)
    assert project.freshness()[-1]["state"] == "backing_off"
    call(check_freshness, project.settings, "before", now=project.now)
    project.declare_remote(url="http://remote.example/other")
    project.now += EVERY
    project.refresh()
    assert project.freshness()[-1]["answered"] == 2
    with suppress(QualityError):
        # `url` was edited, so the hosts of earlier requests are others than declared.
        call(check_freshness, project.settings, "after", now=project.now)
    failed = [row["expectation"] for row in project.table("quality") if not row["success"]]
    assert "politeness_is_kept" not in failed


def test_the_state_of_a_remote_whose_url_was_edited_does_not_wait(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    failing(project, BROKEN, 7)
    project.declare_remote(url="http://remote.example/other")
    (state,) = current_states(project.settings, project.now)
    assert state.state != "backing_off"
    assert state.next_allowed == project.freshness()[-1]["evaluation"] + EVERY


def test_a_remote_is_not_asked_next_while_it_is_left_alone(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    project.now += EVERY
    project.remote.failures = [Failure("throttled", "slow down", 429, retry_after=1500.0)]
    for _ in range(2):
        (refreshed,) = project.refresh().remotes
        assert refreshed.next_at == START + 4 * EVERY
        (scheduled,) = schedule(project.settings, open_lake(project.settings), project.now)
        assert scheduled.next_at == START + 2 * EVERY
        assert scheduled.asked_at == START + 4 * EVERY


def test_rows_of_freshness_of_an_earlier_version_get_the_columns_that_are_new(
    tmp_path: Path,
) -> None:
    project = project_of(tmp_path)
    lake = open_lake(project.settings)
    rows = lake.rows("freshness").drop_columns(["failure", "not_before_reason"])
    write_deltalake(lake.existing("freshness"), rows, mode="overwrite", schema_mode="overwrite")
    (state,) = current_states(project.settings, project.now)
    assert state.state == "fresh"
    failing(project, BROKEN, 1)
    assert [row["failure"] for row in project.freshness()] == [None, BROKEN.reason]


def test_keys_beyond_max_rows_are_said_with_what_to_do(tmp_path: Path) -> None:
    project = project_of(tmp_path, max_rows=2)
    project.remote.set("http://x/a", POPULATION, 1, 2, 3)
    (line,) = failing(project, None, 1)
    assert "1 of 2 keys answered" in line
    assert "1 key had more mappings than `max_rows` (2)" in line
    assert project.freshness()[-1]["state"] == "warn"


def test_keys_that_are_not_believed_to_be_empty_are_said(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    project.change_set(*(f"A <http://x/u{n}> <http://x/city> <http://x/c{n}> ." for n in range(10)))
    for n in range(10):
        project.remote.set(f"http://x/c{n}", POPULATION, n)
    project.stages("ingest", "maintain")
    failing(project, None, 1)
    project.remote.store.clear()
    lines = failing(project, None, 2)
    assert "12 keys came back empty at once and kept what they had" in lines[0]
    assert lines[1] == "wd: 12 of 12 keys answered, 12 changed"
