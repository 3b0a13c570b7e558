"""What the ledger says is validated (no Spark)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from jobs.progress.backlog import Unpublished
from lake.commit import arrow_schema
from lake.lake import Lake
from lake.ledger import SUCCEEDED, rows_of
from lake.tables import QUALITY, RUNS

_COLUMNS = [
    "number",
    "query",
    "status",
    "reason",
    "from_epoch",
    "to_epoch",
    "table_version",
    "checked_run",
]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of the last validation of a query.

    Attributes:
        version: of the embedding table whose rows were checked: the commit of maintain.
        run_id: of that commit: versions begin anew where the table was dropped.
        from_epoch: the rows after it were checked, up to the watermark of that commit.
        success: whether everything held.
        reason: what did not hold.
    """

    version: int
    run_id: str | None
    from_epoch: int
    success: bool
    reason: str

    def is_about(self, work: Unpublished) -> bool:
        """Whether exactly the rows of `work` were checked."""
        rows = work.maintained
        checked = (self.version, self.run_id, self.from_epoch)
        return checked == (rows.version, rows.metadata.run_id, work.from_epoch)


def verdicts(lake: Lake) -> Mapping[str, Verdict]:
    """The last validation of every query."""
    rows = _rows(lake)
    of_queries = rows.filter(pc.is_valid(rows["query"])).sort_by("number")
    return {
        row["query"]: Verdict(
            row["table_version"],
            row["checked_run"],
            row["from_epoch"],
            row["status"] == SUCCEEDED,
            row["reason"] or "",
        )
        for row in of_queries.to_pylist()
    }


def graph_validated_to(lake: Lake) -> int:
    """The epoch up to which the checks of the graph succeeded, 0 before the first."""
    rows = _rows(lake)
    return int(pc.max(rows.filter(pc.is_null(rows["query"]))["to_epoch"]).as_py() or 0)


def graph_failure(lake: Lake, validated_to: int) -> str | None:
    """What did not hold of the graph's epochs after `validated_to` (`graph_validated_to`).

    In the last run that checked them; None if nothing is known.
    """
    table = lake.open(QUALITY.name)
    if table is None:
        return None
    columns = ["run_id", "query", "expectation", "unexpected_rows", "from_epoch", "recorded_at"]
    found = table.to_pyarrow_table(columns=columns, filters=[("success", "=", False)])
    failed = [
        row
        for row in found.sort_by("recorded_at").to_pylist()
        if row["query"] is None and row["from_epoch"] >= validated_to
    ]
    if not failed:
        return None
    last = failed[-1]["run_id"]
    what = [
        f"{row['expectation']} ({row['unexpected_rows']} rows)"
        for row in failed
        if row["run_id"] == last
    ]
    return f"the graph: {'; '.join(what)}"


def _rows(lake: Lake) -> pa.Table:
    table = lake.open(RUNS.name)
    if table is None:
        return arrow_schema(RUNS).empty_table().select(_COLUMNS)
    return rows_of(table, "validate", _COLUMNS)
