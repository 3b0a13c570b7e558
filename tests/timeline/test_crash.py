"""Killed runs over streams: the next one leaves the tables of an undisturbed run."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.support.killed import call_killed
from tests.support.laws import Seeds
from tests.support.projects.project import Project
from tests.support.streams.projects import answer_log, readings
from tests.support.streams.sensors import FILES, HOT, ROOMS, SENSORS, arrive, sensors
from weir.lake.delta.commit import KILL_AT

POINTS = [
    f"{job}:{moment}:{table}"
    for job, table in (
        ("ingest", "late"),
        ("ingest", "streams/readings"),
        ("ingest", "stream_epochs"),
        ("ingest", "transactions"),
        ("maintain", "embeddings/hot"),
        ("maintain", "embeddings/steady"),
        ("maintain", "output_streams/steady"),
        ("maintain", "consolidation"),
        ("validate", "quality"),
        ("validate", "runs"),
        ("publish", "answers/hot"),
        ("publish", "answers/steady"),
        ("publish", "runs"),
    )
    for moment in ("before", "after")
]
"""In the order in which a run passes them: what a killed one has left, the next one meets."""
_LATE_FOR_SECONDS = 30
_DECLARED = SENSORS | {"stream": SENSORS["stream"] | {"lateness": f"PT{_LATE_FOR_SECONDS}S"}}
_PROGRAM = """\
%+ stream: readings
%+ unit: PT5S
%+ prefixes: {"": "http://example.org/"}
%+ atoms: {"of(S)": "?R :of ?S", "known(S)": {graph: "?S :in ?Room"}}
%+ write_stream: {name: lost_ones, "lost(S)": "?S a :Lost"}
@T seen(S) <- win^3 @T of(S).
steady(S) <- win^1 box seen(S).
lost(S) <- known(S), not win^6 diamond of(S).
"""
_LEAST_ROWS = "weir.timeline.consolidation._LEAST_ROWS"
_CONSOLIDATED = "weir.maintain.instant_course.consolidated"


def killed_at(project: Project, point: str) -> None:
    """Run all stages in a process that dies at `point`."""
    job, moment, table = point.split(":")
    if table == "consolidation":
        call_killed(_consolidate, project, f"{job}:{moment}:embeddings/hot", at="")
    else:
        call_killed(_run, project, at=point)


def _run(project: Project) -> None:
    with mock.patch(_LEAST_ROWS, 10**9):
        project.run()


def _consolidate(project: Project, point: str) -> None:
    """Die at the second commit of the embeddings: the first has new rows."""
    from weir.timeline.consolidation import consolidated

    def and_die(*arguments: Any) -> Any:
        os.environ[KILL_AT] = point
        return consolidated(*arguments)

    with mock.patch(_LEAST_ROWS, -(10**9)), mock.patch(_CONSOLIDATED, and_die):
        project.run()


def history(seed: int) -> list[str]:
    """Files of readings: on time, late, too late, and with windows that end."""
    rng = random.Random(f"killed {seed}")
    files = []
    now = 2 * _LATE_FOR_SECONDS
    for _ in range(len(POINTS) + 1):
        seconds = [now + rng.randint(0, 15) for _ in range(rng.randint(1, 4))]
        seconds += [
            max(0, now - rng.randint(1, _LATE_FOR_SECONDS)) for _ in range(rng.choice((0, 1, 3)))
        ]
        seconds.append(now - 2 * _LATE_FOR_SECONDS)
        # The window of the readings before ends.
        now = max(seconds) + rng.randint(11, 25)
        files.append(readings(*((rng.choice(("s1", "s2")), second) for second in (*seconds, now))))
    return files


def project_of(folder: Path) -> Project:
    project = sensors(folder).declare(ROOMS, _DECLARED)
    project.program("steady", _PROGRAM)
    project.run()
    return project


def contents(project: Project) -> dict[str, list[tuple[Any, ...]]]:
    """What ingest recorded of the stream, without the columns that differ from run to run."""
    tables = {}
    for table in ("streams/readings", "stream_epochs", "late", "output_streams/steady"):
        names = [name for name in project.columns(table) if name != "run_id"]
        tables[table] = project.rows(table, *names)
    return tables


@pytest.mark.usefixtures("slow")
@pytest.mark.law("killed streams")
def test_runs_that_are_killed_at_every_commit_leave_the_tables_of_an_undisturbed_run(
    tmp_path: Path, seeds: Seeds
) -> None:
    """Each killed run takes up what the one before left; what it published is right."""
    first, *files = history(seeds.one())
    project, undisturbed = (project_of(tmp_path / name) for name in ("killed", "undisturbed"))
    for side in (project, undisturbed):
        side.write("events/00.nt", first)
        side.run()
    for number, file in enumerate(files, start=1):
        undisturbed.write(f"events/{number:02}.nt", file)
    undisturbed.run()
    expected = {name: answer_log(undisturbed, name) for name in ("hot", "steady")}
    for number, (point, file) in enumerate(zip(POINTS, files, strict=True), start=1):
        project.write(f"events/{number:02}.nt", file)
        killed_at(project, point)
        for name, log in expected.items():
            assert {*answer_log(project, name)} <= {*log}, point
    project.run()
    assert {name: answer_log(project, name) for name in expected} == expected
    assert contents(project) == contents(undisturbed)


@pytest.mark.usefixtures("sampled")
def test_a_run_that_is_killed_after_each_leg_goes_on_with_the_next(tmp_path: Path) -> None:
    project, undisturbed = (project_of(tmp_path / name) for name in ("killed", "undisturbed"))
    for side in (project, undisturbed):
        arrive(side, *range(len(FILES)))
    undisturbed.run()
    for _ in range(2):
        killed_at(project, "maintain:after:embeddings/hot")
    project.run()
    assert answer_log(project, "hot") == answer_log(undisturbed, "hot")


@pytest.mark.usefixtures("sampled")
def test_what_the_ledger_says_of_a_log_is_not_taken_for_one_that_has_begun_again(
    tmp_path: Path,
) -> None:
    """Late events did not touch it before an edit; the run after that dies between two commits."""
    project, undisturbed = (sensors(tmp_path / name) for name in ("killed", "undisturbed"))
    late = [readings(("s2", second)) for second in (15, 16)]
    for side in (project, undisturbed):
        side.query("hot", HOT.replace("ex:of ?sensor", "ex:of ?sensor , ex:s1"))
        for number, file in enumerate([*FILES[:2], *late, FILES[3]]):
            side.write(f"events/{number}.nt", file)
            side.run()
        side.query("hot", HOT)
    undisturbed.run()
    killed_at(project, "maintain:after:embeddings/hot")
    project.run()
    assert answer_log(project, "hot") == answer_log(undisturbed, "hot")
