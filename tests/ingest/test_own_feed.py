"""The changes of `quads` as maintain reads them: by the driver and by Spark, also with gaps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.support.opened import engine_of, no_spark
from tests.support.projects.project import Project
from weir.compute.sql import column, rows_of, select
from weir.engine.relations import EpochRange
from weir.lake.damage.log_checks import LOG_NOTES
from weir.lake.delta.change_feed import ChangeFeedGap
from weir.lake.delta.checksums import NOTES
from weir.maintain.changes import read_changes
from weir.plan.scope import Scope
from weir.progress.watermarks import epochs_after
from weir.project import open_lake

Read = Callable[[], set[str]]


@pytest.fixture
def filled(project: Project) -> Project:
    """Three epochs, each a commit."""
    project.configure(batch_epochs=1)
    for number in (1, 2, 3):
        project.patch(f"changes/{number}.rdfp", f'A <urn:s> <urn:p> "{number}" .')
    project.ingest()
    return project


@pytest.fixture(params=["driver", pytest.param("spark", marks=pytest.mark.spark)])
def read(request: pytest.FixtureRequest, filled: Project) -> Read:
    """The objects of the changes of epochs 2 and 3, read by the driver or by Spark."""

    def run() -> set[str]:
        lake = open_lake(filled.settings)
        epochs, transactions = EpochRange(1, 3), epochs_after(lake, 1)
        is_spark = request.param == "spark"
        filled.configure(**({"driver_rows": 0} if is_spark else {}))
        spark = (lambda: request.getfixturevalue("spark")) if is_spark else no_spark
        with engine_of(filled.settings, "maintain", spark, lake) as engine:
            read_changes(engine, "changes", Scope(), epochs, transactions, None)
            rows = engine.rows(select(column("object")).from_(rows_of("changes")))
        return {str(value) for (value,) in rows}

    return run


def test_the_changes_are_those_of_the_range(read: Read) -> None:
    assert read() == {'"2"', '"3"'}


def test_a_file_that_is_gone_is_a_gap(filled: Project, read: Read) -> None:
    table = DeltaTable(f"{filled.settings.lake}/triples")
    files = {Path(path).name for path in table.file_uris()}
    table.load_as_version(2)
    (lost,) = files - {Path(path).name for path in table.file_uris()}
    (filled.folder / "lake/triples" / lost).unlink()
    with pytest.raises(ChangeFeedGap, match="no longer there"):
        read()


def test_a_commit_that_did_not_only_append_is_a_gap(filled: Project, read: Read) -> None:
    (version, *_) = epochs_after(open_lake(filled.settings), 2)
    assert version.triples_version == 3
    log = filled.folder / "lake/triples/_delta_log"
    DeltaTable(f"{filled.settings.lake}/triples").delete("object = '\"2\"'")
    # As if it had been made before the last epoch's commit.
    mine, other = (log / f"{number:020d}.json" for number in (3, 4))
    text = mine.read_text()
    mine.write_text(other.read_text())
    other.write_text(text)
    (log.parent / NOTES / LOG_NOTES).unlink()
    with pytest.raises(ChangeFeedGap, match="not only append"):
        read()
