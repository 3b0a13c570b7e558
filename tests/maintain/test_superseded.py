"""A run that is paused at any of its commits, while another one takes its claim over, and goes on.

Pausing a process is done here without one: at a checkpoint of the first run the second one runs, in
whole or in part, as a process on another machine would after the lease of the first.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.oracles.projects import check_answers
from tests.support.projects.graphs import FIRST, LATER, NAMES, PAIRS, ingest_change_sets
from tests.support.projects.project import PATCHES, Project
from weir.errors import BusyError
from weir.lake.delta import commit
from weir.lake.ledger import claims

ANYWHERE = "any thread"
STAGES = ("maintain", "validate", "publish")
BAD = "A <urn:x> <urn:knows> bad <urn:g>"
INGEST = ("claim", "graphs", "rejected", "quads", "triples", "transactions", "runs")
"""The commits of an ingest, in their order."""


class Paused:
    """What runs at checkpoints; each once, and not within itself."""

    def __init__(self) -> None:
        self.at: dict[tuple[str, str], Callable[[], object]] = {}

    def checkpoint(self, name: str) -> None:
        here = threading.current_thread().name
        meanwhile = self.at.pop((here, name), None) or self.at.pop((ANYWHERE, name), None)
        if meanwhile is not None:
            meanwhile()


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> Paused:
    """Pauses at checkpoints; every claim can be taken over at once."""
    interrupted, original = Paused(), commit.checkpoint
    for module in [*sys.modules.values()]:
        if vars(module).get("checkpoint") is original:
            monkeypatch.setattr(module, "checkpoint", interrupted.checkpoint)
    monkeypatch.setattr(claims, "_is_active", lambda *_: False)
    return interrupted


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two queries that are published up to epoch 2; epochs 3 to 6 are not maintained."""
    project = Project(tmp_path_factory.mktemp("begun")).declare(PATCHES)
    project.query("pairs", PAIRS)
    project.query("names", NAMES)
    ingest_change_sets(project, FIRST)
    project.run()
    ingest_change_sets(project, LATER)
    return project


def stage(name: str, project: Project, run_id: str) -> None:
    project.stages(name, run_id=run_id)


MAINTAINED = (
    ("maintain", "claim"),
    ("maintain", "embeddings/pairs"),
    ("maintain", "embeddings/names"),
    ("maintain", "runs"),
    ("validate", "quality"),
    ("validate", "runs"),
    ("publish", "answers/pairs"),
)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(("job", "table"), MAINTAINED)
def test_a_stage_that_was_paused_before_a_commit_commits_nothing_twice(
    begun: Project, paused: Paused, tmp_path: Path, job: str, table: str
) -> None:
    project = begun.copy(tmp_path / "project")
    for earlier in STAGES[: STAGES.index(job)]:
        stage(earlier, project, "before")
    # The commits of queries are made by threads of their own.
    paused.at[ANYWHERE, f"{job}:before:{table}"] = partial(stage, job, project, "next")
    reported = _superseded(partial(stage, job, project, "zombie"))
    assert reported is (table != "claim")
    assert paused.at == {}
    project.run()
    for query in ("pairs", "names"):
        check_answers(project, query, 2, 6)
        rows = project.signed(query)
        assert len(rows) == len({*map(repr, rows)})


def _superseded(run: Callable[[], object]) -> bool:
    """Whether a run reports that another one took over."""
    try:
        run()
    except BusyError as busy:
        return "nothing was committed twice" in str(busy)
    return False


@pytest.fixture(scope="module")
def offered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, dict[str, Any]]:
    """A project with change sets to ingest, and what an unbroken ingest makes of them."""
    project = Project(tmp_path_factory.mktemp("offered")).declare(PATCHES)
    ingest_change_sets(project, FIRST)
    for lines in (*LATER, (BAD,)):
        project.change_set(*lines)
    unbroken = project.copy(tmp_path_factory.mktemp("unbroken") / "project")
    stage("ingest", unbroken, "unbroken")
    return project, unbroken.contents()


@contextmanager
def running(run: Callable[[], object], paused: Paused, at: str) -> Iterator[Callable[[], bool]]:
    """A run in a thread, which is paused at a checkpoint until the function is called.

    The function returns whether the run reports that another one took over.
    """
    reached, goes_on, ended = threading.Event(), threading.Event(), list[bool]()

    def pause() -> None:
        reached.set()
        goes_on.wait(60)

    def target() -> None:
        ended.append(_superseded(run))
        reached.set()

    thread = threading.Thread(target=target, name="zombie")
    paused.at["zombie", at] = pause
    thread.start()
    assert reached.wait(60)

    def finish() -> bool:
        goes_on.set()
        thread.join(60)
        return ended[0]

    yield finish
    finish()


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("wakes_at", INGEST)
@pytest.mark.parametrize("paused_at", ["rejected", "quads", "triples", "transactions"])
def test_of_two_ingests_that_hold_one_claim_each_change_set_is_committed_by_one(
    offered: tuple[Project, dict[str, Any]],
    paused: Paused,
    tmp_path: Path,
    paused_at: str,
    wakes_at: str,
) -> None:
    """The first is paused before a commit, and wakes when the second is before another one."""
    given, unbroken = offered
    project = given.copy(tmp_path / "project")
    reported: list[bool] = []
    first = partial(stage, "ingest", project, "zombie")
    with running(first, paused, f"ingest:before:{paused_at}") as finish:
        here = threading.current_thread().name
        paused.at[here, f"ingest:before:{wakes_at}"] = lambda: reported.append(finish())
        reported.append(_superseded(partial(stage, "ingest", project, "next")))
        reported.append(finish())
    # Before the second has its claim, the first ends as any run.
    assert any(reported) is (wakes_at != "claim")
    stage("ingest", project, "last")
    assert project.contents() == unbroken
