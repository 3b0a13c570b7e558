"""The requests of an evaluation in the table `requests`, which outlives the run that makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

import pyarrow.compute as pc
import pyarrow.dataset as ds

from weir.lake.delta.appended import NotAppended, appended_rows
from weir.lake.delta.commit import arrow_schema, create_if_missing, write
from weir.lake.delta.metadata import Metadata
from weir.lake.instants import microseconds
from weir.lake.lake import Lake
from weir.lake.tables import REQUESTS
from weir.remotes.asking import Fetched, Sent
from weir.remotes.budget import Amount, Entry, Phase
from weir.remotes.declarations import Remote
from weir.remotes.http.outcomes import Failure
from weir.remotes.inbox import JOB
from weir.remotes.replica_inbox import PastAttempt

ANSWERED, NOT_SENT = "answered", "not_sent"


@dataclass(slots=True)
class EvaluationLog:
    """The requests of one evaluation, of a remote or a traversal.

    Attributes:
        lake: has the table.
        owner: name of the remote or traversal that pays for them.
        evaluation: its instant.
        run_id: of the run.
        clock: the time.
        earlier: the rows of `requests` since the last evaluation that ended, of the owner.
    """

    lake: Lake
    owner: str
    evaluation: datetime
    run_id: str
    clock: Callable[[], datetime]
    earlier: Sequence[Mapping[str, Any]] = ()
    _own: list[Mapping[str, Any]] = field(default_factory=list)

    @classmethod
    def since(
        cls,
        lake: Lake,
        owner: str,
        evaluation: datetime,
        run_id: str,
        clock: Callable[[], datetime],
        version: int,
    ) -> Self:
        """The log of an evaluation; earlier ones had ended at a version of `requests`, -1: none."""
        return cls(lake, owner, evaluation, run_id, clock, _rows_since(lake, owner, version))

    def entries(self) -> list[Entry]:
        """The requests of the evaluation so far, those of runs that died among them."""
        return [
            Entry(
                row["request_id"],
                row["phase"],
                Amount(row["requests"], row["keys"], row["bytes"], row["seconds"]),
            )
            for row in (*self.earlier, *self._own)
            if row["evaluation"] == self.evaluation
        ]

    def row(self, request_id: str, phase: Phase, amount: Amount) -> dict[str, Any]:
        """The columns of a row that every request has."""
        return {
            "request_id": request_id,
            "owner": self.owner,
            "evaluation": self.evaluation,
            "phase": phase,
            "requests": amount.requests,
            "keys": amount.keys,
            "bytes": amount.bytes,
            "seconds": amount.seconds,
            "run_id": self.run_id,
        }

    def append(self, rows: list[Mapping[str, Any]]) -> None:
        """Commit rows."""
        metadata = Metadata(self.run_id, JOB, watermark=0)
        # A table of an earlier version of Weir gets the columns that are new.
        write(self.lake, REQUESTS, rows, metadata, merge_schema=True)
        self._own += rows


@dataclass(slots=True)
class RequestLog(EvaluationLog):
    """The requests of one evaluation of a remote that SERVICE names (`weir.remotes.asking.Store`).

    Attributes:
        remote: who is asked.
    """

    remote: Remote = field(kw_only=True)

    @classmethod
    def of_remote(
        cls,
        lake: Lake,
        remote: Remote,
        evaluation: datetime,
        run_id: str,
        clock: Callable[[], datetime],
        version: int,
    ) -> RequestLog:
        """The log of an evaluation; earlier ones had ended at a version of `requests`, -1: none."""
        earlier = _rows_since(lake, remote.name, version)
        return cls(lake, remote.name, evaluation, run_id, clock, earlier, remote=remote)

    def attempts(self) -> list[PastAttempt]:
        """The requests that were sent since the last evaluation that ended, the oldest first."""
        rows = self._of_address()
        sent = [row for row in rows if _is_settled(row) and row["outcome"] != NOT_SENT]
        # Of a request that a killed run had reserved it is not known whether it was sent.
        settled = {row["request_id"] for row in rows if _is_settled(row)}
        own = {row["request_id"] for row in self._own}
        open_ = [row for row in rows if row["request_id"] not in settled | own]
        past = [
            *(PastAttempt(microseconds(row["started_at"]), _failure(row)) for row in sent),
            *(PastAttempt(microseconds(row["started_at"]), None, is_known=False) for row in open_),
        ]
        return sorted(past, key=lambda attempt: attempt.at)

    def not_before(self) -> datetime | None:
        """Until when the remote asked to be left alone since the last evaluation that ended."""
        times = [row.get("not_before") for row in self._of_address()]
        return max((time for time in times if time is not None), default=None)

    def failure(self) -> str:
        """Why the newest of the requests failed that did since the last evaluation that ended."""
        failed = [row for row in self._of_address() if _is_settled(row) and row.get("reason")]
        newest = max(failed, key=lambda row: microseconds(row["started_at"]), default=None)
        return "" if newest is None else str(newest["reason"])

    def _of_address(self) -> list[Mapping[str, Any]]:
        """The rows of requests to where the remote is: its URL may have been edited."""
        rows = (*self.earlier, *self._own)
        return [row for row in rows if row.get("address") in (None, self.remote.address)]

    def reserve(self, sent: Sequence[Sent]) -> None:
        """Record, in one commit, requests that may be sent from now on."""
        now = self.clock()
        given = {"started_at": now, "outcome": None}
        self.append([self._row(request, "reserved", request.most) | given for request in sent])

    def settle(self, ended: Sequence[tuple[Sent, Fetched | None]]) -> None:
        """Record, in one commit, how requests ended; None: it was not sent."""
        self.append([self._settled(sent, fetched) for sent, fetched in ended])

    def _settled(self, sent: Sent, fetched: Fetched | None) -> Mapping[str, Any]:
        if fetched is None:
            return self._row(sent, "settled", Amount()) | {
                "outcome": NOT_SENT,
                "started_at": self.clock(),
            }
        result = fetched.result
        failure = result if isinstance(result, Failure) else None
        wait = None if failure is None else failure.retry_after
        return self._row(sent, "settled", fetched.took) | {
            "method": fetched.method,
            "peer": fetched.peer or None,
            "status": failure.status if failure else 200,
            "outcome": failure.kind if failure else ANSWERED,
            "reason": failure.reason if failure else None,
            "started_at": fetched.started_at,
            "not_before": None if wait is None else self.clock() + timedelta(seconds=wait),
        }

    def _row(self, sent: Sent, phase: Phase, amount: Amount) -> dict[str, Any]:
        url = self.remote.url or self.remote.iri
        return self.row(sent.request_id, phase, amount) | {
            "host": urlsplit(url).hostname or "",
            "url": shown_url(url),
            "address": self.remote.address,
            "attempt": sent.attempt,
        }


def shown_url(url: str) -> str:
    """A URL without user, query and fragment, which may have a secret; empty if it is none."""
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets that hold no address
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def version_of_requests(lake: Lake) -> int:
    """The version of `requests`, which is created if it is missing."""
    return create_if_missing(lake, REQUESTS).version()


def _rows_since(lake: Lake, owner: str, version: int) -> list[dict[str, Any]]:
    newest = version_of_requests(lake)
    try:
        rows = appended_rows(lake, REQUESTS.name, max(version, 0), newest, arrow_schema(REQUESTS))
        own = rows.filter(pc.field("owner") == owner)
    except NotAppended:
        # The log no longer has those commits: more rows than needed do no harm.
        table = lake.existing(REQUESTS.name).to_pyarrow_dataset()
        own = table.to_table(filter=ds.field("owner") == owner)
    return list(own.to_pylist())


def _is_settled(row: Mapping[str, Any]) -> bool:
    return bool(row["phase"] == "settled")


def _failure(row: Mapping[str, Any]) -> Any:
    return None if row["outcome"] == ANSWERED else row["outcome"]
