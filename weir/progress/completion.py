"""Watermarks, backlogs and verdicts of a lake, read once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.runs import DROPPED, FAILED, REMOVED, RETYPED, SUCCEEDED, UNTOUCHED
from weir.lake.ledger.summary import read_ledger
from weir.lake.tables import ANSWERS, CURRENT, EMBEDDINGS
from weir.progress.backlog import Backlog, backlog_of
from weir.progress.failed_attempts import FailedAttempts
from weir.progress.verdicts import PassedChecks, Verdict, graph_failure
from weir.progress.watermarks import KnownCommit, Watermark, head, quads, watermark

if TYPE_CHECKING:  # most of what reads this prints answers, and needs no types
    from weir.typed.layout import Layout

_Job = Literal["maintain", "publish", "current"]
ABOUT_CURRENT: Literal["current"] = "current"
"""The job in rows of the ledger about tables `current/<query>`, which publish writes."""
LAYOUT = "layout"
"""A key in the metadata of such a table: its columns."""
FOLLOWS = "follows"
"""A key in this metadata: the version of the log of the answer that the table equals."""
_ENDED = (SUCCEEDED, FAILED)
_COLUMNS = (
    "job",
    "query",
    "status",
    "mode",
    "reason",
    "from_epoch",
    "to_epoch",
    "table_version",
    "checked_run",
    "commit_metadata",
    "seconds",
    "recorded_at",
    "failed_attempts",
    "passed_checks",
    "checks",
)


@dataclass(frozen=True, slots=True)
class FailedRun:
    """A failed run that is the last of its job.

    Attributes:
        job: what ran.
        at: when it ended.
        reason: what failed, where, and what to do.
    """

    job: str
    at: datetime
    reason: str


@dataclass(frozen=True)
class Completion:
    """How far each table of a lake is complete, at the time of reading.

    The ledger is read on creation, the tables of a query when they are first needed.
    """

    lake: Lake
    _rows: tuple[dict[str, Any], ...] = field(repr=False)
    """The rows of the ledger that still matter, in the order of runs."""
    _watermarks: dict[tuple[_Job, str], Watermark | None] = field(
        default_factory=dict, init=False, repr=False
    )
    _damaged_tables: dict[str, DamagedTable] = field(default_factory=dict, init=False, repr=False)
    _works: dict[str, Backlog | DamagedTable | None] = field(
        default_factory=dict, init=False, repr=False
    )

    @classmethod
    def read(cls, lake: Lake) -> Completion:
        """The completion of a lake in the state that the lake has open."""
        return cls(lake, tuple(read_ledger(lake).rows.select(_COLUMNS).to_pylist()))

    @cached_property
    def head(self) -> int:
        """The newest epoch, 0 before the first."""
        return head(self.lake)

    @cached_property
    def quads(self) -> int:
        """How many quads the graph has at the newest epoch."""
        return quads(self.lake)

    def maintained(self, query: str) -> Watermark | None:
        """How far the embedding table of a query is complete; None before its first commit."""
        return self._watermark("maintain", query, EMBEDDINGS.name(query))

    def published(self, query: str) -> Watermark | None:
        """How far the answer table of a query is complete; None before its first commit."""
        return self._watermark("publish", query, ANSWERS.name(query))

    def current(self, query: str) -> Watermark | None:
        """How far the table `current/<query>` is complete; None if there is none.

        None also if its log is damaged (`damaged_table`): then it is written again.
        """
        if query in self._damaged_tables:
            return None
        try:
            return self._watermark(ABOUT_CURRENT, query, CURRENT.name(query))
        except DamagedTable as error:
            self._damaged_tables[query] = error
            return None

    def damaged_table(self, query: str) -> DamagedTable | None:
        """Why the log of the table `current/<query>` cannot be read; None if it can, or is none."""
        self.current(query)
        return self._damaged_tables.get(query)

    def has_table(self, query: str) -> bool:
        """Whether the ledger knows of a table `current/<query>`; nothing else is asked."""
        row = self.about_current.get(query)
        return row is not None and row["mode"] not in (None, DROPPED, REMOVED)

    def may_be_built(self, query: str, published: Watermark, most: int) -> bool:
        """Whether a table may be made of a published answer: if it has at most `most` rows."""
        row, extra = self.about_current.get(query), published.metadata.extra
        if row is not None and row["mode"] == REMOVED and row["table_version"] == published.version:
            # A run could not.
            return False
        return bool(extra["columns"]) and int(extra["rows"]) <= most

    def follows(self, query: str) -> bool:
        """Whether there is a table `current/<query>` that equals the published answer."""
        stored, published = self.current(query), self.published(query)
        if stored is None or published is None:
            return False
        return bool(stored.metadata.extra[FOLLOWS] == published.version)

    def layout(self, query: str) -> Layout | None:
        """The columns of the table `current/<query>`, also of one that is gone.

        None if they are to be decided.
        """
        from weir.typed.layout import Layout

        stored, row = self.current(query), self.about_current.get(query)
        if row is not None and row["mode"] in (DROPPED, RETYPED):
            # A later commit may not be in the ledger yet.
            version = None if stored is None else stored.version
            if row["mode"] == DROPPED or version in (None, row["table_version"]):
                return None
        if stored is not None:
            return Layout.from_json(stored.metadata.extra[LAYOUT])
        known = self._commits.get((ABOUT_CURRENT, query))
        metadata = None if known is None else Metadata.from_json(known.metadata)
        return None if metadata is None else Layout.from_json(metadata.extra[LAYOUT])

    def backlog(self, queries: Iterable[str]) -> tuple[Backlog, ...]:
        """The backlogs of the queries that have one and are not damaged.

        `damaged` has the damaged ones.
        """
        works = map(self._work, queries)
        return tuple(work for work in works if isinstance(work, Backlog))

    def answers(self, queries: Iterable[str]) -> tuple[Backlog, ...]:
        """The backlogs of queries, and what is published of those that have none.

        Only of queries whose embeddings have what is published, and that are not damaged.
        """
        works = ((query, self._work(query)) for query in queries)
        whole = (
            work if work is not None else self._published_answer(query)
            for query, work in works
            if not isinstance(work, DamagedTable)
        )
        return tuple(work for work in whole if work is not None)

    def _published_answer(self, query: str) -> Backlog | None:
        maintained, published = self.maintained(query), self.published(query)
        if maintained is None or published is None or maintained.epoch < published.epoch:
            return None
        return Backlog(query, maintained, published, rebuilt=False, reason="")

    def damaged(self, queries: Iterable[str]) -> dict[str, DamagedTable]:
        """The queries with a table whose newest commit cannot be read, and why.

        Other damage shows only when rows are read.
        """
        works = ((query, self._work(query)) for query in queries)
        return {query: work for query, work in works if isinstance(work, DamagedTable)}

    def _work(self, query: str) -> Backlog | DamagedTable | None:
        if query not in self._works:
            try:
                maintained, published = self.maintained(query), self.published(query)
                self._works[query] = backlog_of(self.lake, query, maintained, published)
            except DamagedTable as error:
                self._works[query] = error
        return self._works[query]

    @cached_property
    def verdicts(self) -> Mapping[str, Verdict]:
        """The last validation of every query."""
        return {
            row["query"]: Verdict(
                row["table_version"],
                row["checked_run"],
                row["from_epoch"],
                row["status"] == SUCCEEDED,
                row["reason"] or "",
                PassedChecks.from_json(row["passed_checks"]),
                row["checks"],
            )
            for row in self._about_queries("validate")
        }

    @cached_property
    def graph_validated_to(self) -> int:
        """The epoch up to which the checks of the graph succeeded, 0 before the first."""
        runs = (row for row in self._rows if row["job"] == "validate" and row["query"] is None)
        return max((row["to_epoch"] or 0 for row in runs), default=0)

    @cached_property
    def graph_failure(self) -> str | None:
        """Which checks of the epochs after `graph_validated_to` failed in the last run.

        None if none is known to have failed.
        """
        if self.graph_validated_to >= self.head:
            return None
        return graph_failure(self.lake, self.graph_validated_to)

    @cached_property
    def newest_runs(self) -> Mapping[str, Mapping[str, Any]]:
        """By job, the row of `runs` about its newest run that ended; the oldest of them first."""
        ended = [row for row in self._rows if row["query"] is None and row["status"] in _ENDED]
        ended.sort(key=lambda row: row["recorded_at"])
        newest = {row["job"]: row for row in ended}
        return dict(sorted(newest.items(), key=lambda item: item[1]["recorded_at"]))

    @cached_property
    def failed_runs(self) -> tuple[FailedRun, ...]:
        """The jobs whose last run failed, the newest failure first."""
        failed = [
            FailedRun(job, row["recorded_at"], row["reason"] or "")
            for job, row in self.newest_runs.items()
            if row["status"] == FAILED
        ]
        return tuple(sorted(failed, key=lambda run: run.at, reverse=True))

    @cached_property
    def last_maintenance(self) -> Mapping[str, tuple[str | None, str | None]]:
        """By query: mode and reason of the last run of maintain that reported on it.

        Of all queries that were ever maintained, also of removed ones.
        """
        rows = self._about_queries("maintain")
        return {row["query"]: (row["mode"], row["reason"]) for row in rows}

    def last_embeddings(self, query: str) -> Metadata | None:
        """The last commit of the embeddings of a query that the ledger has.

        It is known even if the table is gone. None if the query was dropped since.
        """
        known = self._commits.get(("maintain", query))
        mode, _ = self.last_maintenance.get(query, (None, None))
        return None if known is None or mode == DROPPED else Metadata.from_json(known.metadata)

    @cached_property
    def failed_attempts(self) -> Mapping[str, FailedAttempts]:
        """The queries that exceeded a limit when they were last tried."""
        newest = {row["query"]: row["failed_attempts"] for row in self._about_queries("maintain")}
        return {
            query: FailedAttempts.from_json(text)
            for query, text in newest.items()
            if text is not None
        }

    @cached_property
    def about_current(self) -> Mapping[str, dict[str, Any]]:
        """The newest row about each table `current/<query>`."""
        return {row["query"]: row for row in self._about_queries(ABOUT_CURRENT)}

    def _about_queries(self, job: str) -> Iterable[dict[str, Any]]:
        return (row for row in self._rows if row["job"] == job and row["query"] is not None)

    def _watermark(self, job: _Job, query: str, table_name: str) -> Watermark | None:
        key = job, query
        if key not in self._watermarks:
            range_, commit = self._untouched.get(key), self._commits.get(key)
            committed_by = "publish" if job == ABOUT_CURRENT else job
            self._watermarks[key] = watermark(self.lake, table_name, committed_by, range_, commit)
        return self._watermarks[key]

    @cached_property
    def _commits(self) -> Mapping[tuple[str, str], KnownCommit]:
        """The newest commit that the ledger has, by job and query."""
        return {
            (row["job"], row["query"]): KnownCommit(
                row["table_version"], row["commit_metadata"], row["recorded_at"]
            )
            for row in self._rows
            if row["commit_metadata"] is not None
        }

    @cached_property
    def _untouched(self) -> Mapping[tuple[str, str], tuple[int, int]]:
        """The newest range that did not touch a query, by job and query."""
        ranges = (
            ((row["job"], row["query"]), (row["from_epoch"], row["to_epoch"]))
            for row in self._rows
            if row["mode"] == UNTOUCHED and row["status"] == SUCCEEDED and row["query"] is not None
        )
        return dict(sorted(ranges, key=lambda item: (item[1][1], -item[1][0])))
