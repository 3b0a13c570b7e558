"""What of the last change set of a source was rejected."""

from __future__ import annotations

import pytest

from tests.support.opened import call
from tests.support.projects.handmade import HandMadeLake, event_time
from tests.support.projects.project import PATCHES
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.tables import TRANSACTIONS
from weir.project import open_lake
from weir.status.sources import SourceStatus, source_statuses
from weir.status.status import Status


@pytest.fixture
def lake(lake: HandMadeLake) -> HandMadeLake:
    """A change set with a rejected line, then an epoch of a stream in which nothing came."""
    counts = {"source": "s", "inserted": 1, "deleted": 0, "ingested_at": event_time(1)}
    rows = [
        {**counts, "epoch": 1, "position": "1.nt", "rejected": 1},
        {**counts, "epoch": 2, "position": None, "rejected": 0},
    ]
    write(open_lake(lake.settings), TRANSACTIONS, rows, Metadata("i", "ingest", 2))
    return lake


def status(lake: HandMadeLake) -> SourceStatus:
    (only,) = call(source_statuses, lake.settings).sources
    return only


def test_an_epoch_without_a_change_set_leaves_the_rejected_lines_of_the_last(
    lake: HandMadeLake,
) -> None:
    assert (status(lake).epoch, status(lake).rejected_last) == (2, 1)


def test_a_source_that_is_not_declared_any_more_is_no_fault(lake: HandMadeLake) -> None:
    lake.project.declare(PATCHES)
    lake.project.folders("changes")
    whole = call(Status.of, lake.settings)
    assert ("s", "removed") in [(source.source, source.state) for source in whole.sources.sources]
    assert "rejected" not in [fault for fault, *_ in whole.faults()]
