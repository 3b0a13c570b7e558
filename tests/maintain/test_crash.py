"""A stage that is killed at any commit: the next run leaves what an undisturbed run leaves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jobs.publish_answers import publish_answers
from jobs.validate_answers import validate_answers
from tests.support.killed import run_killed
from tests.support.projects.graphs import FIRST, KNOWERS, LATER, PAIRS, PRODUCT, ingest_change_sets
from tests.support.projects.maintain import MaintainedProject

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

QUERIES = ("edited", "fresh", "steady", "still")
TABLES = {
    "maintain": ("claim", "embeddings/edited", "embeddings/steady", "runs"),
    "validate": ("claim", "quality", "runs"),
    "publish": ("claim", "answers/edited", "answers/fresh", "answers/steady", "runs"),
}
POINTS = [
    f"{job}:{moment}:{table}"
    for job, tables in TABLES.items()
    for table in tables
    for moment in ("before", "after")
]
# Spark is started only where it is needed: not for claims and small publications.
_RUN = """
import sys
from pathlib import Path
from jobs.settings import Settings
from lake.session import start

stage, settings = sys.argv[1], Settings.load(Path(sys.argv[2]) / "weir.toml")
def session():
    return start("weir-tests-killed", driver_memory="1g")
match stage:
    case "maintain":
        from jobs.maintain_queries import maintain_queries
        maintain_queries(session, settings, "killed")
    case "validate":
        from jobs.validate_answers import validate_answers
        validate_answers(None if sys.argv[3] == "claim" else session(), settings, "killed")
    case "publish":
        from jobs.publish_answers import publish_answers
        publish_answers(None, settings, "killed")
"""


@pytest.fixture(scope="module")
def lakes(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, MaintainedProject]:
    """The project before each stage, and after the last; with a query in every mode."""
    folder = tmp_path_factory.mktemp("lakes")
    (folder / "maintain").mkdir()
    project = MaintainedProject(folder / "maintain")
    project.begin()
    project.query("steady", PRODUCT)
    project.query("edited", PAIRS)
    project.query("still", "SELECT ?a WHERE { ?a <urn:nothing> ?b }")
    ingest_change_sets(project, FIRST)
    project.run(spark)
    ingest_change_sets(project, LATER)
    project.query("edited", "SELECT ?a ?b WHERE { ?a <urn:knows> ?c . ?c <urn:name> ?b }")
    project.query("fresh", KNOWERS)
    before = {"maintain": project}
    before["validate"] = before["maintain"].copy(folder / "validate")
    modes = before["validate"].maintain(spark).modes
    assert modes == {
        "edited": "migrated",
        "fresh": "initial",
        "steady": "incremental",
        "still": "untouched",
    }
    before["publish"] = before["validate"].copy(folder / "publish")
    validate_answers(spark, before["publish"].settings, "test")
    before["done"] = before["publish"].copy(folder / "done")
    publish_answers(spark, before["done"].settings, "test")
    return before


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_run_that_is_run_again_leaves_the_same_answers(
    spark: SparkSession, lakes: dict[str, MaintainedProject], tmp_path: Path, point: str
) -> None:
    project = lakes[point.partition(":")[0]].copy(tmp_path / "project")
    kill_and_recover(spark, project, lakes["done"], point)


def test_a_run_that_is_killed_where_spark_wrote_leaves_the_same_answers(
    spark: SparkSession, lakes: dict[str, MaintainedProject], tmp_path: Path
) -> None:
    project = lakes["maintain"].copy(tmp_path / "project")
    project.begin(driver_rows=0, broadcast_rows=1)
    kill_and_recover(spark, project, lakes["done"], "maintain:after:embeddings/steady")


def kill_and_recover(
    spark: SparkSession, project: MaintainedProject, done: MaintainedProject, point: str
) -> None:
    """Kill a stage at `point`, run all stages, and compare with the expected tables."""
    stage, _, table = point.split(":")
    run_killed(_RUN, stage, str(project.folder), table, at=point)
    project.begin()
    project.run(spark)
    for query in QUERIES:
        assert project.signed(query) == done.signed(query)
        assert stored(project, query) == stored(done, query)
        assert project.watermark(query) == done.watermark(query)
    before = project.all_versions()
    assert project.run(spark).modes == {}
    assert project.all_versions() == before


def stored(project: MaintainedProject, query: str) -> Counter[tuple[object, ...]]:
    """The rows of an embedding table as they are."""
    return Counter(tuple(row.values()) for row in project.table(f"embeddings/{query}"))
