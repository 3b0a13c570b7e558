"""Triples are rebuilt from quads, by Spark."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from tests.audit.test_audit import wrong_triple
from tests.audit.test_repair import damaged_file
from tests.support.opened import on_spark
from tests.support.oracles.projects import check_answers
from tests.support.projects.project import Project
from weir.audit.repair import repair_lake
from weir.lake.lake import Lake
from weir.project import open_lake


@pytest.mark.parametrize("damage", [wrong_triple, damaged_file("triples")], ids=["row", "file"])
def test_triples_are_rebuilt_from_quads(
    project: Project,
    spark: SparkSession,
    damage: Callable[[Project, Lake], None],
) -> None:
    expected = project.rows("triples")
    damage(project, open_lake(project.settings))
    result = on_spark(spark, repair_lake, project.settings, "repair", full=True)
    assert result.done[0].table == "triples"
    assert project.rows("triples") == expected
    project.run()
    project.change('A <urn:c> <urn:title> "c" <urn:g>', 'A <urn:c> <urn:room> "4" <urn:g>')
    project.run()
    check_answers(project, "rooms", 4, 4)
