"""The tables about a remote as the stage that refreshes it leaves them, written row by row.

Every evaluation is one consistent set of rows; a test changes what it is about before it is
written.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.projects.project import Project
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.instants import microseconds
from weir.lake.tables import FRESHNESS, REQUESTS, SERVICES, TRANSACTIONS, replica
from weir.project import open_lake
from weir.remotes.inbox import JOB
from weir.remotes.questions import content_of
from weir.remotes.replica_inbox import RoundMark
from weir.settings import Settings

START = datetime(2026, 1, 1, tzinfo=UTC)
EVERY = timedelta(minutes=10)
PATTERN = "p1"
REMOTES = """remotes:
  - name: wd
    iri: https://wd.example.org/sparql
    every: PT10M
    budget: {keys: 20, requests: 4, bytes: 100kB, seconds: 8}
    warn_after: PT20M
    error_after: PT1H
    min_fresh: 0.5
    contact: graph@example.org
"""
BUDGET = {"keys": 20, "requests": 4, "bytes": 100_000, "seconds": 8.0}

Row = dict[str, Any]
Answer = Sequence[str]
"""The objects that a key has, each in one mapping."""


@dataclass(slots=True)
class Written:
    """One evaluation: the rows of each table, which a test may change before they are written.

    Attributes:
        number: of the round.
        requests: rows of `requests`.
        inbox: rows of `replicas/<remote>`.
        freshness: rows of `freshness`.
        extra: of the commit of the round; empty if there is none.
        commits: how often the round is committed.
    """

    number: int
    requests: list[Row]
    inbox: list[Row]
    freshness: list[Row]
    extra: dict[str, Any]
    commits: int = 1

    def asked(self) -> list[Row]:
        """The rows about keys."""
        return [row for row in self.inbox if row["part"] == "key"]

    def mappings(self) -> list[Row]:
        """The rows about mappings."""
        return [row for row in self.inbox if row["part"] == "mapping"]

    def settled(self) -> list[Row]:
        """The rows of requests that have ended."""
        return [row for row in self.requests if row["phase"] == "settled"]


@dataclass(slots=True)
class RemoteTables:
    """The tables about the remote `wd` of a project.

    Attributes:
        folder: of the project.
        rounds: how many rounds were made.
        changed: the newest that changed a mapping.
        epochs: how many epochs there are.
    """

    folder: Path
    remote: str = "wd"
    rounds: int = 0
    changed: int = 0
    epochs: int = 0
    known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    rows_round: dict[str, int] = field(default_factory=dict)
    answered_at: dict[str, datetime] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        """Of the project."""
        return Project(self.folder).settings

    def register(self, pattern: str = PATTERN, first_seen: datetime = START) -> None:
        """A query asks for the pattern."""
        row = {
            "pattern": pattern,
            "remote": self.remote,
            "text": "?s <urn:p> ?o",
            "variables": '["s", "o"]',
            "key": '["s"]',
            "first_seen": first_seen,
            "run_id": "maintain",
        }
        self._write(SERVICES, [row])

    def evaluation(self, number: int) -> datetime:
        """The instant of a round."""
        return START + number * EVERY

    def next(
        self,
        answers: Mapping[str, Answer | None],
        *,
        not_asked: int = 0,
        asked_until: datetime | None = None,
        address: str = "",
        **changes: Any,
    ) -> Written:
        """The next round, in which keys were asked for; None: that failed.

        Args:
            answers: by the local name of the key.
            not_asked: elected keys that there was no budget for.
            asked_until: until when the remote had asked to be left alone.
            address: what stands for where it was asked.
            changes: columns of the row of `freshness`.
        """
        self.rounds += 1
        number, at = self.rounds, self.evaluation(self.rounds)
        written = Written(number, [], [], [], {})
        for place, (name, answer) in enumerate(answers.items()):
            request_id = f"r{number}.{place}"
            started = at + timedelta(seconds=2 * place)
            written.requests += [
                row | {"address": address or None}
                for row in _request(self.remote, request_id, at, started, answer is not None)
            ]
            written.inbox += self._key(number, at, started, name, answer, request_id)
        statuses = Counter(row["status"] for row in written.asked())
        changed_before = self.changed
        if any(row["before"] != row["multiplicity"] for row in written.mappings()):
            self.changed = number
        written.freshness = [self._freshness(number, at, written, statuses, not_asked) | changes]
        until = None if asked_until is None else microseconds(asked_until)
        mark = RoundMark(
            number, microseconds(at), self.changed, changed_before, 0, until, address=address
        )
        written.extra = asdict(mark)
        return written

    def write(self, written: Written) -> None:
        """Commit the rows of a round, in the order of the stage."""
        self._write(REQUESTS, [row for row in written.requests if row["phase"] == "reserved"])
        self._write(REQUESTS, written.settled())
        for _ in range(written.commits):
            self._write(replica(self.remote), written.inbox, written.extra, even_if_empty=True)
        self._write(FRESHNESS, written.freshness)

    def refresh(self, answers: Mapping[str, Answer | None], **changes: Any) -> Written:
        """Make and write a round."""
        written = self.next(answers, **changes)
        self.write(written)
        return written

    def ingest(self, *rounds: int) -> None:
        """Make epochs of rounds."""
        rows = []
        for number in rounds:
            self.epochs += 1
            at = self.evaluation(number)
            rows.append(
                {
                    "epoch": self.epochs,
                    "source": self.remote,
                    "position": str(number),
                    "event_time": at,
                    "ingested_at": at,
                    "inserted": 1,
                    "deleted": 0,
                    "rejected": 0,
                    "run_id": "ingest",
                }
            )
        self._write(TRANSACTIONS, rows)

    def _write(
        self,
        table: Any,
        rows: Sequence[Row],
        extra: Mapping[str, Any] | None = None,
        *,
        even_if_empty: bool = False,
    ) -> None:
        if rows or even_if_empty:
            metadata = Metadata("refresh", JOB, 0, extra=extra or {})
            write(open_lake(self.settings), table, rows, metadata)

    def _key(
        self,
        number: int,
        at: datetime,
        asked_at: datetime,
        name: str,
        answer: Answer | None,
        request_id: str,
    ) -> list[Row]:
        before = self.known.get(name)
        after = before if answer is None else tuple(answer)
        if answer is None:
            status = "failed"
        elif before is not None and sorted(before) == sorted(after or ()):
            status = "unchanged"
        else:
            status = "gone" if before and not after else "changed"
        has_changed = status in ("changed", "gone")
        if answer is not None:
            self.known[name] = tuple(answer)
            self.answered_at[name] = asked_at
        if has_changed:
            self.rows_round[name] = number
        common: Row = {
            "round": number,
            "evaluation": at,
            "pattern": PATTERN,
            "key": json.dumps([f"<urn:{name}>"]),
            "request_id": request_id,
            "run_id": "refresh",
        }
        mappings = {**dict.fromkeys(before or (), 0), **Counter(after or ())}
        rows = {_row(name, mapping): times for mapping, times in Counter(after or ()).items()}
        rows_of_key = [
            common
            | {
                "part": "key",
                "status": status,
                "rows": len(after or ()),
                "rows_round": self.rows_round.get(name),
                "content": None if after is None else content_of(rows),
                "answers": 0,
                "changes": 0,
                "seconds": 0.0,
                "sampled": False,
                "asked_at": asked_at,
                "answered_at": self.answered_at.get(name),
                "reason": "it did not answer" if answer is None else None,
            }
        ]
        if has_changed:
            rows_of_key += [
                common
                | {
                    "part": "mapping",
                    "mapping": json.dumps(dict(_row(name, mapping))),
                    "before": Counter(before or ())[mapping],
                    "multiplicity": times,
                }
                for mapping, times in mappings.items()
            ]
        return rows_of_key

    def _freshness(
        self,
        number: int,
        at: datetime,
        written: Written,
        statuses: Mapping[str, int],
        not_asked: int,
    ) -> Row:
        ages = sorted(max((at - time).total_seconds(), 0.0) for time in self.answered_at.values())
        names = {row["key"] for row in written.asked()} | {
            json.dumps([f"<urn:{name}>"]) for name in self.answered_at
        }
        failed = statuses.get("failed", 0)
        settled = written.settled()
        return {
            "remote": self.remote,
            "pattern": PATTERN,
            "evaluation": at,
            "round": number,
            "changed_keys": statuses.get("changed", 0) + statuses.get("gone", 0),
            "candidates": len(names) + not_asked,
            "never_asked": len(names) + not_asked - len(ages),
            "elected": len(written.asked()) + not_asked,
            "answered": len(written.asked()) - failed,
            **{
                status: statuses.get(status, 0)
                for status in ("changed", "unchanged", "gone", "suspect", "failed", "too_large")
            },
            "not_asked": not_asked,
            "failure": "it did not answer" if failed else None,
            "stale_before": 2.0,
            "stale_after": 1.0,
            "stale_sampled": None,
            "oldest_seconds": ages[-1] if ages else None,
            "median_seconds": ages[len(ages) // 2] if ages else None,
            "p95_seconds": ages[-1] if ages else None,
            "share_fresh": 1.0 if ages else None,
            "warn_after": 1200.0,
            "error_after": 3600.0,
            "min_fresh": 0.5,
            **{f"{unit}_budget": value for unit, value in BUDGET.items()},
            **{f"{unit}_used": sum(row[unit] for row in settled) for unit in BUDGET},
            "policy": "LRU.F+",
            "alpha": 0.2,
            "not_before": None,
            "not_before_reason": None,
            "stop": "budget" if not_asked else "done",
            "state": "fresh",
            "reason": None,
            "run_id": "refresh",
        }


def _row(name: str, value: str) -> tuple[tuple[str, str], ...]:
    return (("o", value), ("s", f"<urn:{name}>"))


def _request(
    remote: str, request_id: str, at: datetime, started: datetime, is_answered: bool
) -> list[Row]:
    common: Row = {
        "request_id": request_id,
        "owner": remote,
        "evaluation": at,
        "requests": 1,
        "keys": 1,
        "host": "wd.example.org",
        "attempt": 1,
        "started_at": started,
        "run_id": "refresh",
    }
    most = {"phase": "reserved", "bytes": 20_000, "seconds": 1.5}
    took = {
        "phase": "settled",
        "bytes": 5_000,
        "seconds": 0.25,
        "method": "GET",
        "url": "https://wd.example.org/sparql",
        "peer": "192.0.2.1",
        "status": 200 if is_answered else 500,
        "outcome": "answered" if is_answered else "server_error",
    }
    return [common | most, common | took]


def remote_project(folder: Path, remotes: str = REMOTES) -> RemoteTables:
    """A project that declares the remote `wd`, whose pattern a query asks for."""
    Project(folder).write("remotes.yml", remotes)
    tables = RemoteTables(folder)
    tables.register()
    return tables
