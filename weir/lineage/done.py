"""What one run did, by the ledger: its stages, what they did per query, and what they checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weir.lake.lake import Lake
from weir.lake.ledger.runs import DROPPED, FAILED, SKIPPED, SUCCEEDED, UNTOUCHED
from weir.lake.ledger.summary import read_ledger
from weir.lake.tables import QUALITY

_STAGES: Final = ("ingest", "refresh", "maintain", "validate", "publish")
_NOTHING = (UNTOUCHED, SKIPPED, DROPPED)
"""Modes of rows about queries of which the run read and wrote nothing."""
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Done:
    """What one run did.

    Attributes:
        run_id: of the run.
        rows: rows of `runs` about its stages, and about queries that they read or wrote, in the
            order in which they were recorded: job, query (null: the stage), status, reason,
            rows_out, table_version, seconds, recorded_at.
        checks: its rows of `quality`: table, query (null: the graph), expectation, success,
            observed, unexpected_rows.
    """

    run_id: str
    rows: Sequence[Row]
    checks: Sequence[Row]


def done_by(lake: Lake, run_id: str, stage: str | None = None) -> Done:
    """What a run did, as long as no later run did the same: the ledger keeps the newest.

    Args:
        lake: has the ledger.
        run_id: of the run.
        stage: what it did in this stage alone; None for all.
    """
    stages = _STAGES if stage is None else (stage,)
    columns = ["run_id", "job", "query", "mode", "status", "reason", "rows_in", "rows_out"]
    ledger = read_ledger(lake).rows.select([*columns, "table_version", "seconds", "recorded_at"])
    rows = [row for row in ledger.to_pylist() if row["run_id"] == run_id and _is_news(row, stages)]
    rows.sort(key=lambda row: row["recorded_at"])
    return Done(run_id, rows, _checks(lake, run_id) if rows else ())


def _is_news(row: Row, stages: Collection[str]) -> bool:
    """Whether it says that one of the stages failed, or read or wrote anything."""
    stage, status = row["job"].partition(":")[0], row["status"]
    if stage not in stages or status not in (SUCCEEDED, FAILED):
        return False
    # A process that runs again and again looks for changes each time.
    is_empty = row["query"] is None and row["rows_in"] == row["rows_out"] == 0
    return status == FAILED or not (is_empty or row["mode"] in _NOTHING)


def _checks(lake: Lake, run_id: str) -> Sequence[Row]:
    if not lake.exists(QUALITY.name):
        return ()
    columns = ["table", "query", "expectation", "success", "observed", "unexpected_rows"]
    return lake.rows(QUALITY.name, columns, [("run_id", "=", run_id)]).to_pylist()
