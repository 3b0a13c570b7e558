"""What the newest run did per query, by the ledger, and the newest result of each check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weir.checks.declared import SUITE
from weir.lake.lake import Lake
from weir.lake.ledger.runs import FAILED, SUCCEEDED
from weir.lake.ledger.summary import read_ledger
from weir.lake.tables import QUALITY

_JOBS = ("maintain", "validate", "publish")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NewestRun:
    """A run whose stages after ingest have ended.

    Attributes:
        run_id: of the run.
        seconds: how long these stages took.
        rows: rows of `runs` about each query, by name: job, status, reason, seconds, rows_out,
            recorded_at.
    """

    run_id: str
    seconds: float
    rows: Mapping[str, Sequence[Row]]


def newest_run(lake: Lake) -> NewestRun | None:
    """The newest run; None before the first one has ended."""
    columns = ["run_id", "job", "query", "status", "reason", "rows_out", "seconds", "recorded_at"]
    rows = [
        row
        for row in read_ledger(lake).rows.select(columns).to_pylist()
        if row["job"] in _JOBS and row["status"] in (SUCCEEDED, FAILED)
    ]
    ended = [row for row in rows if row["query"] is None]
    if not ended:
        return None
    run_id = max(ended, key=lambda row: row["recorded_at"])["run_id"]
    by_query: dict[str, list[Row]] = {}
    for row in rows:
        if row["run_id"] == run_id and row["query"] is not None:
            by_query.setdefault(row["query"], []).append(row)
    seconds = sum(row["seconds"] or 0.0 for row in ended if row["run_id"] == run_id)
    return NewestRun(run_id, seconds, by_query)


def check_results(lake: Lake, answers: Sequence[str]) -> dict[tuple[str, str], Row]:
    """The newest row of `quality` about each check of some answers, by answer and check.

    Columns: query, expectation, success, unexpected_rows, observed, recorded_at.
    """
    if not answers or not lake.exists(QUALITY.name):
        return {}
    columns = ["query", "expectation", "success", "unexpected_rows", "observed", "recorded_at"]
    tables = [f"{SUITE}/{name}" for name in answers]
    rows = lake.rows(QUALITY.name, columns, [("table", "in", tables)]).sort_by("recorded_at")
    return {(row["query"], row["expectation"]): row for row in rows.to_pylist()}
