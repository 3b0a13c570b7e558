"""A stage that dies at any commit: the next run leaves what an undisturbed run leaves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jobs.compute.session import Spark
from jobs.publish_answers import publish_answers
from jobs.validate_answers import validate_answers
from tests.support.dying import dies_at
from tests.support.killed import run_killed
from tests.support.projects.graphs import FIRST, KNOWERS, LATER, PAIRS, PRODUCT, ingest_change_sets
from tests.support.projects.ingest import no_spark
from tests.support.projects.maintain import MaintainedProject
from tests.support.stages import STAGES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
# Spark is started only where it is needed.
_RUN = """
import sys
from pathlib import Path
from jobs.maintain_queries import maintain_queries
from jobs.settings import Settings
from lake.session import start

settings = Settings.load(Path(sys.argv[1]) / "weir.toml")
maintain_queries(lambda: start("weir-tests-killed", driver_memory="1g"), settings, "killed")
"""


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, MaintainedProject]:
    """The project before each stage, and after the last; with a query in every mode."""
    folder = tmp_path_factory.mktemp("lakes")
    (folder / "maintain").mkdir()
    project = MaintainedProject(folder / "maintain")
    project.begin()
    project.query("steady", PRODUCT)
    project.query("edited", PAIRS)
    project.query("still", "SELECT ?a WHERE { ?a <urn:nothing> ?b }")
    ingest_change_sets(project, FIRST)
    project.run(no_spark)
    ingest_change_sets(project, LATER)
    project.query("edited", "SELECT ?a ?b WHERE { ?a <urn:knows> ?c . ?c <urn:name> ?b }")
    project.query("fresh", KNOWERS)
    before = {"maintain": project}
    before["validate"] = before["maintain"].copy(folder / "validate")
    modes = before["validate"].maintain(no_spark).modes
    assert modes == {
        "edited": "migrated",
        "fresh": "initial",
        "steady": "incremental",
        "still": "untouched",
    }
    before["publish"] = before["validate"].copy(folder / "publish")
    validate_answers(no_spark, before["publish"].settings, "test")
    before["done"] = before["publish"].copy(folder / "done")
    publish_answers(no_spark, before["done"].settings, "test")
    return before


@pytest.mark.parametrize("point", POINTS)
def test_a_run_that_dies_and_is_run_again_leaves_the_same_answers(
    lakes: dict[str, MaintainedProject], tmp_path: Path, point: str
) -> None:
    stage = point.partition(":")[0]
    project = lakes[stage].copy(tmp_path / "project")
    with dies_at(point):
        STAGES[stage](no_spark, project.settings, "killed")
    recover(no_spark, project, lakes["done"])


def test_a_run_that_is_killed_where_spark_wrote_leaves_the_same_answers(
    spark: SparkSession, lakes: dict[str, MaintainedProject], tmp_path: Path
) -> None:
    project = lakes["maintain"].copy(tmp_path / "project")
    project.begin(driver_rows=0, broadcast_rows=1)
    run_killed(_RUN, str(project.folder), at="maintain:after:embeddings/steady")
    recover(spark, project, lakes["done"])


def recover(spark: Spark, project: MaintainedProject, done: MaintainedProject) -> None:
    """Run all stages, and compare with the expected tables; there is then nothing to do."""
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
