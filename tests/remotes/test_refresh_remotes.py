"""Refresh on a lake: rounds become epochs, answers follow, budgets hold."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyoxigraph as ox
import pytest

from tests.support.opened import call
from tests.support.projects.replicas import IRI, ReplicaProject
from weir.answers.logs import Printed, answer_at
from weir.answers.moments import Moment
from weir.errors import QualityError
from weir.progress.backlog import answered_since
from weir.progress.completion import Completion
from weir.project import open_lake
from weir.refresh.check import check_freshness
from weir.refresh.current import current_states
from weir.remotes.http.outcomes import Failure

pytestmark = pytest.mark.usefixtures("sampled")

QUERY = f"""SELECT ?user ?n WHERE {{
  ?user <http://x/city> ?city
  SERVICE <{IRI}> {{ ?city <http://x/population> ?n }}
}}
"""
POPULATION = "http://x/population"


@pytest.fixture
def project(tmp_path: Path) -> ReplicaProject:
    started = ReplicaProject(tmp_path)
    started.declare_remote()
    started.query("cities", QUERY)
    for city, n in (("a", 1), ("b", 2), ("c", 3)):
        started.remote.set(f"http://x/{city}", POPULATION, n)
    started.change_set(
        "A <http://x/u> <http://x/city> <http://x/a> .",
        "A <http://x/v> <http://x/city> <http://x/b> .",
    )
    return started


def graph(**cities: str) -> ox.Store:
    """The graph in which users live in cities."""
    store = ox.Store()
    for user, city in cities.items():
        nodes = (ox.NamedNode(f"http://x/{name}") for name in (user, "city", city))
        store.add(ox.Quad(*nodes))
    return store


BOTH = graph(u="a", v="b")


def test_an_answer_follows_the_remote_after_refresh_and_run(project: ReplicaProject) -> None:
    project.run()
    project.refresh()
    project.run()
    assert project.answer("cities") == project.federated(BOTH, QUERY)
    project.remote.set("http://x/a", POPULATION, 10, 11)
    project.now += timedelta(minutes=10)
    project.refresh()
    project.run()
    assert project.answer("cities") == project.federated(BOTH, QUERY)
    assert len(project.answer("cities")) == 3


def test_a_first_answer_waits_until_all_its_keys_were_answered(project: ReplicaProject) -> None:
    project.declare_remote(budget={"keys": 1})
    project.run()
    assert not (project.folder / "lake" / "answers").exists()
    project.refresh()
    project.run()
    assert not (project.folder / "lake" / "answers").exists()
    project.now += timedelta(minutes=10)
    project.refresh()
    # The answer of the second key is in the inbox, and not in the graph yet.
    project.stages("validate", "publish")
    assert not (project.folder / "lake" / "answers").exists()
    project.run()
    assert project.answer("cities") == project.federated(BOTH, QUERY)


def test_a_first_answer_waits_for_a_key_whose_requests_failed(project: ReplicaProject) -> None:
    project.declare_remote(batch_keys=1)
    project.run()
    project.remote.failures = [Failure("client_error", "the server answered 400")]
    project.refresh()
    project.run()
    assert not (project.folder / "lake" / "answers").exists()
    project.now += timedelta(minutes=10)
    project.refresh()
    project.run()
    assert project.answer("cities") == project.federated(BOTH, QUERY)


def test_a_first_answer_waits_for_a_key_with_more_mappings_than_max_rows(
    project: ReplicaProject,
) -> None:
    project.declare_remote(max_rows=2)
    project.remote.set("http://x/a", POPULATION, 1, 2, 3)
    project.run()
    project.refresh()
    project.run()
    assert not (project.folder / "lake" / "answers").exists()


def test_why_a_first_answer_waits_has_the_reason_of_a_failure(project: ReplicaProject) -> None:
    project.run()
    project.remote.failures = [Failure("client_error", "the server answered 400")]
    project.refresh()
    project.stages("validate")
    (waiting,) = project.publish().publications
    assert waiting.mode == "waiting"
    assert waiting.reason.startswith(
        "2 of 2 keys of wd were never answered (one of them: the server answered 400)"
    )


def test_a_first_answer_says_nothing_of_epochs_at_which_keys_were_not_answered(
    project: ReplicaProject,
) -> None:
    project.declare_remote(budget={"keys": 1})
    project.query("cities", f"#+ history: full\n{QUERY}")
    project.run()
    for _ in range(2):
        project.refresh()
        project.run()
        project.now += timedelta(minutes=10)
    assert project.answer("cities") == project.federated(BOTH, QUERY)
    assert {row["epoch"] for row in project.table("answers/cities")} == {3}


def test_changes_after_a_first_answer_have_their_own_epochs(project: ReplicaProject) -> None:
    project.run()
    project.refresh()
    project.run()
    project.change_set("D <http://x/u> <http://x/city> <http://x/a> .")
    project.change_set("D <http://x/v> <http://x/city> <http://x/b> .")
    project.run()
    changes = sorted((row["epoch"], row["weight"]) for row in project.table("answers/cities"))
    assert changes == [(2, 1), (2, 1), (3, -1), (4, -1)]


def test_an_edited_query_keeps_its_answer_until_the_new_one_is_complete(
    project: ReplicaProject,
) -> None:
    project.run()
    project.refresh()
    project.run()
    before = project.answer("cities")
    area = QUERY.replace("population", "area").replace("?n", "?area")
    project.query("cities", area)
    project.remote.set("http://x/a", "http://x/area", 7)
    project.run()
    assert project.answer("cities") == before
    project.now += timedelta(minutes=10)
    project.refresh()
    project.run()
    (row,) = [
        answer
        for answer in project.table("answers/cities")
        if answer["weight"] > 0 and answer["area"]
    ]
    assert row["epoch"] == 3
    columns, rows = answer_at(project.settings, "cities", Moment(epoch=2), Printed(0))
    assert (columns, len(rows)) == (("user", "n", "weight"), 2)


def test_an_unchanged_text_is_still_answered_since_its_first_answer(
    project: ReplicaProject,
) -> None:
    project.run()
    project.refresh()
    project.run()
    project.change_set("D <http://x/u> <http://x/city> <http://x/a> .")
    project.run()
    published = Completion.read(open_lake(project.settings)).published("cities")
    assert published is not None
    assert answered_since(published.metadata) == 2


def test_a_remote_without_answers_may_be_renamed(project: ReplicaProject) -> None:
    project.run()
    project.remote.failures = [Failure("url_refused", "port 3030 is not allowed")]
    project.refresh()
    project.declare_remote(name="other")
    project.now += timedelta(minutes=10)
    assert project.refresh().errors == ()
    project.run()
    assert project.answer("cities")
    (state,) = current_states(project.settings, project.now)
    assert (state.remote.name, state.state) == ("other", "fresh")


def test_a_remote_that_was_renamed_is_not_asked(project: ReplicaProject) -> None:
    project.run()
    project.refresh()
    project.declare_remote(name="other")
    project.now += timedelta(minutes=10)
    asked = len(project.remote.asked)
    (error,) = project.refresh().errors
    reason = f"the answers of {IRI} are stored under the name wd, not other"
    assert error.what == f"{reason}: name it wd again"
    assert len(project.remote.asked) == asked


def test_a_remote_that_was_renamed_is_not_fresh(project: ReplicaProject) -> None:
    project.run()
    project.refresh()
    project.declare_remote(name="other")
    with pytest.raises(QualityError, match="stored under the name wd, not other"):
        call(check_freshness, project.settings, "check", now=project.now)


def test_a_later_key_does_not_hold_an_answer_that_was_published(project: ReplicaProject) -> None:
    project.run()
    project.refresh()
    project.run()
    project.change_set("A <http://x/w> <http://x/city> <http://x/c> .")
    project.run()
    assert project.answer("cities") == project.federated(BOTH, QUERY)
    project.now += timedelta(minutes=10)
    project.refresh()
    project.run()
    assert project.answer("cities") == project.federated(graph(u="a", v="b", w="c"), QUERY)


def test_a_round_without_changes_is_no_epoch(project: ReplicaProject) -> None:
    project.run()
    project.refresh()
    project.run()
    epochs = len(project.table("transactions"))
    for _ in range(3):
        project.now += timedelta(minutes=10)
        project.refresh()
        project.run()
    assert len(project.table("transactions")) == epochs
    assert [row["unchanged"] for row in project.freshness()] == [0, 2, 2, 2]


def test_an_evaluation_is_made_once(project: ReplicaProject) -> None:
    project.run()
    project.refresh()
    asked = len(project.remote.asked)
    (again,) = project.refresh().remotes
    assert not again.is_new
    assert len(project.remote.asked) == asked
    assert len(project.table("replicas/wd")) == 4


def test_a_clock_that_is_set_back_makes_no_second_evaluation(project: ReplicaProject) -> None:
    project.run()
    project.refresh()
    asked = len(project.remote.asked)
    project.now -= timedelta(hours=1)
    project.refresh()
    assert len(project.remote.asked) == asked


def test_a_remote_that_asks_to_wait_is_left_alone(project: ReplicaProject) -> None:
    project.run()
    project.remote.failures = [Failure("throttled", "later", 429, 1500.0)]
    project.refresh()
    asked = len(project.remote.asked)
    states = []
    for _ in range(3):
        project.now += timedelta(minutes=10)
        project.refresh()
        states.append(project.freshness()[-1]["state"])
    assert len(project.remote.asked) == asked + 1
    assert states == ["backing_off", "backing_off", "fresh"]


def test_a_source_cannot_write_the_graph_of_a_replica(project: ReplicaProject) -> None:
    project.run()
    project.refresh()
    project.change_set("A <http://x/s> <http://x/p> <http://x/o> <urn:weir:replica:other> .")
    result = project.ingest()
    (error,) = result.errors
    assert "reserved for what remotes answer" in str(error)
    # The replica itself is ingested.
    assert [source.epochs for source in result.sources] == [0, 1]


def test_what_refreshes_write_passes_every_check(project: ReplicaProject) -> None:
    project.declare_remote(
        budget={"keys": 2, "requests": 2}, batch_keys=1, explore=1, warn_after="PT15M"
    )
    project.run()
    fails = Failure("server_error", "500", 500)
    planned: list[list[Failure | None]] = [[], [fails, None], [fails] * 3, [], []]
    for number, failures in enumerate(planned):
        project.remote.failures = failures
        project.remote.set("http://x/a", POPULATION, number)
        project.refresh(f"refresh-{number}")
        project.run()
        call(check_freshness, project.settings, f"check-{number}", now=project.now)
        project.now += timedelta(minutes=10)
    failed = [row for row in project.table("quality") if not row["success"]]
    assert not failed
    held = {row["expectation"] for row in project.table("quality")}
    assert {"budget_is_kept", "counts_add_up", "evaluated_once"} < held


def test_a_replica_that_is_not_refreshed_fails_the_check(project: ReplicaProject) -> None:
    project.declare_remote(error_after="PT1H")
    project.run()
    project.refresh()
    call(check_freshness, project.settings, "check", now=project.now)
    with pytest.raises(QualityError, match="wd"):
        call(check_freshness, project.settings, "later", now=project.now + timedelta(hours=2))


def test_max_staleness_holds_an_answer_of_old_keys(project: ReplicaProject) -> None:
    project.query("cities", f"#+ max_staleness: PT1H\n{QUERY}")
    project.now = datetime.now(UTC) - timedelta(hours=3)
    project.run()
    project.refresh()
    with pytest.raises(QualityError, match="max_staleness is 3600 s"):
        project.run()
    project.now = datetime.now(UTC)
    project.refresh()
    project.run()
    assert project.answer("cities") == project.federated(BOTH, QUERY)


def test_an_edited_query_is_not_published_before_it_is_maintained(project: ReplicaProject) -> None:
    project.stages("ingest", "maintain", "validate")
    project.query("cities", QUERY.replace("?n }", "?n . ?n ?p ?q }"))
    project.stages("publish")
    assert not (project.folder / "lake" / "answers").exists()


def test_a_query_whose_remote_is_gone_is_not_published(project: ReplicaProject) -> None:
    project.stages("ingest", "maintain", "validate")
    (project.folder / "remotes.yml").unlink()
    project.stages("publish")
    assert not (project.folder / "lake" / "answers").exists()


@pytest.mark.usefixtures("slow")
def test_max_staleness_looks_at_the_answers_that_are_in_the_graph(project: ReplicaProject) -> None:
    project.run()
    project.now = datetime.now(UTC) - timedelta(hours=2)
    project.refresh()
    project.run()
    project.query("cities", f"#+ max_staleness: PT1H\n{QUERY}")
    project.change_set("A <http://x/w> <http://x/city> <http://x/a> .")
    project.stages("ingest", "maintain", "validate")
    project.now = datetime.now(UTC)
    project.remote.set("http://x/a", POPULATION, 10)
    project.refresh()
    # What the remote says now is in the inbox only.
    with pytest.raises(QualityError, match="max_staleness is 3600 s"):
        project.stages("publish")
    project.run()
    expected = project.federated(graph(u="a", v="b", w="a"), QUERY)
    assert project.answer("cities") == expected


def test_a_remote_of_another_name_cannot_write_the_same_replica(project: ReplicaProject) -> None:
    project.run()
    project.refresh()
    project.run()
    project.declare_remote(name="other")
    # Else the remote would not be asked at all.
    shutil.rmtree(project.folder / "lake" / "services")
    project.now += timedelta(minutes=10)
    project.remote.set("http://x/a", POPULATION, 10)
    project.refresh()
    (error,) = project.ingest().errors
    assert "which belongs to the source wd" in str(error)
