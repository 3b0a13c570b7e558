"""The ledger `runs`: which runs there were, what they did and why; append-only (no Spark)."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Final, Literal

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake

from lake.commit import WRITER, arrow_schema, checkpoint, create_if_missing
from lake.lake import Lake
from lake.old_commits import delete_old_commits_as_they_arise
from lake.processes import identity
from lake.small_files import merge_small_files
from lake.storage_errors import storage_errors
from lake.tables import RUNS

CLAIMED, SUCCEEDED, FAILED, ABANDONED = "claimed", "succeeded", "failed", "abandoned"
"""The values of `status`."""
UNTOUCHED: Final = "untouched"
"""The `mode` of a row that moves the watermark of a query without a commit of its table."""
SKIPPED: Final = "skipped"
"""The `mode` of a row about a query that a run did not examine: it stays where it stands."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One row of `runs`, but for the columns that the ledger fills in itself."""

    run_id: str
    job: str
    number: int
    status: str
    query: str | None = None
    mode: str | None = None
    reason: str | None = None
    from_epoch: int | None = None
    to_epoch: int | None = None
    rows_in: int | None = None
    rows_out: int | None = None
    seconds: float | None = None
    table_version: int | None = None
    code_version: str | None = None
    checked_run: str | None = None
    commit_metadata: str | None = None


def record(lake: Lake, rows: Sequence[LedgerRow]) -> None:
    """Append rows in one commit; a `succeeded` or `failed` row without a query ends the claim."""
    if not rows:
        return
    with storage_errors(lake.location(RUNS.name)):
        table = create_if_missing(lake, RUNS)
        # Others may have changed it since it was opened.
        table.update_incremental()
        checkpoint(f"{rows[0].job}:before:runs")
        append_to(table, rows, CommitProperties())
        checkpoint(f"{rows[0].job}:after:runs")
        # Commits that rearrange files are skipped by those who read the newest rows.
        merge_small_files(table, WRITER)
        lake.committed(RUNS.name)
        delete_old_commits_as_they_arise(lake, RUNS)


def append_to(table: DeltaTable, rows: Sequence[LedgerRow], properties: CommitProperties) -> None:
    """Append rows in one commit, completed with facts about this process and the time.

    Raises:
        CommitFailedError: another commit came first.
    """
    here = {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "process": identity(os.getpid()),
        "recorded_at": datetime.now(UTC),
    }
    schema = arrow_schema(RUNS)
    written = pa.Table.from_pylist([asdict(row) | here for row in rows], schema=schema)
    known = {field.name for field in table.schema().fields}
    # A ledger of an earlier version of Weir gets the columns that are new.
    merge: Literal["merge"] | None = None if known >= {*schema.names} else "merge"
    write_deltalake(table, written, mode="append", commit_properties=properties, schema_mode=merge)
