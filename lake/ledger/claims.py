"""Claims: one run of a job at a time, by rows of the ledger (delta-rs, no Spark)."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import Transaction
from deltalake.exceptions import CommitFailedError

from weir.lake.delta.commit import checkpoint
from weir.lake.lake import Lake
from weir.lake.ledger.fences import Fence, Superseded
from weir.lake.ledger.leases import clock, forget, renew, renewed_at
from weir.lake.ledger.processes import identity, lives
from weir.lake.ledger.runs import ABANDONED, CLAIMED, LedgerRow, append_to, ready, record
from weir.lake.ledger.summary import Ledger, read_ledger, write_summary
from weir.lake.tables import RUNS

BRIEF: Final = "brief"
"""The `mode` of a claim that is held for a moment: others wait for its end."""
_WAIT_FOR_BRIEF = 30.0
"""Seconds that others wait for the end of a brief claim."""
_LOOK_EVERY = 0.05
"""Seconds between two looks whether another run has ended."""
_held: list[tuple[str, str, int]] = []
"""The claims that runs of this process hold: run, job, number."""


class AlreadyRunning(Exception):  # noqa: N818  (named after what is wrong)
    """Another run of the job is in progress."""

    def __init__(self, job: str, claim: Mapping[str, Any]) -> None:
        self.job, self.run_id = job, claim["run_id"]
        self.host, self.pid, self.since = claim["host"], claim["pid"], claim["recorded_at"]
        super().__init__(
            f"run {self.run_id} of {job} has been running since {self.since:%Y-%m-%d %H:%M:%S} UTC"
            f" (process {self.pid} on {self.host})."
            " Wait for it to end, or end that process and try again."
        )


def claim(
    lake: Lake,
    job: str,
    run_id: str,
    *,
    lease_seconds: int,
    code_version: str | None = None,
    brief: bool = False,
    patience: float = 0.0,
) -> int:
    """Claim the next number of `job` for this process and return it.

    One append carries the number as a Delta transaction of the job: if two processes claim at once,
    Delta lets one commit; the other reads again and finds the claim of the winner.

    A claim that was not ended is active for a time: a claim of this process until it is released,
    of another process of this machine while that lives, and of another machine for `lease_seconds`
    after it was made or renewed (`weir.lake.ledger.leases`). Later it is marked `abandoned`.

    Args:
        lake: has the ledger.
        job: what is claimed.
        run_id: of the run that claims it.
        lease_seconds: how long a claim of another machine is active.
        code_version: of Weir.
        brief: whether the claim is held for a moment only, so that others wait for its end.
        patience: seconds to wait for the end of another run.

    Raises:
        AlreadyRunning: another run of the job is in progress.
    """
    table = ready(lake)
    began = time.monotonic()
    while True:
        lake.follow(RUNS.name)
        ledger = read_ledger(lake)
        runs = _runs_of(ledger, job)
        open_claims = _open_claims(runs)
        other = next(
            (run for run in open_claims if _is_active(lake, job, run, lease_seconds)), None
        )
        if other is not None:
            wait = _WAIT_FOR_BRIEF if other["mode"] == BRIEF else patience
            if time.monotonic() - began >= wait:
                raise AlreadyRunning(job, other)
            time.sleep(_LOOK_EVERY)
            continue
        see_others(lake)
        number = 1 + max((run["number"] for run in runs), default=0)
        rows = [
            *(
                LedgerRow(
                    dead["run_id"],
                    job,
                    dead["number"],
                    ABANDONED,
                    reason="its end could not be recorded"
                    if _is_of_this_process(dead)
                    else "its process is gone",
                )
                for dead in open_claims
            ),
            LedgerRow(
                run_id,
                job,
                number,
                CLAIMED,
                mode=BRIEF if brief else None,
                code_version=code_version,
            ),
        ]
        checkpoint(f"{job}:before:claim")
        before = table.version()
        held = run_id, job, number
        _held.append(held)
        try:
            append_to(lake, rows, Transaction(_application(job), number))
            checkpoint(f"{job}:after:claim")
            for dead in open_claims:
                forget(lake, job, dead["number"])
            if open_claims:
                # A run that was killed may have committed after the lake was opened.
                lake.refresh()
            lake.committed(RUNS.name)
            write_summary(lake, ledger, job, run_id)
        except BaseException as error:
            _held.remove(held)
            if not isinstance(error, CommitFailedError):
                raise
            lake.committed(RUNS.name)
            if table.version() == before:
                # No other run committed a claim in between: the commit itself is impossible.
                raise
            continue
        return number


def release(run_id: str, job: str, number: int) -> None:
    """Give up a claim, even if its end could not be recorded."""
    _held.remove((run_id, job, number))


def end(lake: Lake, fence: Fence, rows: Sequence[LedgerRow]) -> None:
    """Record the rows of a run that holds a claim; the last row ends the claim.

    Raises:
        Superseded: another run has taken the claim over; nothing was recorded.
    """

    def checked() -> None:
        _require(lake, fence)

    for last in (False, True):
        try:
            transaction = Transaction(_application(fence.name), fence.number)
            record(lake, rows, transaction=transaction, checked=checked)
        except CommitFailedError:
            # Another run claimed at this moment.
            if last:
                raise
        else:
            return


def require_held(lake: Lake) -> None:
    """Check that this process still holds its claims, before a change that passes no fence.

    Renaming a folder is such a change.

    Raises:
        Superseded: another run has taken a claim over.
    """
    lake.follow(RUNS.name)
    for fence in lake.guard(RUNS.name).fences:
        _require(lake, fence)


def _require(lake: Lake, fence: Fence) -> None:
    runs = _runs_of(read_ledger(lake), fence.name)
    if any(run["number"] == fence.number and run["status"] == ABANDONED for run in runs):
        raise Superseded(
            f"another run of {fence.name} took over from this one, number {fence.number}, which"
            " was paused or cut off from the lake for longer than its lease. What this run had"
            " committed stays, and nothing was committed twice."
        )


def has_open_claim(lake: Lake) -> bool:
    """Whether a claim of any job was not ended: its run goes on, or it died and left something."""
    return bool(_open_claims(_runs_of(read_ledger(lake))))


def see_others(lake: Lake) -> bool:
    """See what other processes commit while the ledger stands still.

    Returns:
        Whether there may be such: a claim that they made was not ended.
    """
    others = not lake.storage.is_folder and not all(
        map(_is_of_this_process, _open_claims(_runs_of(read_ledger(lake))))
    )
    if others:
        lake.storage.expire()
    return others


def _application(job: str) -> str:
    """The identifier of the transactions of the ledger that are about the claims of a job."""
    return f"weir-{job}"


def _runs_of(ledger: Ledger, job: str | None = None) -> list[dict[str, Any]]:
    """The rows about runs as a whole, of one job or of all."""
    rows = ledger.rows
    chosen = pc.is_null(rows["query"])
    if job is not None:
        chosen = pc.and_(chosen, pc.equal(rows["job"], pa.scalar(job)))
    columns = ["run_id", "job", "number", "status", "mode", "host", "pid", "process", "recorded_at"]
    runs: list[dict[str, Any]] = rows.select(columns).filter(chosen).to_pylist()
    return runs


def _open_claims(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The claims that no other row ends."""
    ended = {(run["job"], run["number"]) for run in runs if run["status"] != CLAIMED}
    return [run for run in runs if (run["job"], run["number"]) not in ended]


def _is_of_this_process(claim: Mapping[str, Any]) -> bool:
    pid = os.getpid()
    known_as = claim["host"], claim["pid"], claim["process"]
    return known_as == (socket.gethostname(), pid, identity(pid))


def _is_active(lake: Lake, job: str, claim: Mapping[str, Any], lease_seconds: int) -> bool:
    if _is_of_this_process(claim):
        return (claim["run_id"], job, claim["number"]) in _held
    if claim["host"] == socket.gethostname():
        return lives(claim["pid"], claim["recorded_at"], claim["process"])
    renewed, now = renewed_at(lake, job, claim["number"]), datetime.now(UTC)
    if renewed is not None:
        # The clocks of two machines differ; renewals are dated by the place where the lake is.
        since, now = renewed, clock(lake)
    elif (since := claim["recorded_at"]) > now:
        # Its clock is ahead of this one. Nobody knows since when it holds: from now on, then.
        renew(lake, job, claim["number"])
        return True
    return bool(now < since + timedelta(seconds=lease_seconds))
