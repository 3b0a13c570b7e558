"""One row of the ledger for all queries that a run did not touch."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from tests.support.ledgers import random_ledger, watermark
from weir.lake.delta.commit import arrow_schema
from weir.lake.ledger.runs import ABANDONED, SUCCEEDED, UNTOUCHED
from weir.lake.ledger.summary import summed_up
from weir.lake.ledger.untouched import ALL, Range, entries, expanded, watermarks_of
from weir.lake.tables import RUNS

SEEDS = range(60)
QUERIES = "abcdef"


def rows(*values: dict[str, Any]) -> pa.Table:
    """Rows of maintain, a second apart."""
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    fixed = {"job": "maintain", "status": SUCCEEDED}
    named = [
        fixed | given | {"recorded_at": begin + timedelta(seconds=i)}
        for i, given in enumerate(values)
    ]
    return pa.Table.from_pylist(named, schema=arrow_schema(RUNS))


def about(number: int, query: str, start: int, end: int, mode: str = UNTOUCHED) -> dict[str, Any]:
    return {"number": number, "query": query, "mode": mode, "from_epoch": start, "to_epoch": end}


def watermarks(ledger: pa.Table) -> dict[str, int]:
    return watermarks_of(summed_up(ledger), "maintain")


@pytest.mark.parametrize("seed", SEEDS)
def test_ledger_rows_move_the_queries_they_are_made_for_and_no_others(seed: int) -> None:
    chance = random.Random(seed)
    before = {query: chance.randint(1, 3) for query in QUERIES if chance.random() < 0.9}
    kinds = {
        query: chance.choice(["moves", "moves", "moves", "own", "nothing"]) for query in before
    }
    moved: dict[str, Range] = {
        # Where a query really is may not be where the ledger has it.
        query: (chance.choice([epoch, epoch, epoch, epoch - 1]), chance.choice([4, 4, 4, 5]))
        for query, epoch in before.items()
        if kinds[query] == "moves"
    }
    reported = {query for query in before if kinds[query] == "own"}
    made = [*entries(before, moved, reported)]
    moved_to = watermarks(
        rows(
            *(about(1, query, 0, epoch, "initial") for query, epoch in before.items()),
            *(about(2, query, before[query], before[query], "failed") for query in reported),
            *(about(2, row.query, *row.epochs, row.mode) for row in made),
        )
    )
    assert moved_to == {**before, **{query: end for query, (_, end) in moved.items()}}


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_about_all_give_the_watermarks_that_rows_about_each_give(seed: int) -> None:
    ledger = random_ledger(seed, runs=60, queries=QUERIES)
    rows_of_all = expanded(ledger.rows()).to_pylist()
    assert ALL not in {row["query"] for row in rows_of_all}
    for (job, query), committed in ledger.committed.items():
        if ledger.complete[job, query] > committed:
            assert watermark(rows_of_all, job, query, committed) == ledger.complete[job, query]


def test_many_queries_that_move_together_are_one_row() -> None:
    before = {f"q{i}": 3 for i in range(1000)}
    made = [*entries(before, dict.fromkeys(before, (3, 4)), set())]
    assert [(row.query, row.epochs) for row in made] == [(ALL, (3, 4))]


def test_a_query_that_stays_costs_a_row_once() -> None:
    before = {f"q{i}": 3 for i in range(10)}
    moved = dict.fromkeys(list(before)[1:], (3, 4))
    made = [*entries(before, moved, set())]
    assert [row.query for row in made] == [ALL, "q0"]
    following = before | dict.fromkeys(moved, 4)
    again = [*entries(following, dict.fromkeys(moved, (4, 5)), set())]
    assert [row.query for row in again] == [ALL]


def test_a_row_about_all_moves_nothing_that_a_run_reports_which_was_given_up() -> None:
    given_up = rows(
        about(1, "q", 0, 3, "initial"),
        about(1, "removed", 0, 2, "initial"),
        about(3, ALL, 3, 4),
        {"number": 2, "query": None, "status": ABANDONED},
        # Written by the process of run 2 after run 3 had ended.
        about(2, "removed", 2, 3),
    )
    assert watermarks(given_up) == {"q": 4}
