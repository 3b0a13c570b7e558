"""Refresh where Spark computes every relation: the rounds are those of the driver."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.support.opened import on_spark
from tests.support.projects.replicas import START, ReplicaProject
from tests.support.services.evaluations import (
    EVERY,
    PlannedRemote,
    declared,
    filled,
    random_steps,
)
from weir.refresh.stage import refresh_remotes

STEPS = 4
_OWN = ("asked_at", "answered_at", "seconds", "request_id", "run_id")


def rounds(project: ReplicaProject) -> list[tuple[Any, ...]]:
    """The rows of the inbox, without ids and times."""
    return sorted(
        (tuple(str(value) for name, value in row.items() if name not in _OWN))
        for row in project.table("replicas/wd")
    )


def test_spark_finds_the_rounds_that_the_driver_finds(tmp_path: Path, spark: SparkSession) -> None:
    here, there = tmp_path / "driver", tmp_path / "spark"
    for folder in (here, there):
        declared(folder, budget={"keys": 9, "requests": 9}, explore=1)
    started: list[Path] = []
    for step in random_steps(3, STEPS):
        for folder in (here, there):
            remote = filled(PlannedRemote(step=step, folder=folder))
            project = ReplicaProject(folder, remote, START + EVERY * step.number)
            project.configure()
            if step.patch:
                project.change_set(*step.patch)
                project.stages("ingest", "maintain")
            if folder == there:
                project.configure(driver_rows=0)

            def session(of: Path = folder) -> SparkSession:
                started.append(of)
                return spark

            result = on_spark(
                session,
                refresh_remotes,
                project.settings,
                "refresh",
                surroundings=project.surroundings(),
            )
            assert not result.errors
    assert {*started} == {there}
    of_spark = rounds(ReplicaProject(there))
    assert of_spark == rounds(ReplicaProject(here))
    assert len(of_spark) > 9
