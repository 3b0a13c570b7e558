"""Why triples of a derived graph changed that rules derive, in a lake."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.projects.project import PATCHES, Project
from weir.compute.session import Spark
from weir.definitions.catalog import Catalog
from weir.errors import ConfigurationError
from weir.project import Project as Opened
from weir.why.explain import explain_epoch
from weir.why.explanation import Derivation, Explanation
from weir.why.rows import Value

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
BELOW = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
OWL = """%+ graph: urn:d:owl
%+ rules: owl-rl
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A pump that is an asset by two steps of the schema, until the second is deleted."""
    project = Project(tmp_path_factory.mktemp("why") / "project").declare(PATCHES)
    project.program("owl", OWL)
    project.change(
        f"A <urn:p1> {TYPE} <urn:Pump>",
        f"A <urn:Pump> {BELOW} <urn:Machine>",
        "A <urn:unread> <urn:p> <urn:q>",
    )
    project.run()
    project.change(f"A <urn:Machine> {BELOW} <urn:Asset>")
    project.run()
    project.change(f"D <urn:Machine> {BELOW} <urn:Asset>")
    project.run()
    return project


def explanation(
    project: Project, epoch: int, subject: str, spark: Spark | None = None
) -> Explanation:
    """Why a subject became an asset at an epoch, or is none any more."""
    with Opened(project.settings, spark) as opened:
        definition = Catalog.of(opened.settings).member("owl")
        values = {"subject": [Value([subject])], "object": [Value(["<urn:Asset>"])]}
        explained = explain_epoch(opened, definition, epoch, values, 10)
    (one,) = explained.rows
    return one


def test_the_newest_epoch_that_changed_such_a_row_is_the_default(project: Project) -> None:
    values = {"subject": [Value(["<urn:p1>"])], "object": [Value(["<urn:Asset>"])]}
    unchanged = {**values, "object": [Value(["<urn:Machine>"])]}
    with Opened(project.settings) as opened:
        definition = Catalog.of(opened.settings).member("owl")
        assert explain_epoch(opened, definition, None, values, 1).epoch == 3
        with pytest.raises(ConfigurationError, match=r"It had such a row then"):
            explain_epoch(opened, definition, None, unchanged, 1)


def rules_of(derivation: Derivation) -> list[str]:
    """The rules of a derivation, from the conclusion on."""
    below = (ground for ground in derivation.of if isinstance(ground, Derivation))
    return [derivation.rule, *(rule for ground in below for rule in rules_of(ground))]


@pytest.mark.parametrize(("epoch", "weight"), [(2, 1), (3, -1)], ids=["appears", "vanishes"])
def test_the_triple_of_the_schema_and_the_rules_are_named(
    project: Project, epoch: int, weight: int
) -> None:
    one = explanation(project, epoch, "<urn:p1>")
    assert one.weight == weight
    assert [change.triple for change in one.changes] == [("<urn:Machine>", BELOW, "<urn:Asset>")]
    assert one.match is not None
    assert one.match.derivation is not None
    assert {*rules_of(one.match.derivation)} >= {"owl-rl cax-sco", "owl-rl asserted"}
    assert ("<urn:p1>", TYPE, "<urn:Pump>") in one.match.parts


@pytest.mark.usefixtures("sampled")
def test_on_spark_the_explanation_is_the_same(
    project: Project, quick_spark: SparkSession, tmp_path: Path
) -> None:
    on_spark = project.copy(tmp_path / "spark")
    on_spark.configure(driver_rows=0)
    by_duckdb = explanation(project, 2, "<urn:p1>")
    by_spark = explanation(on_spark, 2, "<urn:p1>", quick_spark)
    assert by_spark.changes == by_duckdb.changes
    assert by_spark.match is not None
    assert by_spark.match.derivation is not None
