"""What all stages share: the claim in the ledger, rows about what was done, the result."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any, Literal

from weir.errors import BusyError, WeirError
from weir.lake.damage.storage_errors import storage_errors
from weir.lake.interrupts import finishing, is_requested
from weir.lake.lake import Lake
from weir.lake.ledger.claims import AlreadyRunning, claim, release
from weir.lake.ledger.claims import end as end_claim
from weir.lake.ledger.fences import Fence, Superseded
from weir.lake.ledger.leases import renewing
from weir.lake.ledger.runs import FAILED, SKIPPED, SUCCEEDED, UNTOUCHED, LedgerRow
from weir.lake.ledger.summary import read_ledger
from weir.lake.ledger.untouched import Range, entries, watermarks_of
from weir.lake.tables import RUNS
from weir.text.secret_values import without_secrets

Job = Literal[
    "ingest",
    "maintain",
    "validate",
    "publish",
    "notify",
    "compact",
    "refresh",
    "freshness",
    "audit",
]
_WHY = {UNTOUCHED: "no row of it changed", SKIPPED: "it was not examined"}
"""The reason in the ledger of a query for which nothing was committed, by mode."""
Progress = Callable[[str], None]
"""Receives the progress of a stage, line by line."""


class StageResult:
    """The result of a stage; each stage overrides what it has."""

    __slots__ = ()

    @property
    def did_something(self) -> bool:
        """Whether it changed or examined anything, or a check passed."""
        return False

    @property
    def is_worth_reporting(self) -> bool:
        """Whether a process that runs again and again reports it."""
        return self.did_something

    @property
    def only_waits(self) -> bool:
        """Whether everything that is left to do waits for answers of remotes."""
        return False

    @property
    def summary(self) -> str:
        """What it did, in a few words."""
        return ""

    @property
    def errors(self) -> tuple[WeirError, ...]:
        """The errors despite which the stage ended, of single sources, queries or remotes."""
        return ()

    @property
    def warnings(self) -> Sequence[str]:
        """What does not fail a run, but should be known."""
        return ()


def silent(line: str) -> None:
    """Discard progress."""
    del line


def new_run_id(job: str) -> str:
    """A run id that sorts by time."""
    return f"{job}-{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:6]}"


@dataclass(slots=True)
class Claim:
    """A run that holds the claim of its job, with the rows that it will record."""

    run_id: str
    job: str
    number: int
    rows: list[LedgerRow] = field(default_factory=list)
    totals: dict[str, Any] = field(default_factory=dict)
    _untouched: dict[str, Range] = field(default_factory=dict)

    def report(self, query: str, *, status: str = SUCCEEDED, **values: Any) -> None:
        """Record a row about a query at the end of the run; `values` are columns of `runs`."""
        self.rows.append(
            LedgerRow(self.run_id, self.job, self.number, status, query=query, **values)
        )

    def note(self, job: str, what: str, *, status: str = SUCCEEDED, **values: Any) -> None:
        """Record a row at the end of the run that is not about its queries.

        Args:
            job: another name than that of a stage, so that no reader takes it for a query's row.
            what: the row is about; in the column `query`.
            status: of the row.
            values: further columns of `runs`.
        """
        self.rows.append(LedgerRow(self.run_id, job, self.number, status, query=what, **values))

    def untouched(self, query: str, from_epoch: int, to_epoch: int) -> None:
        """Move the watermark of a query without a commit; all such queries share one row."""
        self._untouched[query] = from_epoch, to_epoch

    def recorded(self, lake: Lake) -> Iterator[LedgerRow]:
        """The rows about queries, for the ledger."""
        yield from self.rows
        if not self._untouched:
            return
        watermarks = watermarks_of(read_ledger(lake).rows, self.job)
        own = (row for row in self.rows if row.job == self.job)
        reported = {row.query for row in own if row.query is not None}
        for entry in entries(watermarks, self._untouched, reported):
            from_epoch, to_epoch = entry.epochs
            yield LedgerRow(
                self.run_id,
                self.job,
                self.number,
                SUCCEEDED,
                entry.query,
                entry.mode,
                _WHY[entry.mode],
                from_epoch,
                to_epoch,
            )


@cache
def _code_version() -> str:
    """The version of Weir, which takes some milliseconds to look up."""
    return version("weir")


@contextmanager
def claimed(
    lake: Lake,
    job: Job,
    run_id: str,
    lease_seconds: int,
    *,
    of: str = "",
    brief: bool = False,
    patience: float = 0.0,
) -> Iterator[Claim]:
    """Hold the claim of `job`; at the end its rows are recorded in one commit, failed or not.

    If another run has recorded anything since the lake was opened, the lake is refreshed.

    Args:
        lake: has the ledger.
        job: what runs.
        run_id: of the run.
        lease_seconds: how long a run counts as alive for other machines; it is renewed.
        of: what the run is for; runs for different things may go on at once.
        brief: whether it is held for moments only, so that others wait for its end.
        patience: seconds to wait for the end of another run.

    Raises:
        BusyError: another run of the job is in progress.
        StorageError: the ledger cannot be read or written.
    """
    seen = lake.version(RUNS.name)
    name = f"{job}:{of}" if of else job
    try:
        with storage_errors(lake.location(RUNS.name)):
            number = claim(
                lake,
                name,
                run_id,
                lease_seconds=lease_seconds,
                code_version=_code_version(),
                brief=brief,
                patience=patience,
            )
    except AlreadyRunning as running:
        raise BusyError(str(running), "", "") from None
    run, fence = Claim(run_id, name, number), Fence(name, number)
    started = time.monotonic()

    def end(rows: Iterable[LedgerRow], status: str, reason: str | None) -> None:
        whole = LedgerRow(
            run_id,
            name,
            number,
            status,
            reason=reason,
            seconds=time.monotonic() - started,
            code_version=_code_version(),
            **run.totals,
        )
        recorded = [
            row if row.reason is None else replace(row, reason=without_secrets(row.reason))
            for row in (*rows, whole)
        ]
        end_claim(lake, fence, recorded)

    lake.hold(fence)
    try:
        # The claim is a commit of its own, the first one after that which creates the ledger.
        if lake.version(RUNS.name) != (1 if seen is None else seen + 1):
            # Another run may have done the work before the claim was held.
            lake.refresh()
        with renewing(lake, name, number, lease_seconds):
            try:
                yield run
                # A stage may have collected this error as that of a query.
                if fence.lost is not None:
                    raise fence.lost
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt) or is_requested():
                    # Rows about queries may report errors that the interrupt caused.
                    with finishing(), suppress(Superseded):
                        end([], FAILED, "interrupted")
                    if not isinstance(error, KeyboardInterrupt):
                        raise KeyboardInterrupt from error
                    raise
                try:
                    end(
                        run.recorded(lake),
                        FAILED,
                        without_secrets(str(error))[:1000] or type(error).__name__,
                    )
                except Superseded as superseded:
                    # What it read is a mixture of before and after the other run: the error may be
                    # about nothing that is wrong.
                    raise (fence.lost or superseded) from error
                if fence.lost is not None:
                    raise fence.lost from error
                raise
            end(run.recorded(lake), SUCCEEDED, None)
    except Superseded as superseded:
        raise BusyError(str(superseded), "", "") from None
    finally:
        lake.release(fence)
        release(run_id, name, number)
