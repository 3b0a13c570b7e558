"""The ledger `runs`: who may run, who ran, and what was done why (delta-rs, no Spark)."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError

from lake.commit import arrow_schema, checkpoint, create_if_missing
from lake.lake import Lake
from lake.processes import identity, lives
from lake.tables import RUNS

CLAIMED, SUCCEEDED, FAILED, ABANDONED = "claimed", "succeeded", "failed", "abandoned"


class AlreadyRunning(Exception):  # noqa: N818  (named after what is wrong)
    """Another run of the job is going on."""

    def __init__(self, job: str, claim: Mapping[str, Any]) -> None:
        self.job, self.run_id = job, claim["run_id"]
        self.host, self.pid, self.since = claim["host"], claim["pid"], claim["recorded_at"]
        super().__init__(
            f"run {self.run_id} of {job} has been going on since {self.since:%Y-%m-%d %H:%M:%S} UTC"
            f" (process {self.pid} on {self.host})."
            " Wait for it to end, or end that process and try again."
        )


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


def claim(
    lake: Lake, job: str, run_id: str, *, lease_seconds: int, code_version: str | None = None
) -> int:
    """Claim the next number of `job` for this process and return it.

    One append carries the number as a Delta transaction of the job: of two processes that claim at
    once, Delta lets one commit; the other reads again and finds the winner at work.

    A claim that never ended counts as going on while its process lives; a claim of another machine
    counts for `lease_seconds`. A dead one is marked `abandoned`.

    Raises:
        AlreadyRunning: another run of the job is going on.
    """
    table = create_if_missing(lake, RUNS)
    while True:
        lake.committed(RUNS.name)
        runs = _runs_of(table, job)
        open_claims = _open_claims(runs)
        for other in open_claims:
            if _goes_on(other, lease_seconds):
                raise AlreadyRunning(job, other)
        number = 1 + max((run["number"] for run in runs), default=0)
        rows = [
            *(
                LedgerRow(
                    dead["run_id"], job, dead["number"], ABANDONED, reason="its process is gone"
                )
                for dead in open_claims
            ),
            LedgerRow(run_id, job, number, CLAIMED, code_version=code_version),
        ]
        checkpoint(f"{job}:before:claim")
        try:
            _append(
                table, rows, CommitProperties(app_transactions=[Transaction(f"weir-{job}", number)])
            )
        except CommitFailedError:
            before = table.version()
            lake.committed(RUNS.name)
            if table.version() == before:
                # Nobody was quicker: the commit itself is impossible.
                raise
            continue
        checkpoint(f"{job}:after:claim")
        lake.committed(RUNS.name)
        return number


def record(lake: Lake, rows: Sequence[LedgerRow]) -> None:
    """Append rows in one commit; a `succeeded` or `failed` row without a query ends the claim."""
    if not rows:
        return
    table = create_if_missing(lake, RUNS)
    checkpoint(f"{rows[0].job}:before:runs")
    _append(table, rows, CommitProperties())
    checkpoint(f"{rows[0].job}:after:runs")
    lake.committed(RUNS.name)


def _append(table: DeltaTable, rows: Sequence[LedgerRow], properties: CommitProperties) -> None:
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


def rows_of(table: DeltaTable, job: str, columns: Sequence[str]) -> pa.Table:
    """These columns of a job's rows in the ledger `table`.

    A column that the ledger lacks, for an earlier version of Weir made it, is null.
    """
    present = {field.name for field in table.schema().fields}
    read = [name for name in columns if name in present]
    rows = table.to_pyarrow_table(columns=read, filters=[("job", "=", job)])
    for position, name in enumerate(columns):
        if name not in present:
            field = arrow_schema(RUNS).field(name)
            rows = rows.add_column(position, field, pa.nulls(len(rows), field.type))
    return rows


def _runs_of(table: DeltaTable, job: str) -> list[dict[str, Any]]:
    """The rows about runs of the job as a whole."""
    columns = ("run_id", "number", "status", "host", "pid", "process", "recorded_at", "query")
    return [row for row in rows_of(table, job, columns).to_pylist() if row["query"] is None]


def _open_claims(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Claims that no later row ended."""
    ended = {run["number"] for run in runs if run["status"] != CLAIMED}
    return [run for run in runs if run["status"] == CLAIMED and run["number"] not in ended]


def _goes_on(claim: Mapping[str, Any], lease_seconds: int) -> bool:
    if claim["host"] == socket.gethostname():
        return lives(claim["pid"], claim["recorded_at"], claim["process"])
    return bool(datetime.now(UTC) < claim["recorded_at"] + timedelta(seconds=lease_seconds))
