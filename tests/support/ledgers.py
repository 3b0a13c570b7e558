"""Random ledgers, as runs of the stages would leave them, and their expected readings."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from weir.lake.delta.commit import arrow_schema
from weir.lake.tables import RUNS

JOBS = ("ingest", "maintain", "validate", "publish")
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)

Row = dict[str, Any]


@dataclass(slots=True)
class RandomLedger:
    """Rows of `runs`, commit by commit, and the watermarks of the tables at the same time.

    Attributes:
        commits: the rows of each commit, in order.
        committed: the watermark of the newest commit of a query's table, by job and query.
        complete: up to which epoch it is complete, with the rows about untouched epochs.
        standing: `to_epoch` of the newest row that concerns a query, by job and query.
    """

    chance: random.Random
    queries: Sequence[str]
    commits: list[list[Row]] = field(default_factory=list)
    committed: dict[tuple[str, str], int] = field(default_factory=dict)
    complete: dict[tuple[str, str], int] = field(default_factory=dict)
    standing: dict[tuple[str, str], int] = field(default_factory=dict)
    head: int = 0
    numbers: dict[str, int] = field(default_factory=dict)

    def run(self) -> None:
        """One run of a random job, which may be killed at any time."""
        chance, job = self.chance, self.chance.choice(JOBS)
        number = self.numbers[job] = self.numbers.get(job, 0) + 1
        self._commit([self._row(job, number, "claimed")])
        if job == "ingest":
            self.head += chance.choice((0, 1, 3))
        rows = [self._row(job, number, "succeeded", to_epoch=self.head)]
        for query in self.queries:
            if chance.random() < 0.8:
                rows += self._about(job, number, query)
        match chance.random():
            case share if share < 0.1:
                # Killed before it wrote the ledger, and perhaps marked as abandoned later.
                if chance.random() < 0.5:
                    self._commit([self._row(job, number, "abandoned")])
            case share if share < 0.2:
                self._commit([rows[0] | {"status": "failed", "to_epoch": chance.randint(0, 3)}])
            case _:
                chance.shuffle(rows)
                self._commit(self._shortened(job, number, rows))
                for row in rows:
                    if row["mode"] == "untouched":
                        self.complete[job, row["query"]] = row["to_epoch"]
                    if row["query"] is not None:
                        self.standing[job, row["query"]] = row["to_epoch"]

    def rows(self, first: int = 0, last: int | None = None) -> pa.Table:
        """The rows of some commits."""
        rows = [row for commit in self.commits[first:last] for row in commit]
        return pa.Table.from_pylist(rows, schema=arrow_schema(RUNS))

    def _shortened(self, job: str, number: int, rows: list[Row]) -> list[Row]:
        """The rows with one row for all untouched queries that stand at an epoch, or as they are.

        The other queries that stand there get a row that says that they stay.
        """
        untouched = [row for row in rows if row["mode"] == "untouched"]
        if not untouched or self.chance.random() < 0.3:
            return rows
        start, end = self.chance.choice([(r["from_epoch"], r["to_epoch"]) for r in untouched])
        there = {query for query in self.queries if self.standing.get((job, query)) == start}
        merged = [
            row for row in untouched if (row["query"] in there) and row["from_epoch"] == start
        ]
        epochs = {"mode": "untouched", "from_epoch": start, "to_epoch": end}
        stays = {"mode": "skipped", "from_epoch": start, "to_epoch": start}
        kept = [
            self._row(job, number, "succeeded", query, **stays)
            for query in there - {row["query"] for row in rows}
        ]
        others = [row for row in rows if row not in merged]
        return [*others, *kept, self._row(job, number, "succeeded", "*", **epochs)]

    def _about(self, job: str, number: int, query: str) -> list[Row]:
        key, known = (job, query), self.complete.get((job, query))
        match job:
            case "validate":
                status = self.chance.choice(("succeeded", "failed"))
                version = self.chance.randint(0, 9)
                return [self._row(job, number, status, query, from_epoch=0, table_version=version)]
            case "maintain" | "publish" if known is None or self.chance.random() < 0.4:
                # The commit counts even if the run dies before it writes the ledger.
                self.committed[key] = self.complete[key] = self.head
                mode = "incremental" if known is not None else "initial"
                return [self._row(job, number, "succeeded", query, mode=mode)]
            case "maintain" | "publish" if known is not None and known < self.head:
                if self.chance.random() < 0.2:
                    return [self._row(job, number, "failed", query, mode="incremental")]
                epochs = {"from_epoch": known, "to_epoch": self.head}
                return [self._row(job, number, "succeeded", query, mode="untouched", **epochs)]
            case _:
                return []

    def _commit(self, rows: list[Row]) -> None:
        self.commits.append(rows)

    def _row(
        self, job: str, number: int, status: str, query: str | None = None, **values: Any
    ) -> Row:
        at = _BEGIN + timedelta(seconds=len(self.commits))
        fixed = {"run_id": f"{job}-{number}", "job": job, "number": number, "status": status}
        named = {field.name: None for field in arrow_schema(RUNS)}
        return named | fixed | {"query": query, "recorded_at": at} | values


def random_ledger(seed: int, runs: int, queries: Sequence[str] = ("a", "b", "c")) -> RandomLedger:
    """A ledger of `runs` runs; a seed gives the same one everywhere."""
    ledger = RandomLedger(random.Random(seed), queries)
    for _ in range(runs):
        ledger.run()
    return ledger


def open_claims(rows: Sequence[Row]) -> set[tuple[str, int]]:
    """Job and number of the runs that have no end."""
    about_runs = [row for row in rows if row["query"] is None]
    ended = {(row["job"], row["number"]) for row in about_runs if row["status"] != "claimed"}
    return {(row["job"], row["number"]) for row in about_runs} - ended


def watermark(rows: Sequence[Row], job: str, query: str, committed: int) -> int:
    """A watermark by all ranges in the ledger, one after another."""
    ranges = sorted(
        (row["from_epoch"], row["to_epoch"])
        for row in rows
        if (row["job"], row["query"], row["mode"]) == (job, query, "untouched")
    )
    for start, end in ranges:
        if start <= committed < end:
            committed = end
    return committed


def newest(rows: Sequence[Row]) -> Mapping[tuple[str, str], Row]:
    """The newest row about each query, by job and query."""
    about_queries = [row for row in rows if row["query"] is not None]
    ordered = sorted(about_queries, key=lambda row: (row["number"], row["recorded_at"]))
    return {(row["job"], row["query"]): row for row in ordered}
