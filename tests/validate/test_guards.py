"""An answer that loses much at once is held with its figures until a person accepts it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.opened import has_pending_work
from tests.support.projects.project import PATCHES, Project
from weir.errors import EXIT_QUALITY, QualityError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LABELS = "SELECT ?thing ?label { ?thing <http://x/label> ?label }"
SIZE = 133


def label(number: int, text: str = "a") -> str:
    return f'<http://x/{number}> <http://x/label> "{text}"'


def added(count: int = SIZE) -> list[str]:
    return [f"A {label(number)}" for number in range(count)]


def deleted(count: int = SIZE) -> list[str]:
    return [f"D {label(number)}" for number in range(count)]


@pytest.fixture
def published(labelled: Project, tmp_path: Path) -> Project:
    """A project that has published the labels of 133 things."""
    return labelled.copy(tmp_path / "published")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """What `published` copies."""
    project = Project(tmp_path_factory.mktemp("labelled")).declare(PATCHES)
    project.query("labels", LABELS)
    project.change(*added())
    project.run()
    return project


def failure(project: Project) -> str:
    """Why validate fails."""
    project.ingest()
    project.maintain()
    with pytest.raises(QualityError) as caught:
        project.validate()
    assert caught.value.exit_code == EXIT_QUALITY
    return str(caught.value)


def rows(project: Project) -> int:
    """How many rows the published answer has."""
    return sum(int(row["weight"]) for row in project.table("answers/labels"))


def test_an_answer_that_would_become_empty_is_held_with_its_figures(published: Project) -> None:
    published.change_set(*deleted())
    said = failure(published)
    assert "133 of 133 published rows deleted, max_change is 0.5 (queries/labels.rq)" in said
    with pytest.raises(QualityError, match="weir run --accept labels"):
        published.publish()
    assert rows(published) == SIZE


def test_rows_that_are_replaced_count_as_deleted(published: Project) -> None:
    lines = [f"A {label(number, 'b')}" for number in range(SIZE)]
    published.change_set(*deleted(), *lines)
    assert "133 of 133 published rows deleted" in failure(published)


def test_a_row_that_is_deleted_and_added_again_is_not_deleted(published: Project) -> None:
    published.change_set(*deleted())
    published.change_set(*added())
    published.run()
    assert rows(published) == SIZE


def test_half_of_an_answer_may_go_at_once(published: Project) -> None:
    published.change(*deleted(SIZE // 2))
    published.run()
    assert rows(published) == SIZE - SIZE // 2


def test_a_small_answer_may_become_empty(project: Project) -> None:
    project.query("labels", LABELS)
    project.change(*added(100))
    project.run()
    project.change(*deleted(100))
    project.run()
    assert rows(project) == 0


def test_an_accepted_answer_is_published(published: Project) -> None:
    published.change_set(*deleted())
    failure(published)
    published.validate(accept=["labels"])
    published.publish()
    assert rows(published) == 0


def test_what_is_accepted_are_the_figures_that_were_reported(published: Project) -> None:
    published.change_set(*deleted(100))
    failure(published)
    published.change(*[f"D {label(number)}" for number in range(100, SIZE)])
    published.maintain()
    with pytest.raises(QualityError, match="133 of 133"):
        published.validate(accept=["labels"])


def test_nothing_but_guards_can_be_accepted(project: Project) -> None:
    project.query("labels", f"#+ max_rows: 2\n{LABELS}")
    project.change(*added(3))
    assert "max_rows is 2" in failure(project)
    with pytest.raises(QualityError, match="max_rows is 2"):
        project.validate(accept=["labels"])


def test_an_edit_may_change_any_number_of_rows(published: Project) -> None:
    published.query("labels", LABELS.replace("http://x/label", "http://x/title"))
    published.run()
    assert rows(published) == 0


def test_the_state_of_a_held_answer_is_not_recomputed(published: Project) -> None:
    published.change_set(*deleted())
    failure(published)
    # Validate has nothing against the stored state, so that it is not recomputed for that.
    assert published.maintain().modes == {}


def test_fewer_rows_than_min_rows_hold_an_answer(project: Project) -> None:
    project.query("labels", f"#+ min_rows: 3\n{LABELS}")
    project.change(*added(2))
    assert "2 rows, min_rows is 3 (queries/labels.rq:1)" in failure(project)
    project.change(*added(3))
    project.run()
    assert rows(project) == 3


def test_a_limit_that_is_edited_counts_at_once_and_can_be_accepted(published: Project) -> None:
    published.query("labels", f"#+ min_rows: 200\n{LABELS}")
    for _ in range(2):
        with pytest.raises(QualityError, match="133 rows, min_rows is 200"):
            published.validate()
    published.validate(accept=["labels"])
    assert not has_pending_work(published.settings)
    published.query("labels", f"#+ max_rows: 100\n{LABELS}")
    with pytest.raises(QualityError, match="133 rows, max_rows is 100"):
        published.validate()
    published.query("labels", LABELS)
    assert published.validate().did_something
    assert not has_pending_work(published.settings)


def test_a_guard_can_be_set_to_permit_all(project: Project) -> None:
    project.query("labels", f"#+ max_change: 1\n{LABELS}")
    project.change(*added())
    project.run()
    project.change(*deleted())
    project.run()
    assert rows(project) == 0


def test_spark_counts_the_deleted_rows_that_duckdb_counts(
    published: Project, quick_spark: SparkSession
) -> None:
    published.change_set(*deleted(100))
    published.configure(driver_rows=0)
    published.ingest(lambda: quick_spark)
    published.maintain(lambda: quick_spark)
    with pytest.raises(QualityError, match="100 of 133 published rows deleted"):
        published.validate(lambda: quick_spark)
