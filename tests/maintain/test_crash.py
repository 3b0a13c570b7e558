"""A stage that dies at any commit: the next run leaves what an undisturbed run leaves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.dying import dies_at
from tests.support.killed import run_killed
from tests.support.opened import no_spark
from tests.support.projects.graphs import FIRST, KNOWERS, LATER, PAIRS, PRODUCT, ingest_change_sets
from tests.support.projects.project import PATCHES, Project
from weir.compute.session import Spark

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
from weir.lake.delta.session import start
from tests.support.projects.project import Project

Project(Path(sys.argv[1])).maintain(lambda: start("weir-tests-killed", driver_memory="1g"))
"""


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Project]:
    """The project before each stage, and after the last; with a query in every mode."""
    folder = tmp_path_factory.mktemp("lakes")
    project = Project(folder / "maintain").declare(PATCHES)
    project.query("steady", PRODUCT)
    project.query("edited", PAIRS)
    project.query("still", "SELECT ?a WHERE { ?a <urn:nothing> ?b }")
    ingest_change_sets(project, FIRST)
    project.run()
    ingest_change_sets(project, LATER)
    project.query("edited", "SELECT ?a ?b WHERE { ?a <urn:knows> ?c . ?c <urn:name> ?b }")
    project.query("fresh", KNOWERS)
    before = {"maintain": project}
    before["validate"] = before["maintain"].copy(folder / "validate")
    modes = before["validate"].maintain().modes
    assert modes == {
        "edited": "edited",
        "fresh": "initial",
        "steady": "incremental",
        "still": "untouched",
    }
    before["publish"] = before["validate"].copy(folder / "publish")
    before["publish"].validate()
    before["done"] = before["publish"].copy(folder / "done")
    before["done"].publish()
    return before


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("point", POINTS)
def test_a_run_that_dies_and_is_run_again_leaves_the_same_answers(
    lakes: dict[str, Project], tmp_path: Path, point: str
) -> None:
    stage = point.partition(":")[0]
    project = lakes[stage].copy(tmp_path / "project")
    with dies_at(point):
        project.stages(stage)
    recover(no_spark, project, lakes["done"])


def test_a_run_that_is_killed_where_spark_wrote_leaves_the_same_answers(
    spark: SparkSession, lakes: dict[str, Project], tmp_path: Path
) -> None:
    project = lakes["maintain"].copy(tmp_path / "project")
    project.configure(driver_rows=0, broadcast_rows=1)
    run_killed(_RUN, str(project.folder), at="maintain:after:embeddings/steady")
    recover(spark, project, lakes["done"])


def recover(spark: Spark, project: Project, done: Project) -> None:
    """Run all stages, and compare with the expected tables; there is then nothing to do."""
    project.configure()
    project.run(spark)
    for query in QUERIES:
        assert project.signed(query) == done.signed(query)
        assert stored(project, query) == stored(done, query)
        assert project.watermark(query) == done.watermark(query)
    before = project.versions()
    assert project.run(spark).modes == {}
    assert project.versions() == before


def stored(project: Project, query: str) -> Counter[tuple[object, ...]]:
    """The rows of an embedding table as they are."""
    return Counter(tuple(row.values()) for row in project.table(f"embeddings/{query}"))
