"""Stages that run while a compaction goes on: none is refused, at any point of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from tests.support.opened import on_spark, opened
from tests.support.projects.graphs import FIRST, PAIRS, ingest_change_sets
from tests.support.projects.project import Project
from weir.compact import stage as compaction
from weir.errors import BusyError
from weir.lake.delta import commit
from weir.lake.delta.file_commits import Overtaken
from weir.lake.lake import Lake
from weir.lake.ledger.claims import claim
from weir.lake.ledger.runs import SUCCEEDED, LedgerRow, record
from weir.lake.tables import QUADS, Table
from weir.lake.upkeep.maintenance import Consolidated
from weir.pipeline import StageRun, run_pipeline
from weir.project import open_lake

pytestmark = pytest.mark.usefixtures("sampled")

NOBODY = "no session"
MERGES = ("compact:after:quads", "compact:before:answers/pairs")
"""Of the points where tables are merged, those where the stages run."""
Noting = Callable[[], AbstractContextManager[object]]


class Life:
    """A project whose graph changes, and that is brought up to date, again and again."""

    def __init__(self, project: Project) -> None:
        self.project, self.done, self._is_running = project, list[StageRun](), False

    def goes_on(self) -> None:
        """A change set, and a run of all stages; not within another one."""
        if self._is_running:
            return
        self._is_running = True
        number = len(self.project.change_sets) + 1
        self.project.change_set(f"A <urn:a> <urn:knows> <urn:n{number}>")
        with opened(self.project.settings) as project:
            self.done += run_pipeline(project, f"run-{number}")
        self._is_running = False

    @property
    def refused(self) -> list[str]:
        return [ended.stage for ended in self.done if ended.is_busy]


@pytest.fixture
def life(project: Project, monkeypatch: pytest.MonkeyPatch) -> Life:
    """A project of two epochs whose logs may be consolidated up to the first."""
    project.configure(keep_epochs=1)
    project.query("pairs", PAIRS)
    ingest_change_sets(project, FIRST)
    row = LedgerRow("checks", "validate", 1, SUCCEEDED, to_epoch=len(FIRST))
    record(open_lake(project.settings), [row])
    monkeypatch.setattr(compaction, "_PATIENCE", 0.0)
    return Life(project)


def compact(life: Life) -> list[str]:
    """Compact, with a consolidation that is given no Spark; what it says."""
    said: list[str] = []
    nobody: Any = lambda: NOBODY  # noqa: E731 - a session that is none
    on_spark(nobody, compaction.compact_lake, life.project.settings, "compaction", said.append)
    return said


def test_no_stage_is_refused_at_any_point_of_a_compaction(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    life.project.run()
    points: list[str] = []

    def consolidate(
        spark: object, _: Lake, table: Table, *_settings: object, noting: Noting
    ) -> Consolidated:
        assert spark is NOBODY
        points.append(f"consolidating {table.name}")
        with noting():
            pass
        life.goes_on()
        return Consolidated(2, 1)

    def checkpoint(name: str) -> None:
        if name in MERGES:
            points.append(name)
            life.goes_on()

    original = commit.checkpoint
    for module in [*sys.modules.values()]:
        if vars(module).get("checkpoint") is original:
            monkeypatch.setattr(module, "checkpoint", checkpoint)
    monkeypatch.setattr(compaction, "consolidate", consolidate)
    compact(life)
    assert {*points} == {"consolidating quads", "consolidating triples", *MERGES}
    assert life.refused == []
    assert [ended.errors for ended in life.done if ended.errors] == []
    newest = len(points) + len(FIRST)
    assert life.project.watermark("pairs") == newest
    log = life.project.signed("pairs")
    assert {f"<urn:n{number}>" for number in range(len(FIRST) + 1, newest + 1)} <= {
        term for _, _, solution in log for _, term in solution
    }
    assert len(log) == len({*map(repr, log)})


def overtaken_once() -> tuple[list[bool], Callable[..., Consolidated]]:
    """A consolidation that loses against another commit once; which tries held no claim."""
    tries: list[bool] = []

    def consolidate(_: object, lake: Lake, *_settings: object, **_noting: Noting) -> Consolidated:
        tries.append(not _is_claimed(lake))
        if len(tries) == 1:
            raise Overtaken("quads")
        return Consolidated(2, 1)

    return tries, consolidate


def _is_claimed(lake: Lake) -> bool:
    rows = Lake(lake.root).rows("runs", ["job", "number", "status"]).to_pylist()
    of_ingest = [row for row in rows if row["job"] == "ingest"]
    ended = {row["number"] for row in of_ingest if row["status"] != "claimed"}
    return any(row["number"] not in ended for row in of_ingest)


def test_a_consolidation_that_lost_is_tried_once_more_alone(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries, consolidate = overtaken_once()
    monkeypatch.setattr(compaction, "consolidate", consolidate)
    compact(life)
    assert tries == [True, False, True]


def test_a_log_is_left_as_it_is_if_an_ingest_goes_on_and_on(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries, consolidate = overtaken_once()
    monkeypatch.setattr(compaction, "consolidate", consolidate)
    claim(open_lake(life.project.settings), "ingest", "busy", lease_seconds=60)
    said = compact(life)
    assert len(tries) == 1
    assert any(line.startswith(f"{QUADS.name} is left") and "run busy" in line for line in said)


def test_what_another_run_is_at_work_on_is_left_to_it_and_the_rest_is_done(life: Life) -> None:
    lake = open_lake(life.project.settings)
    number = claim(lake, "ingest", "the other run", lease_seconds=60)
    life.goes_on()
    summaries: dict[str, Any] = {ended.stage: ended.summary for ended in life.done}
    assert summaries["ingest"] == "waits for another run"
    assert summaries["maintain"] == "1 of 1 query touched"
    assert "appended" in summaries["publish"]
    assert [type(error) for ended in life.done for error in ended.errors] == [BusyError]
    record(lake, [LedgerRow("the other run", "ingest", number, SUCCEEDED)])
