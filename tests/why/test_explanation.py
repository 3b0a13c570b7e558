"""Why rows of the answers of a lake changed: by each operator, and on Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.projects.project import PATCHES, Project
from weir.definitions.catalog import Catalog
from weir.errors import ConfigurationError
from weir.project import Project as Opened
from weir.why.explanation import Explanation, explanations, newest_change

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
PREFIX = "PREFIX : <http://e/>\n"
QUERIES = {
    "rooms": "SELECT ?x ?r { ?x :room ?r ; a :Vase }",
    "stored_away": "SELECT ?x { ?x a :Vase FILTER NOT EXISTS { ?x :room ?r } }",
    "other": "SELECT ?x { ?x a :Vase MINUS { ?x :room :hall } }",
    "labels": "SELECT ?x ?l { ?x a :Vase OPTIONAL { ?x :label ?l } }",
    "counts": "SELECT (COUNT(*) AS ?n) { ?x :number ?v }",
    "reach": "SELECT ?y { :a :next+ ?y }",
    "named": "SELECT ?n { :v1 :name ?n }",
    "first": "SELECT ?x { ?x :number ?n } ORDER BY ?n LIMIT 1",
}
CHANGES = (
    (
        *(f"A <http://e/v1> {TYPE} <http://e/Vase>", f"A <http://e/v2> {TYPE} <http://e/Vase>"),
        *(
            "A <http://e/v1> <http://e/room> <http://e/hall>",
            'A <http://e/v1> <http://e/label> "x"',
        ),
        *(
            "A <http://e/v1> <http://e/name> <http://e/n>",
            "A <http://e/a> <http://e/next> <http://e/b>",
            "A <http://e/c> <http://e/next> <http://e/d>",
        ),
        *('A <http://e/v1> <http://e/number> "2"', 'A <http://e/v2> <http://e/number> "5"'),
    ),
    (
        *(
            "D <http://e/v1> <http://e/room> <http://e/hall>",
            'D <http://e/v1> <http://e/label> "x"',
        ),
        *(
            "A <http://e/v2> <http://e/room> <http://e/hall>",
            "A <http://e/b> <http://e/next> <http://e/c>",
        ),
        *(
            'A <http://e/v3> <http://e/number> "1"',
            "A <http://e/v9> <http://e/unread> <http://e/v1>",
        ),
    ),
)
EXPECTED = {
    "rooms": {"+v2 hall": ["+v2 room hall"], "-v1 hall": ["-v1 room hall"]},
    "stored_away": {"+v1": ["-v1 room hall"], "-v2": ["+v2 room hall"]},
    "other": {"+v1": ["-v1 room hall"], "-v2": ["+v2 room hall"]},
    "labels": {"+v1": ['-v1 label "x"'], '-v1 "x"': ['-v1 label "x"']},
    "counts": {'+"3"': ['+v3 number "1"'], '-"2"': ['+v3 number "1"']},
    "reach": {"+c": ["+b next c"], "+d": ["+b next c"]},
    "named": {},
    "first": {"+v3": ['+v3 number "1"'], "-v1": ['+v3 number "1"']},
}
"""By query, what made each row of epoch 2 change."""


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("why") / "project").declare(PATCHES)
    for name, text in QUERIES.items():
        project.query(name, PREFIX + text)
    for lines in CHANGES:
        project.change_set(*lines)
        project.run()
    return project


def explained(project: Opened, name: str, **values: Sequence[str]) -> Sequence[Explanation]:
    definition = Catalog.of(project.settings).member(name)
    return [*explanations(project, definition, 2, values, 10)]


def short(*terms: str | None) -> str:
    plain = [t.partition("^^")[0] if t and "^^" in t else t for t in terms]
    return " ".join(t.replace("<http://e/", "").strip(">").replace(TYPE, "a") for t in plain if t)


def sign(weight: int) -> str:
    return "+" if weight > 0 else "-"


def shown(explanation: Explanation) -> tuple[str, list[str]]:
    row = sign(explanation.weight) + short(*explanation.row)
    return row, [sign(c.weight) + short(*c.triple) for c in explanation.changes]


@pytest.mark.parametrize("name", QUERIES)
def test_the_changes_that_made_a_row_change_are_named(lived: Project, name: str) -> None:
    with Opened(lived.settings) as project:
        assert dict(map(shown, explained(project, name))) == EXPECTED[name]


def test_a_match_has_what_the_row_needs_beside_the_changes(lived: Project) -> None:
    with Opened(lived.settings) as project:
        for name, match in (("rooms", {"v1 room hall"}), ("reach", {"b next c"})):
            explanation = explained(project, name)[0]
            assert explanation.match is not None
            assert {short(*triple) for triple in explanation.match} >= match


def test_the_newest_epoch_that_changed_an_answer_is_found(lived: Project) -> None:
    with Opened(lived.settings) as project:
        members = Catalog.of(project.settings)
        assert newest_change(project, members.member("rooms")) == 2
        assert newest_change(project, members.member("named")) == 1


def test_rows_are_chosen_by_a_value(lived: Project) -> None:
    with Opened(lived.settings) as project:
        (explanation,) = explained(project, "rooms", x=["<http://e/v1>"])
        assert explanation.weight == -1


@pytest.mark.parametrize(
    ("epoch", "message"),
    [(1, "computed as a whole at epoch 1"), (3, "is computed up to epoch 2")],
)
def test_an_epoch_that_cannot_be_explained_is_refused(
    lived: Project, epoch: int, message: str
) -> None:
    with Opened(lived.settings) as project:
        definition = Catalog.of(project.settings).member("rooms")
        with pytest.raises(ConfigurationError, match=message):
            [*explanations(project, definition, epoch, {}, 10)]


def test_spark_alone_names_the_same_changes(
    lived: Project, tmp_path: Path, quick_spark: SparkSession
) -> None:
    own = lived.copy(tmp_path / "copy")
    own.configure(driver_rows=0)
    with Opened(own.settings, quick_spark) as project:
        for name in ("rooms", "stored_away", "first"):
            assert dict(map(shown, explained(project, name))) == EXPECTED[name]
