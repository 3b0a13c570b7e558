"""Rounds of a resident process that refreshes remotes when they are due."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.support.projects.replicas import IRI, ReplicaProject
from weir.errors import ConfigurationError
from weir.remotes.asking import Fetch
from weir.remotes.declarations import Remote
from weir.resident.rounds import Round, Rounds
from weir.settings import Settings

pytestmark = pytest.mark.usefixtures("sampled")

QUERY = f"""SELECT ?user ?n WHERE {{
  ?user <http://x/city> ?city
  SERVICE <{IRI}> {{ ?city <http://x/population> ?n }}
}}
"""
EVERY = 5.0
ALL = ["ingest", "maintain", "refresh", "ingest", "maintain", "validate", "publish"]


class Resident:
    """A resident process; its time and that of the project are one."""

    def __init__(self, project: ReplicaProject) -> None:
        self.project = project
        file = project.folder / "weir.toml"
        self.around = project.surroundings()
        self.rounds = Rounds(
            lambda: Settings.load(file), file, EVERY, self.seconds, refresh=self.around
        )

    def seconds(self) -> float:
        return self.project.now.timestamp()

    def next(self, *, after: float = EVERY) -> Round | None:
        self.project.now += timedelta(seconds=after)
        return self.rounds.next()

    def settle(self) -> None:
        """Rounds until nothing is left to look at."""
        while self.next() is not None:
            pass

    @property
    def opened(self) -> int:
        return sum(self.rounds.project.lake.opened.values())


def stages(this_round: Round | None) -> list[str]:
    assert this_round is not None
    return [stage.stage for stage in this_round.done]


@pytest.fixture
def resident(tmp_path: Path, without_spark: None) -> Iterator[Resident]:
    del without_spark
    project = ReplicaProject(tmp_path)
    project.declare_remote()
    project.query("cities", QUERY)
    project.remote.set("http://x/a", "http://x/population", 1)
    project.change_set("A <http://x/u> <http://x/city> <http://x/a> .")
    started = Resident(project)
    with started.rounds:
        yield started


def test_the_first_round_publishes_what_the_remote_says(resident: Resident) -> None:
    assert stages(resident.next()) == ALL
    assert len(resident.project.answer("cities")) == 1


def test_a_remote_that_becomes_due_wakes_a_resting_process(resident: Resident) -> None:
    resident.next()
    resident.settle()
    opened = resident.opened
    assert resident.next(after=10) is None
    assert resident.opened == opened
    resident.project.remote.set("http://x/a", "http://x/population", 7)
    wait = 600 - resident.seconds() % 600
    # The tables are looked at once a minute all the same.
    assert resident.next(after=wait - 1) is None
    assert resident.next(after=1) is not None
    assert {dict(row)["n"] for row in resident.project.answer("cities")} == {
        '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'
    }


def test_an_evaluation_without_changes_is_reported_but_publishes_nothing(
    resident: Resident,
) -> None:
    resident.next()
    resident.settle()
    assert stages(resident.next(after=600)) == ["ingest", "refresh", "ingest"]


def test_a_remote_that_is_not_due_is_not_asked_when_the_graph_changes(resident: Resident) -> None:
    resident.next()
    resident.settle()
    asked = len(resident.project.remote.asked)
    resident.project.change_set("D <http://x/u> <http://x/city> <http://x/a> .")
    assert stages(resident.next()) == ["ingest", "maintain", "validate", "publish"]
    assert len(resident.project.remote.asked) == asked


def test_a_remote_that_fails_is_tried_again_at_growing_intervals(
    resident: Resident,
) -> None:
    tried = []

    def without_connection(remote: Remote, sent: Sequence[datetime]) -> Fetch:
        tried.append(len(sent))
        raise ConfigurationError(f"{remote.name}: there is no connection")

    resident.next()
    resident.settle()
    resident.around.open = without_connection
    first = resident.next(after=600)
    assert first is not None
    assert [error.what for error in first.began] == ["wd: there is no connection"]
    assert all(resident.next() is None for _ in range(40))
    assert len(tried) in range(3, 7)
    resident.around.open = resident.project.surroundings().open
    recovered = next(
        this_round
        for this_round in (resident.next(after=60) for _ in range(12))
        if this_round is not None
    )
    assert [error.what for error in recovered.ended] == ["wd: there is no connection"]


def test_without_refresh_no_remote_is_asked(resident: Resident) -> None:
    file = resident.project.folder / "weir.toml"
    with Rounds(lambda: Settings.load(file), file, EVERY, resident.seconds) as rounds:
        this_round = rounds.next()
    assert stages(this_round) == ["ingest", "maintain", "validate", "publish"]
    assert resident.project.remote.asked == []


def test_an_answer_that_waits_for_a_remote_costs_no_rounds(resident: Resident) -> None:
    file = resident.project.folder / "weir.toml"
    with Rounds(lambda: Settings.load(file), file, EVERY, resident.seconds) as rounds:
        assert rounds.next() is not None
        ran = len(resident.project.table("runs"))
        for _ in range(20):
            resident.project.now += timedelta(seconds=EVERY)
            assert rounds.next() is None
        assert len(resident.project.table("runs")) - ran < 5 * 6
        # Another process asks the remote.
        resident.project.refresh()
        resident.project.now += timedelta(seconds=EVERY)
        assert rounds.next() is not None
    assert len(resident.project.answer("cities")) == 1
