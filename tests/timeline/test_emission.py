"""RSTREAM over answers that hold rarely: the cost is that of its elements."""

from __future__ import annotations

import pytest

from tests.support.rules.memory import engine_of_process, table_of
from weir.compute.duck import DuckEngine
from weir.compute.sql import column, rows_of, select
from weir.engine.fixpoint import make
from weir.engine.windows import SteppedWindow, Window
from weir.errors import WeirError
from weir.timeline.emission import Emission
from weir.timeline.legs import Arrival
from weir.timeline.timeline import Timeline

FAR = 10**12
ROW = ("subject", "predicate", "object")


def reported(windows: tuple[Window, ...], limit: int) -> list[tuple[object, ...]]:
    """The instants of the elements of a row that is at 0 and at `FAR`, a microsecond each."""
    engine = engine_of_process()
    with engine.scope():
        return _reported(engine, windows, limit)


def _reported(
    engine: DuckEngine, windows: tuple[Window, ...], limit: int
) -> list[tuple[object, ...]]:
    changes = [(0, 1), (1, -1), (FAR, 1), (FAR + 1, -1)]
    rows = [("<u:s>", "<u:p>", "<u:o>", at, 1, sign) for at, sign in changes]
    engine.load("answers", table_of(rows, (*ROW, "instant", "epoch", "weight")))
    timeline = Timeline(0, (Arrival(1, FAR + 5, None),), ())
    emission = Emission("rstream", windows, timeline, 0, 1)
    made = emission.statement(engine, "answers", ROW, limit, "rare")
    make(engine, made)
    return sorted(engine.rows(select(column("instant"), from_=rows_of(made.name))))


def test_closes_at_which_there_is_no_row_cost_nothing_and_are_not_limited() -> None:
    assert reported((SteppedWindow(1, 1, -1),), 2) == [(0,), (FAR,)]


def test_more_elements_than_the_limit_are_refused() -> None:
    with pytest.raises(WeirError, match="RSTREAM would emit 2 elements, more than rstream_rows"):
        reported((SteppedWindow(1, 1, -1),), 1)


def test_an_instant_at_which_two_windows_close_is_reported_once() -> None:
    windows = (SteppedWindow(1, 1, -1), SteppedWindow(10, 10, -10))
    assert reported(windows, 4) == [(0,), (FAR,)]


def test_a_window_reports_at_its_own_closes_only() -> None:
    assert reported((SteppedWindow(3, 3, 1 - 3),), 4) == [(FAR,)]
