"""How far each table of a query is complete, read from commits and the ledger without Spark.

The watermark of an embedding table is the later of its newest commit's and of the newest row of the
ledger that says that the query was untouched up to an epoch, starting where the table stood.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow.compute as pc

from lake.lake import Lake
from lake.ledger import SUCCEEDED
from lake.metadata import Metadata
from lake.tables import RUNS, TRANSACTIONS

UNTOUCHED: Final = "untouched"


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a table of a query is complete.

    `version` and `metadata` are those of the newest commit; `watermark` may be later than the
    commit's, by epochs that did not touch the query.
    """

    version: int
    metadata: Metadata
    watermark: int


@dataclass(frozen=True, slots=True)
class Transaction:
    """What a reader of changes needs to know of an epoch."""

    epoch: int
    quads_version: int
    triples_version: int
    inserted: int
    deleted: int

    @property
    def changes(self) -> int:
        """How many quads changed."""
        return self.inserted + self.deleted


def head(lake: Lake) -> int:
    """The newest epoch, 0 before the first."""
    if not lake.exists(TRANSACTIONS.name):
        return 0
    epochs = lake.rows(TRANSACTIONS.name, ["epoch"])["epoch"]
    return int(pc.max(epochs).as_py() or 0)


def transactions_after(lake: Lake, epoch: int) -> tuple[Transaction, ...]:
    """The transactions after `epoch`, in order."""
    columns = ["epoch", "quads_version", "triples_version", "inserted", "deleted"]
    rows = lake.rows(TRANSACTIONS.name, columns)
    later = rows.filter(pc.field("epoch") > epoch).sort_by("epoch")
    return tuple(Transaction(**row) for row in later.to_pylist())


def untouched(lake: Lake, job: str) -> Mapping[str, tuple[tuple[int, int], ...]]:
    """Per query, the (from, to] of the ledger rows of `job` that say it was untouched, in order."""
    table = lake.open(RUNS.name)
    if table is None:
        return {}
    rows = table.to_pyarrow_table(
        columns=["query", "from_epoch", "to_epoch"],
        filters=[("job", "=", job), ("mode", "=", UNTOUCHED), ("status", "=", SUCCEEDED)],
    )
    found: dict[str, list[tuple[int, int]]] = {}
    for row in rows.sort_by("from_epoch").to_pylist():
        found.setdefault(row["query"], []).append((row["from_epoch"], row["to_epoch"]))
    return {query: tuple(ranges) for query, ranges in found.items()}


def queries_of(lake: Lake, job: str) -> frozenset[str]:
    """The queries that runs of `job` ever reported on, registered or not."""
    table = lake.open(RUNS.name)
    if table is None:
        return frozenset()
    rows = table.to_pyarrow_table(columns=["query"], filters=[("job", "=", job)])
    return frozenset(str(name) for name in rows["query"].drop_null().to_pylist())


def mark(
    lake: Lake,
    table_name: str,
    job: str,
    ranges: tuple[tuple[int, int], ...] = (),
) -> Mark | None:
    """How far a table is complete; None before its first commit.

    Args:
        lake: which holds it.
        table_name: `embeddings/<query>` or `answers/<query>`.
        job: the job whose commits count, `maintain` or `publish`.
        ranges: the query's untouched ranges by that job.
    """
    found = lake.last_metadata(table_name, job=job)
    if found is None:
        return None
    version, metadata = found
    watermark = metadata.watermark
    for start, end in ranges:
        # A row counts only if nothing is missing before it.
        if start <= watermark < end:
            watermark = end
    return Mark(version, metadata, watermark)
