"""How far each table of a query is complete, read from commits and the ledger without Spark.

The watermark of an embedding table is the later of its newest commit's and of the newest row of the
ledger that says that the query was untouched up to an epoch, starting where the table stood.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow.compute as pc

from jobs.settings import Settings
from lake.ledger import SUCCEEDED
from lake.metadata import Metadata
from lake.reader import last_metadata, open_table, to_arrow
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


def head(settings: Settings) -> int:
    """The newest epoch, 0 before the first."""
    options = settings.storage_options
    if open_table(settings.lake, TRANSACTIONS.name, options) is None:
        return 0
    epochs = to_arrow(settings.lake, TRANSACTIONS.name, options, columns=["epoch"])["epoch"]
    return int(pc.max(epochs).as_py() or 0)


def transactions_after(settings: Settings, epoch: int) -> tuple[Transaction, ...]:
    """The transactions after `epoch`, in order."""
    columns = ["epoch", "quads_version", "triples_version", "inserted", "deleted"]
    rows = to_arrow(settings.lake, TRANSACTIONS.name, settings.storage_options, columns=columns)
    later = rows.filter(pc.field("epoch") > epoch).sort_by("epoch")
    return tuple(Transaction(**row) for row in later.to_pylist())


def untouched(settings: Settings, job: str) -> Mapping[str, tuple[tuple[int, int], ...]]:
    """Per query, the (from, to] of the ledger rows of `job` that say it was untouched, in order."""
    options = settings.storage_options
    table = open_table(settings.lake, RUNS.name, options)
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


def queries_of(settings: Settings, job: str) -> frozenset[str]:
    """The queries that runs of `job` ever reported on, registered or not."""
    table = open_table(settings.lake, RUNS.name, settings.storage_options)
    if table is None:
        return frozenset()
    rows = table.to_pyarrow_table(columns=["query"], filters=[("job", "=", job)])
    return frozenset(str(name) for name in rows["query"].drop_null().to_pylist())


def mark(
    settings: Settings,
    table_name: str,
    job: str,
    ranges: tuple[tuple[int, int], ...] = (),
) -> Mark | None:
    """How far a table is complete; None before its first commit.

    Args:
        settings: where the lake is.
        table_name: `embeddings/<query>` or `answers/<query>`.
        job: the job whose commits count, `maintain` or `publish`.
        ranges: the query's untouched ranges by that job.
    """
    found = last_metadata(settings.lake, table_name, settings.storage_options, job=job)
    if found is None:
        return None
    version, metadata = found
    watermark = metadata.watermark
    for start, end in ranges:
        # A row counts only if nothing is missing before it.
        if start <= watermark < end:
            watermark = end
    return Mark(version, metadata, watermark)
