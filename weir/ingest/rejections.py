"""The rejected rows of change sets, with their places."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.sql import columns, equal, inner_join, rows_of, select
from weir.ingest.changesets import ChangeSet
from weir.ingest.rows import REJECTION_COLUMNS


def located(engine: Engine, change_sets: Mapping[int, ChangeSet], rejections: str) -> exp.Select:
    """The rejected rows of some change sets: `rejected` but for the run.

    Args:
        engine: knows the relations that the result reads.
        change_sets: by ordinal.
        rejections: relation of `REJECTION_COLUMNS`.
    """
    places = pa.table(
        {
            "ordinal": pa.array([*change_sets], pa.int32()),
            "source": [change_set.source.name for change_set in change_sets.values()],
            "position": [change_set.position for change_set in change_sets.values()],
        }
    )
    engine.load("places", places)
    return select(
        *columns(("source", "position"), "places"),
        *columns(REJECTION_COLUMNS[1:], "rejections"),
        from_=rows_of(rejections, "rejections"),
        joins=[inner_join(rows_of("places"), *equal(("ordinal",), "rejections", "places"))],
    )
