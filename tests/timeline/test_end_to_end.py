"""Streams through all stages: events to windows, to answers with corrections."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.projects.project import Project
from tests.support.streams.memory import StreamRow
from tests.support.streams.projects import SECOND, answer_log, local, readings
from tests.support.streams.sensors import FILES, ROOMS, SENSORS, arrive, sensors

pytestmark = pytest.mark.usefixtures("sampled")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNTS = {
    # second of the close: by room, with everything known
    10: {"kitchen": 1, "hall": 2},
    20: {"kitchen": 2},
    30: {"kitchen": 1, "hall": 1},
    40: {"kitchen": 1},
    50: {"hall": 1},
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose stream has no file yet."""
    return sensors(tmp_path / "project")


def state(log: list[StreamRow], second: int) -> dict[str, int]:
    weights: Counter[tuple[str | None, ...]] = Counter()
    for _, instant, weight, row in log:
        if instant <= second * SECOND:
            weights[row] += weight
    return {local(room): int(str(n).split('"')[1]) for (room, n), held in weights.items() if held}


def test_windows_are_published_as_the_frontier_passes_their_end(project: Project) -> None:
    for number in range(len(FILES)):
        arrive(project, number)
        project.run()
    log = answer_log(project, "hot")
    for second, expected in COUNTS.items():
        assert state(log, second) == expected, second


def test_late_events_correct_published_answers_at_a_later_epoch(project: Project) -> None:
    arrive(project, 0)
    project.run()
    arrive(project, 1)
    project.run()
    before = answer_log(project, "hot")
    assert state(before, 10) == {"kitchen": 1, "hall": 1}
    arrive(project, 2)
    project.run()
    after = answer_log(project, "hot")
    assert {*before} < {*after}
    assert state(after, 10) == COUNTS[10]
    corrections = [row for row in after if row not in before and row[1] == 10 * SECOND]
    assert {(row[0], row[2]) for row in corrections} == {(4, -1), (4, 1)}


def test_one_run_gives_the_log_of_many(project: Project, tmp_path: Path) -> None:
    at_once = project.copy(tmp_path / "at_once")
    for number in range(len(FILES)):
        arrive(project, number)
        project.run()
    arrive(at_once, *range(len(FILES)))
    at_once.run()
    assert answer_log(at_once, "hot") == answer_log(project, "hot")


def test_spark_alone_publishes_the_same_log(
    project: Project, tmp_path: Path, spark: SparkSession
) -> None:
    on_spark = sensors(
        tmp_path / "spark", driver_rows=0, driver_table_bytes=0, driver_parse_bytes=0
    )
    for numbers in ((0, 1), (2, 3)):
        arrive(project, *numbers)
        project.run()
        arrive(on_spark, *numbers)
        on_spark.run(spark)
    assert answer_log(on_spark, "hot") == answer_log(project, "hot")


def test_a_query_that_is_registered_later_has_the_same_answers_at_every_instant(
    project: Project,
) -> None:
    text = (project.folder / "queries/hot.rq").read_text()
    project.remove_query("hot")
    arrive(project, *range(len(FILES)))
    project.run()
    project.query("hot", text)
    project.run()
    log = answer_log(project, "hot")
    for second, expected in COUNTS.items():
        assert state(log, second) == expected, second


def test_an_edited_query_publishes_the_difference_at_every_instant(project: Project) -> None:
    arrive(project, 0, 1)
    project.run()
    text = (project.folder / "queries/hot.rq").read_text()
    project.query("hot", text.replace("?sensor ex:in ?room", "?sensor ex:in ?room . FILTER(true)"))
    arrive(project, 2, 3)
    project.run()
    log = answer_log(project, "hot")
    for second, expected in COUNTS.items():
        assert state(log, second) == expected, second
    project.query("hot", text.replace("STEP PT10S", "STEP PT20S"))
    project.run()
    edited = answer_log(project, "hot")
    assert {*log} < {*edited}
    assert state(edited, 10) == {"kitchen": 1, "hall": 2}
    assert state(edited, 20) == {"kitchen": 1, "hall": 2}
    assert state(edited, 30) == COUNTS[30]


@pytest.mark.usefixtures("slow")
def test_consolidation_leaves_the_answers_of_later_runs_as_they_are(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrive(project, 0, 1)
    project.run()
    arrive(project, 2)
    project.run()
    consolidated = project.copy(tmp_path / "consolidated")
    monkeypatch.setattr("weir.timeline.consolidation._LEAST_ROWS", -1000)
    for number in range(10_000, 50_000, 10_000):
        late = readings(("s1", number), ("s2", number + 3), ("s1", number - 50))
        for side in (project, consolidated):
            side.write(f"events/{number:05}.nt", late)
        consolidated.run()
        with monkeypatch.context() as patched:
            patched.setattr("weir.timeline.consolidation._LEAST_ROWS", 10**9)
            project.run()
    assert answer_log(consolidated, "hot") == answer_log(project, "hot")
    rows = [len(side.rows("embeddings/hot")) for side in (consolidated, project)]
    assert rows[0] < rows[1]


def test_an_event_older_than_what_is_consolidated_has_the_query_recomputed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.timeline.consolidation._LEAST_ROWS", -1000)
    arrive(project, 0, 1)
    project.run()
    project.write("events/2.nt", readings(("s1", 10_000)))
    project.run()
    project.write("events/3.nt", readings(("s1", 10_100)))
    project.run()
    project.declare(ROOMS, SENSORS | {"stream": SENSORS["stream"] | {"lateness": "P1D"}})
    project.write("events/4.nt", readings(("s2", 7)))
    project.run()
    (mode,) = {row[0] for row in project.rows("runs", "mode", "query") if row[0] == "rebased"}
    assert mode == "rebased"
    assert state(answer_log(project, "hot"), 10) == COUNTS[10]
