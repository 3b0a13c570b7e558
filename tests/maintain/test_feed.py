"""The changes that maintain reads, by the driver; `test_own_feed.py` of ingest has Spark, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.support.opened import engine_of, no_spark
from tests.support.projects.handmade import HandMadeLake
from weir.compute.sql import column, rows_of, select
from weir.engine.relations import EpochRange
from weir.lake.delta.change_feed import ChangeFeedGap
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.tables import TRANSACTIONS, TRIPLES
from weir.maintain.changes import read_changes
from weir.plan.scope import Scope
from weir.progress.watermarks import epochs_after
from weir.project import open_lake


@pytest.fixture
def lake(lake: HandMadeLake) -> HandMadeLake:
    """Epochs 1, 2 and 4 are a commit of `triples` each; epoch 3 changed nothing."""
    for epoch in (1, 2, 3, 4):
        version = ingest(lake, epoch)
    assert version == 3
    return lake


def ingest(lake: HandMadeLake, epoch: int) -> int:
    tables, metadata = open_lake(lake.settings), Metadata("i", "ingest", epoch)
    changes = 0 if epoch == 3 else 1
    triple = {"subject": "<s>", "predicate": "<p>", "object": f'"{epoch}"'}
    version = 1
    if changes:
        version = write(tables, TRIPLES, [triple | {"epoch": epoch, "weight": 1}], metadata)
    row = {"epoch": epoch, "inserted": changes, "deleted": 0}
    versions = {"quads_version": version, "triples_version": version}
    write(tables, TRANSACTIONS, [row | versions], metadata)
    return version


def read(lake: HandMadeLake, after: int, last: int) -> set[str]:
    """The objects of the changes of a range."""
    tables = open_lake(lake.settings)
    with engine_of(lake.settings, "maintain", no_spark, tables) as engine:
        ingested = epochs_after(tables, after)
        read_changes(engine, "changes", Scope(), EpochRange(after, last), ingested, None)
        rows = engine.rows(select(column("object")).from_(rows_of("changes")))
    return {str(value) for (value,) in rows}


@pytest.mark.parametrize(
    ("after", "last", "objects"),
    [(0, 1, {'"1"'}), (0, 2, {'"1"', '"2"'}), (1, 4, {'"2"', '"4"'}), (2, 4, {'"4"'})],
)
def test_the_changes_are_those_of_the_range(
    lake: HandMadeLake, after: int, last: int, objects: set[str]
) -> None:
    assert read(lake, after, last) == objects


def test_changes_of_one_commit_are_divided_by_epochs(lake: HandMadeLake) -> None:
    tables, metadata = open_lake(lake.settings), Metadata("i", "ingest", 6)
    triple = {"subject": "<s>", "predicate": "<p>", "weight": 1}
    rows = [triple | {"object": f'"{epoch}"', "epoch": epoch} for epoch in (5, 6)]
    version = write(tables, TRIPLES, rows, metadata)
    versions = {"quads_version": version, "triples_version": version}
    epochs = [{"epoch": epoch, "inserted": 1, "deleted": 0} | versions for epoch in (5, 6)]
    write(tables, TRANSACTIONS, epochs, metadata)
    assert read(lake, 4, 5) == {'"5"'}
    assert read(lake, 5, 6) == {'"6"'}


def test_an_epoch_that_changed_nothing_needs_no_feed(lake: HandMadeLake) -> None:
    """It names a version whose commit may be gone."""
    forget_commits(lake, 0, 1)
    assert read(lake, 2, 4) == {'"4"'}


def test_a_commit_that_is_gone_is_a_gap(lake: HandMadeLake) -> None:
    forget_commits(lake, 0, 1)
    with pytest.raises(ChangeFeedGap):
        read(lake, 0, 4)


def test_an_epoch_without_a_transaction_is_a_gap(lake: HandMadeLake) -> None:
    DeltaTable(open_lake(lake.settings).location(TRANSACTIONS.name)).delete("epoch = 2")
    with pytest.raises(ChangeFeedGap, match=r"names 3 of the epochs 1\.\.4"):
        read(lake, 0, 4)


def test_rows_that_somebody_deleted_are_a_gap(lake: HandMadeLake) -> None:
    DeltaTable(open_lake(lake.settings).location(TRIPLES.name)).delete("object = '\"2\"'")
    ingest(lake, 5)
    with pytest.raises(ChangeFeedGap, match="not only append"):
        read(lake, 0, 5)


def test_rows_that_somebody_replaced_are_a_gap(lake: HandMadeLake) -> None:
    """The commit removes files, and has no file of a change feed."""
    tables = open_lake(lake.settings)
    kept = tables.rows(TRIPLES.name)
    write(tables, TRIPLES, kept, Metadata("i", "ingest", 4), mode="overwrite")
    ingest(lake, 5)
    with pytest.raises(ChangeFeedGap, match="not only appended to: delete"):
        read(lake, 2, 5)


def forget_commits(lake: HandMadeLake, *versions: int) -> None:
    """Delete commits of `triples` whose rows are in a checkpoint."""
    open_lake(lake.settings).existing(TRIPLES.name).create_checkpoint()
    for version in versions:
        (Path(lake.settings.lake) / TRIPLES.name / f"_delta_log/{version:020d}.json").unlink()
