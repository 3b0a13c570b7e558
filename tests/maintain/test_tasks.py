"""The mode that a verdict in the ledger leads to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.projects.handmade import HandMadeLake, publish_by_hand
from weir.definitions.catalog import Catalog
from weir.expectations.answers import ANSWERS_SUITE
from weir.lake.ledger.runs import FAILED, LedgerRow, record
from weir.lake.upkeep.consolidated import note_consolidation
from weir.maintain.tasks import Task, commit_metadata, tasks_behind
from weir.progress.completion import Completion
from weir.project import open_lake

QUERY = "SELECT ?s { ?s <http://a/p> ?o }"
MAX_ROWS = "row_count_is_within_max_rows"


def mode_after(lake: HandMadeLake, reason: str) -> str:
    """The mode of the next run of a query whose rows failed their check for `reason`."""
    lake.query("q", QUERY)
    lake.ingest(1)
    lake.maintain("q", [(1, 1, "<http://a/s>")], mode="initial")
    tables = open_lake(lake.settings)
    last = tables.last_metadata("embeddings/q", job="maintain")
    assert last is not None
    version, maintained = last
    verdict = LedgerRow(
        "v",
        "validate",
        1,
        FAILED,
        "q",
        "initial",
        reason,
        -1,
        1,
        table_version=version,
        checked_run=maintained.run_id,
    )
    record(tables, [verdict])
    lake.ingest(1)
    completion = Completion.read(open_lake(lake.settings))
    (task,) = tasks_behind(completion, Catalog.of(lake.settings).members)
    return task.mode


# The second is how versions before 2026-11-22 recorded it.
@pytest.mark.parametrize("name", [MAX_ROWS, "the_answer_is_not_too_large"])
def test_an_answer_above_its_limit_is_not_recomputed(lake: HandMadeLake, name: str) -> None:
    assert mode_after(lake, f"{name} (1 rows)") == "incremental"


@pytest.mark.parametrize(
    "reason",
    ["ask_has_one_row (1 rows)", f"{MAX_ROWS} (1 rows); ask_has_one_row (1 rows)"],
)
def test_a_state_that_failed_another_check_is_recomputed(lake: HandMadeLake, reason: str) -> None:
    assert mode_after(lake, reason) == "rebased"


def task_of(lake: HandMadeLake) -> Task | None:
    """What the next run has to do for the query `q`."""
    completion = Completion.read(open_lake(lake.settings))
    return next(iter(tasks_behind(completion, Catalog.of(lake.settings).members)), None)


@pytest.fixture
def maintained(lake: HandMadeLake) -> HandMadeLake:
    """A query that is complete up to epoch 2, its base, and an epoch 3."""
    lake.query("q", QUERY)
    lake.ingest(2)
    lake.maintain("q", [(2, 1, "<http://a/s>")], base=2, mode="initial")
    lake.ingest(1)
    return lake


def test_a_query_goes_on_from_its_stored_state_and_keeps_its_base(
    maintained: HandMadeLake,
) -> None:
    task = task_of(maintained)
    assert task is not None
    assert (task.mode, task.after, task.from_nothing) == ("incremental", 2, False)
    assert commit_metadata(task, "m", 3).base == 2


def test_an_edited_query_starts_over(maintained: HandMadeLake) -> None:
    maintained.query("q", QUERY.replace("SELECT", "SELECT DISTINCT"))
    task = task_of(maintained)
    assert task is not None
    assert (task.mode, task.from_nothing) == ("edited", True)
    assert commit_metadata(task, "m", 3).base == 3


def test_a_query_that_is_the_published_one_again_starts_at_the_published_epoch(
    maintained: HandMadeLake,
) -> None:
    publish_by_hand(
        maintained, "q", ["s"], [(2, 1, "<http://a/s>")], watermark=2, base=2, is_maintained=True
    )
    maintained.query("q", QUERY.replace("SELECT", "SELECT DISTINCT"))
    maintained.maintain("q", [(3, 1, "<http://a/s>")], base=3, mode="edited")
    maintained.query("q", QUERY)
    task = task_of(maintained)
    assert task is not None
    assert (task.mode, task.base) == ("rebased", 2)


@pytest.mark.parametrize(("until", "mode"), [(2, "incremental"), (3, "rebased")])
def test_a_query_starts_over_if_changes_after_its_watermark_were_consolidated(
    maintained: HandMadeLake, until: int, mode: str
) -> None:
    note_consolidation(open_lake(maintained.settings), "quads", until)
    task = task_of(maintained)
    assert task is not None
    assert task.mode == mode


@pytest.mark.parametrize(
    ("about", "mode", "next_mode"),
    [(0, "incremental", "rebased"), (-1, "incremental", None), (0, "rebased", None)],
    ids=["this commit", "an earlier commit", "a state that was recomputed"],
)
def test_a_state_is_recomputed_once_if_the_check_of_its_newest_commit_failed(
    maintained: HandMadeLake, about: int, mode: str, next_mode: str | None
) -> None:
    maintained.maintain("q", [(3, 1, "<http://a/t>")], base=2, mode=mode)
    tables = open_lake(maintained.settings)
    version = tables.version("embeddings/q")
    assert version is not None
    reason = "ask_has_one_row (1 rows)"
    verdict = LedgerRow("v", "validate", 1, FAILED, "q", reason=reason, from_epoch=1, to_epoch=3)
    record(tables, [replace(verdict, table_version=version + about, checked_run="m")])
    task = task_of(maintained)
    if next_mode == "rebased":
        assert task is not None
        assert task.mode == "rebased"
    else:
        assert task is None


def test_a_state_that_is_recomputed_starts_at_the_last_published_epoch(
    maintained: HandMadeLake,
) -> None:
    publish_by_hand(
        maintained, "q", ["s"], [(2, 1, "<http://a/s>")], watermark=2, base=2, is_maintained=True
    )
    maintained.maintain("q", [(3, 1, "<http://a/t>")], base=2)
    tables = open_lake(maintained.settings)
    version = tables.version("embeddings/q")
    reason = "ask_has_one_row (1 rows)"
    verdict = LedgerRow("v", "validate", 1, FAILED, "q", reason=reason, from_epoch=1, to_epoch=3)
    record(tables, [replace(verdict, table_version=version, checked_run="m")])
    task = task_of(maintained)
    assert task is not None
    assert (task.mode, task.base) == ("rebased", 2)


def test_the_check_of_the_limit_has_the_name_that_the_ledger_is_searched_for() -> None:
    assert MAX_ROWS in {expectation.name for expectation in ANSWERS_SUITE.expectations}
