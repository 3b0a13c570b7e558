"""The mode that a verdict in the ledger leads to."""

from __future__ import annotations

from pathlib import Path

import pytest

from expectations.answers import ANSWERS_SUITE
from jobs.catalog.catalog import Catalog
from jobs.maintain.tasks import tasks_behind
from jobs.progress.completion import Completion
from lake.ledger import FAILED, LedgerRow, record
from tests.support.projects.handmade import HandMadeLake, empty_lake

MAX_ROWS = "row_count_is_within_max_rows"


@pytest.fixture
def lake(tmp_path: Path) -> HandMadeLake:
    """An empty lake of a project without queries."""
    return empty_lake(tmp_path)


def mode_after(lake: HandMadeLake, reason: str) -> str:
    """The mode of the next run of a query whose rows failed their check for `reason`."""
    lake.query("q", "SELECT ?s { ?s <http://a/p> ?o }")
    lake.ingest(1)
    lake.maintain("q", [(1, 1, "<http://a/s>")], mode="initial")
    tables = lake.settings.open_lake()
    found = tables.last_metadata("embeddings/q", job="maintain")
    assert found is not None
    version, maintained = found
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
    completion = Completion.read(lake.settings.open_lake())
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


def test_the_check_of_the_limit_has_the_name_that_the_ledger_is_searched_for() -> None:
    assert MAX_ROWS in {expectation.name for expectation in ANSWERS_SUITE.expectations}
