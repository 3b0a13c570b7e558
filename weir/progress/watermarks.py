"""How far tables are complete: the newest epoch, and the watermarks of a query's tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import pyarrow.compute as pc

from weir.lake.counted import counted
from weir.lake.damage.step_back import refuse_step_back
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.delta.file_rows import greatest
from weir.lake.delta.metadata import BEGUN_TO, Metadata
from weir.lake.delta.newest_commit import is_newest, newest_metadata
from weir.lake.lake import Lake
from weir.lake.tables import GRAPHS, QUADS, TRANSACTIONS, TRIPLES

_REMEMBERED = 32_768
"""Commits whose metadata a process remembers: each stage asks for those of all queries."""


@dataclass(frozen=True, slots=True)
class Watermark:
    """How far a table of a query is complete.

    Attributes:
        epoch: the epoch up to which it is complete; later than that of the newest commit if the
            epochs since did not touch the query.
        version: the version of the newest commit of the job that writes the table.
        metadata: of that commit.
        snapshot: the version of the table to read; later than `version` if files were rearranged.
    """

    epoch: int
    version: int
    metadata: Metadata
    snapshot: int


@dataclass(frozen=True, slots=True)
class KnownCommit:
    """A commit of a table as the ledger describes it.

    Attributes:
        version: of the table.
        metadata: of the commit, as JSON.
        recorded_at: when it was recorded, which was after the commit.
    """

    version: int
    metadata: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class IngestedEpoch:
    """An epoch for readers of changes: the commits that have it, and how many quads changed."""

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
    if lake.open(TRANSACTIONS.name) is None:
        return 0
    with lake.using(TRANSACTIONS.name):
        return greatest(lake, TRANSACTIONS.name, "epoch") or 0


def quads(lake: Lake) -> int:
    """How many quads the graph has at the newest epoch."""
    if not lake.exists(TRANSACTIONS.name):
        return 0
    counts = lake.rows(TRANSACTIONS.name, ["inserted", "deleted"])
    inserted, deleted = (pc.sum(counts[name], min_count=0).as_py() for name in counts.column_names)
    return int(inserted - deleted)


def require_graph(lake: Lake) -> None:
    """Refuse to go on if there are epochs but a table of the graph is gone.

    A new table would be empty, and ingest would count the whole graph as new.

    Raises:
        DamagedTable: one is gone.
    """
    backup = "Restore it from a backup"
    rebuilt = f"{backup}, or have `weir repair --from-sources` rebuild it."
    for table, hint in ((QUADS, rebuilt), (TRIPLES, rebuilt), (GRAPHS, f"{backup}.")):
        if lake.exists(TRANSACTIONS.name) and not lake.exists(table.name) and head(lake):
            raise DamagedTable(
                f"the table {table.name} is gone, and {counted(head(lake), 'epoch')} are known",
                lake.location(table.name),
                hint,
            )


def epochs_after(lake: Lake, epoch: int) -> tuple[IngestedEpoch, ...]:
    """The epochs after `epoch`, in order."""
    columns = ["epoch", "quads_version", "triples_version", "inserted", "deleted"]
    later = lake.rows(TRANSACTIONS.name, columns, [("epoch", ">", epoch)])
    return tuple(IngestedEpoch(**row) for row in later.sort_by("epoch").to_pylist())


def watermark(
    lake: Lake,
    table_name: str,
    job: str,
    untouched: tuple[int, int] | None,
    known: KnownCommit | None = None,
) -> Watermark | None:
    """How far a table is complete; None before its first commit.

    Args:
        lake: has the table.
        table_name: `embeddings/<query>` or `answers/<query>`.
        job: the job whose commits count, `maintain` or `publish`.
        untouched: the newest range of epochs (after, last] that did not touch the query.
        known: the newest commit of the job that the ledger has.

    Raises:
        DamagedTable: the newest commit has a lower watermark than `known` or an earlier commit.
    """
    commit = _known(lake, table_name, known)
    snapshot = None if commit is None else commit[0]
    if commit is None:
        commit = newest_metadata(lake, table_name, job)
        snapshot = commit[0] if commit is not None else lake.version(table_name)
        if commit is None:
            commit = lake.last_metadata(table_name, job=job)
        recorded = None if known is None else Metadata.from_json(known.metadata)
        if commit is not None and known is not None and recorded is not None:
            refuse_step_back(lake.location(table_name), commit, known.version, recorded)
    if commit is None or snapshot is None:
        return None
    version, metadata = commit
    epoch = metadata.watermark
    # The range counts only if it adjoins the watermark, and if it is about this log.
    begun_to = int(metadata.extra.get(BEGUN_TO, 0))
    if untouched is not None and untouched[0] <= epoch < untouched[1] > begun_to:
        epoch = untouched[1]
    return Watermark(epoch, version, metadata, snapshot)


def _known(lake: Lake, table_name: str, known: KnownCommit | None) -> tuple[int, Metadata] | None:
    """The commit that the ledger has, if it is the newest: killed runs may have made later ones."""
    if known is None or not is_newest(lake, table_name, known.version, known.recorded_at):
        return None
    metadata = _recorded(known.metadata)
    return None if metadata is None else (known.version, metadata)


@lru_cache(_REMEMBERED)
def _recorded(text: str) -> Metadata | None:
    return Metadata.from_json(text)
