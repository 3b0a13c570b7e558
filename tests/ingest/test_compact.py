"""Compaction of a lake that is used afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.built import AsBuilt
from tests.support.opened import on_spark
from tests.support.projects.project import PATCHES, Project
from weir.compact.stage import compact_lake, needed_after
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.ledger.claims import claim
from weir.lake.ledger.runs import SUCCEEDED, LedgerRow, record
from weir.lake.tables import embeddings
from weir.project import open_lake

QUERY = "#+ history: {history}\nSELECT ?o WHERE {{ ?s <urn:p> ?o }}\n"


def toggle(project: Project, first: int, last: int) -> None:
    """Patches that assert and retract one quad in turn, and assert one of their own."""
    for number in range(first, last + 1):
        letter = "A" if number % 2 else "D"
        project.patch(
            f"changes/{number:02}.rdfp",
            f'{letter} <urn:s> <urn:p> "x" .',
            f'A <urn:s> <urn:p> "{number}" .',
        )


def _build(folder: Path) -> Project:
    project = Project(folder).declare(PATCHES)
    project.configure(keep_epochs=2)
    toggle(project, 1, 9)
    project.ingest()
    checked(project, 9)
    return project


@pytest.fixture
def history(as_built: AsBuilt) -> Project:
    return as_built(_build)


def checked(project: Project, epoch: int) -> None:
    """Have the graph validated up to an epoch."""
    row = LedgerRow("checks", "validate", 1, SUCCEEDED, to_epoch=epoch)
    record(open_lake(project.settings), [row])


def test_compaction_affects_neither_needed_epochs_nor_the_next_ingest(
    spark: SparkSession, history: Project
) -> None:
    before = [history.state(epoch) for epoch in range(7, 10)]
    result = on_spark(spark, compact_lake, history.settings, "compaction")
    assert result.consolidated_until == 7
    assert result.consolidated["quads"].after < result.consolidated["quads"].before
    assert [history.state(epoch) for epoch in range(7, 10)] == before
    toggle(history, 10, 11)
    assert history.ingest().to_epoch == 11
    objects = {quad[3] for quad in history.state(11)}
    assert objects == {'"x"', *(f'"{number}"' for number in range(1, 12))}


def test_logs_are_not_consolidated_during_an_ingest(
    spark: SparkSession, history: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.compact.stage._PATIENCE", 0.0)
    claim(open_lake(history.settings), "ingest", "busy", lease_seconds=60)
    said: list[str] = []
    result = on_spark(spark, compact_lake, history.settings, "compaction", said.append)
    assert result.consolidated == {}
    assert any("run busy of ingest" in line for line in said)


def test_epochs_that_are_not_validated_are_kept(history: Project) -> None:
    toggle(history, 10, 14)
    history.ingest()
    assert needed_after(history.settings, open_lake(history.settings)) == 9


def test_the_changes_that_a_removed_query_has_not_read_are_kept(history: Project) -> None:
    table = embeddings("gone", 1)
    write(open_lake(history.settings), table, [], Metadata("test", "maintain", 3))
    claim(open_lake(history.settings), "maintain", "test", lease_seconds=60)
    row = LedgerRow("test", "maintain", 1, SUCCEEDED, "gone", "initial", to_epoch=3)
    record(open_lake(history.settings), [row])
    assert needed_after(history.settings, open_lake(history.settings)) == 3
    history.write("queries/gone.rq", "SELECT nonsense")
    assert needed_after(history.settings, open_lake(history.settings)) == 3
    open_lake(history.settings).remove(table.name)
    assert needed_after(history.settings, open_lake(history.settings)) == 7


@pytest.mark.parametrize(("mode", "until"), [("full", 0), ("current", 7)])
def test_all_changes_are_kept_for_a_new_query_with_full_history(
    history: Project, mode: str, until: int
) -> None:
    history.write("queries/q.rq", QUERY.format(history=mode))
    assert needed_after(history.settings, open_lake(history.settings)) == until
