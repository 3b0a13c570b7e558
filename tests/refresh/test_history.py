"""The history of a remote that its page shows: ages of keys, and the stalest of them."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.replicas.written import RemoteTables, remote_project
from weir.compute.connection import connect
from weir.lake.delta.bindings import Bindings
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.tables import FRESHNESS
from weir.project import open_lake
from weir.refresh.current import current_states
from weir.refresh.history import EVALUATIONS, STALEST, RemoteHistory, remote_history


@pytest.fixture
def tables(tmp_path: Path) -> RemoteTables:
    return remote_project(tmp_path)


def history(tables: RemoteTables, minutes: float = 1) -> RemoteHistory:
    now = tables.evaluation(tables.rounds) + timedelta(minutes=minutes)
    (state,) = current_states(tables.settings, now)
    with connect(tables.settings) as connection:
        return remote_history(Bindings(connection), open_lake(tables.settings), state, now)


def test_the_stalest_keys_are_listed_oldest_first(tables: RemoteTables) -> None:
    tables.refresh(dict.fromkeys("abc", ('"1"',)))
    tables.refresh({"b": ('"1"',), "d": None})
    shown = history(tables)
    keys = [re.sub(r"[^a-d]", "", row["key"].removeprefix('["<urn:')) for row in shown.stalest]
    assert keys == ["d", "a", "c", "b"]
    assert [row["age"] for row in shown.stalest] == [None, 660.0, 656.0, 60.0]


def test_a_key_that_is_no_candidate_any_more_is_left_out(tables: RemoteTables) -> None:
    tables.refresh({"a": ('"1"',), "b": ('"1"',)})
    for _ in range(3):
        tables.refresh({"b": ('"1"',)}, oldest_seconds=0.0, p95_seconds=0.0, median_seconds=0.0)
    assert [row["key"] for row in history(tables).stalest] == ['["<urn:b>"]']


def test_ages_are_quantiles_and_cells_of_all_keys(tables: RemoteTables) -> None:
    tables.refresh(dict.fromkeys("abcd", ('"1"',)))
    tables.refresh({"a": ('"1"',)})
    shown = history(tables)
    assert (shown.quantiles[0], shown.quantiles[-1]) == (60.0, 658.0)
    assert [*shown.quantiles] == sorted(shown.quantiles)
    by_time = [
        sum(cell["keys"] for cell in shown.cells if cell["place"] == place)
        for place in range(len(shown.times))
    ]
    # At the instant of an evaluation, of the keys that it asks for only the first was answered.
    assert by_time == [1, 4, 4]


def test_the_page_has_a_bounded_number_of_evaluations_and_keys(tables: RemoteTables) -> None:
    tables.refresh({f"k{number}": ('"1"',) for number in range(STALEST + 10)})
    rows = open_lake(tables.settings).rows(FRESHNESS.name).to_pylist()
    more = [
        rows[0] | {"round": number, "evaluation": tables.evaluation(number)}
        for number in range(2, EVALUATIONS + 50)
    ]
    write(open_lake(tables.settings), FRESHNESS, more, Metadata("r", "refresh:wd", 0))
    tables.rounds = EVALUATIONS + 49
    shown = history(tables)
    assert len(shown.evaluations) == EVALUATIONS
    assert shown.evaluations[-1]["evaluation"] == tables.evaluation(EVALUATIONS + 49)
    tables.rounds = 1
    assert len(history(tables).stalest) == STALEST


def test_a_remote_that_was_never_evaluated_has_no_history(tables: RemoteTables) -> None:
    assert history(tables) == RemoteHistory()
