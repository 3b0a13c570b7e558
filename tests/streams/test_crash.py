"""A killed run over streams: the next one leaves the log of an undisturbed run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.killed import run_killed
from tests.support.projects.maintain import MaintainedProject
from tests.support.streams.sensors import FILES, answer_log, arrive, run, sensors

_RUN = """
import sys
from pathlib import Path
from jobs.settings import Settings
from tests.support.projects.ingest import no_spark
from tests.support.stages import STAGES

settings = Settings.load(Path(sys.argv[1]) / "weir.toml")
for stage in STAGES.values():
    stage(no_spark, settings, "killed")
"""
POINTS = [
    f"{job}:{moment}:{table}"
    for job, table in (
        ("ingest", "streams/readings"),
        ("ingest", "stream_epochs"),
        ("maintain", "embeddings/hot"),
        ("validate", "quality"),
        ("publish", "answers/hot"),
    )
    for moment in ("before", "after")
]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> MaintainedProject:
    """A project after two runs; the second has a correction, so two legs."""
    project = sensors(tmp_path_factory.mktemp("undisturbed"))
    for numbers in ((0, 1), range(2, len(FILES))):
        arrive(project, *numbers)
        run(project)
    return project


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_run_that_is_run_again_leaves_the_same_log(
    undisturbed: MaintainedProject, tmp_path: Path, point: str
) -> None:
    project = sensors(tmp_path)
    arrive(project, 0, 1)
    run(project)
    arrive(project, *range(2, len(FILES)))
    run_killed(_RUN, str(project.folder), at=point)
    run(project)
    assert answer_log(project) == answer_log(undisturbed)


def test_a_run_that_is_killed_after_each_leg_goes_on_with_the_next(
    undisturbed: MaintainedProject, tmp_path: Path
) -> None:
    project = sensors(tmp_path)
    arrive(project, *range(len(FILES)))
    for _ in range(2):
        run_killed(_RUN, str(project.folder), at="maintain:after:embeddings/hot")
    run(project)
    assert answer_log(project) == answer_log(undisturbed)
