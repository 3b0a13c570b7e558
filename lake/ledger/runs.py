"""The ledger `runs`: which runs there were, what they did and why; append-only (no Spark)."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Final

import pyarrow as pa
from deltalake import DeltaTable, Transaction

from weir.lake.delta.commit import (
    add_missing_columns,
    append_rows,
    arrow_schema,
    checkpoint,
    create_if_missing,
)
from weir.lake.lake import Lake
from weir.lake.ledger.processes import identity
from weir.lake.tables import RUNS
from weir.lake.upkeep.old_commits import delete_old_commits_as_they_arise
from weir.lake.upkeep.small_files import merge_small_files

CLAIMED, SUCCEEDED, FAILED, ABANDONED = "claimed", "succeeded", "failed", "abandoned"
"""The values of `status`."""
UNTOUCHED: Final = "untouched"
"""The `mode` of a row that moves the watermark of a query without a commit of its table."""
SKIPPED: Final = "skipped"
"""The `mode` of a row about a query that a run did not examine: its watermark stays."""
DROPPED: Final = "dropped"
"""The `mode` of a row about a query that was dropped: earlier rows about it do not count."""
RETYPED: Final = "retyped"
"""The `mode` of a row that has the types of a table `current/<query>` decided again."""
REMOVED: Final = "removed"
"""The `mode` of a row about the last commit of embeddings that a repair is about to remove."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One row of `runs`, without the columns that the ledger fills in itself."""

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
    failed_attempts: str | None = None
    passed_checks: str | None = None
    checks: str | None = None


def record(
    lake: Lake,
    rows: Sequence[LedgerRow],
    *,
    transaction: Transaction | None = None,
    checked: Callable[[], None] = lambda: None,
) -> None:
    """Append rows in one commit; a `succeeded` or `failed` row without a query ends the claim.

    Args:
        lake: has the ledger.
        rows: what is recorded.
        transaction: the commit fails if another one with the same identifier came after `checked`.
        checked: is called when the newest known state of the ledger is open.

    Raises:
        CommitFailedError: another commit with the identifier came.
    """
    if not rows:
        return
    with lake.using(RUNS.name):
        ready(lake)
        lake.committed(RUNS.name)
        checked()
        # The last row is that of the run itself.
        job = rows[-1].job
        checkpoint(f"{job}:before:runs")
        append_to(lake, rows, transaction)
        checkpoint(f"{job}:after:runs")
        # Readers of the newest rows skip commits that rearrange files.
        merge_small_files(lake, RUNS.name)
        delete_old_commits_as_they_arise(lake, RUNS)


def ready(lake: Lake) -> DeltaTable:
    """The ledger; it is created if missing, and gets columns that an earlier version lacked."""
    table = create_if_missing(lake, RUNS)
    add_missing_columns(lake, RUNS)
    return table


def append_to(
    lake: Lake, rows: Sequence[LedgerRow], transaction: Transaction | None = None
) -> None:
    """Append rows in one commit, with this process and the time.

    Args:
        lake: has the ledger, which is `ready`.
        rows: what is recorded.
        transaction: the commit fails if another one with the same identifier came since the version
            of the ledger that is open.

    Raises:
        CommitFailedError: another commit with the identifier came first.
    """
    process = {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "process": identity(os.getpid()),
        "recorded_at": datetime.now(UTC),
    }
    records = [asdict(row) | process for row in rows]
    written = pa.Table.from_pylist(records, schema=arrow_schema(RUNS))
    append_rows(lake, RUNS, written, transaction=transaction)
