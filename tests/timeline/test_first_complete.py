"""From which instant on a window over elements has as many as it should, at every epoch."""

from __future__ import annotations

import duckdb
import pytest

from weir.compute.duck import DIALECT
from weir.engine.windows import LastElements
from weir.timeline.legs import Arrival
from weir.timeline.retention import elements_complete_from, horizons_before

ARRIVALS = (Arrival(1, 110), Arrival(2, 110))
"""Epoch 1 brings the elements at 101, 110 and 115; epoch 2 that at 102, when 110 is final."""


@pytest.mark.parametrize(
    ("elements", "after", "first"),
    [(1, 0, 101), (2, 0, 110), (3, 0, 111), (2, 2, 102), (5, 0, None)],
)
def test_a_late_element_counts_where_nothing_was_final_before_it(
    elements: int, after: int, first: int | None
) -> None:
    connection = duckdb.connect()
    connection.register("horizons", horizons_before(ARRIVALS))
    connection.execute("CREATE TABLE events (instant BIGINT, epoch BIGINT)")
    connection.execute("INSERT INTO events VALUES (90, 1), (101, 1), (110, 1), (115, 1), (102, 2)")
    window = LastElements(elements)
    query = elements_complete_from("events", window, 100, "horizons", after).sql(dialect=DIALECT)
    assert connection.execute(query).fetchone() == (None if first is None else (first,))
