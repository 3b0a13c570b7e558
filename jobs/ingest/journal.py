"""The order in which a batch of epochs is committed, and what a run does after one that died.

    graphs, rejected, quads, triples, transactions

An epoch exists once `transactions` names it. Everything that a retry needs to give the same epochs
to the same change sets is in the metadata of the `quads` commit:

* died before `quads`: nothing has an epoch yet. Claimed graphs are found claimed by their owner,
  rejected rows are found written; the change sets are taken in again.
* died after `quads`: the commit names the transactions; `triples` is computed from `quads`, the
  transactions are written as they were meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, Self

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from sqlglot.expressions import select

from jobs.engine import netting
from jobs.engine.netting import QUAD
from jobs.engine.relations import EpochRange, column, columns
from jobs.engine.spark import SparkEngine
from jobs.engine.sweep import within
from jobs.settings import Settings
from lake.commit import append, append_rows, create_if_missing
from lake.metadata import Metadata
from lake.reader import last_metadata, version
from lake.session import read
from lake.tables import GRAPHS, QUADS, REJECTED, TRANSACTIONS, TRIPLES, Table

JOB: Final = "ingest"
ROWS_PER_FILE = 500_000
_TIMES = ("event_time", "ingested_at")


@dataclass(frozen=True, slots=True)
class Transaction:
    """A row of `transactions`, but for the versions of the commits that hold the epoch."""

    epoch: int
    source: str
    position: str
    change_id: str | None
    event_time: datetime | None
    ingested_at: datetime
    inserted: int
    deleted: int
    rejected: int
    run_id: str

    def to_json(self) -> dict[str, Any]:
        """JSON values, as they stand in the metadata of the `quads` commit."""
        row = asdict(self)
        return row | {name: row[name] and row[name].isoformat() for name in _TIMES}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """The transaction that `to_json` wrote down."""
        times = {name: row[name] and datetime.fromisoformat(row[name]) for name in _TIMES}
        return cls(**{**row, **times})


class Journal:
    """The tables that ingest writes, for one run."""

    def __init__(self, engine: SparkEngine, settings: Settings, run_id: str) -> None:
        self.engine, self.settings, self.run_id = engine, settings, run_id
        self.root, self.options = settings.lake, settings.storage_options or None
        for table in (GRAPHS, REJECTED, QUADS, TRIPLES, TRANSACTIONS):
            create_if_missing(self.root, table, self.options)

    def head(self) -> int:
        """The newest epoch that exists; 0 before the first."""
        return self._watermark(TRANSACTIONS.name)

    def claim_graphs(self, graphs: DataFrame, until: int) -> None:
        """Write down who owns the graphs that are new."""
        self._append(GRAPHS, self._ours(graphs), until, files=1)

    def reject(self, rows: DataFrame, head: int, until: int) -> None:
        """Write down what could not be used, unless the run before died after doing so."""
        rows = self._ours(rows)
        if self._watermark(REJECTED.name) > head:
            known = read(self.engine.spark, self.root, REJECTED.name)
            same = [name for name in REJECTED.column_names if name != "run_id"]
            rows = rows.join(known.select(*same), same, "left_anti")
        self._append(REJECTED, rows, until)

    def commit(
        self, log: str, present: str, rows: int, transactions: Sequence[Transaction]
    ) -> None:
        """Commit the quads and triples of some epochs, then the epochs themselves.

        Args:
            log: relation epoch, weight, QUAD: the changes of the quads.
            present: relation QUAD: as `netting` wants it.
            rows: number of rows of `log`.
            transactions: every epoch after the head, those without changes too.
        """
        until = transactions[-1].epoch
        if rows == 0:
            self._conclude(transactions, self._version(QUADS.name), self._version(TRIPLES.name))
            return
        metadata = self._metadata(until, transactions=[each.to_json() for each in transactions])
        files = -(-rows // ROWS_PER_FILE)
        quads_version = append(
            self.root,
            QUADS,
            self.engine.spark.table(log),
            metadata,
            files=files,
            storage_options=self.options,
        )
        triples_version = self._commit_triples(log, present, files, until)
        self._conclude(transactions, quads_version, triples_version)

    def recover(self) -> int:
        """Finish what a run that died had committed to `quads`; returns the number of epochs."""
        head = self.head()
        last = last_metadata(self.root, QUADS.name, self.options, job=JOB)
        if last is None or last[1].watermark <= head:
            return 0
        quads_version, metadata = last
        transactions = [Transaction.from_json(row) for row in metadata.extra["transactions"]]
        if self._watermark(TRIPLES.name) < metadata.watermark:
            triples_version = self._recover_triples(head, metadata.watermark)
        else:
            triples_version = self._version(TRIPLES.name)
        self._conclude(transactions, quads_version, triples_version)
        return len(transactions)

    def _recover_triples(self, head: int, until: int) -> int:
        engine, epochs = self.engine, EpochRange(head, until)
        quads = read(engine.spark, self.root, QUADS.name)
        engine.register("recovery_quads", quads.filter(f"epoch <= {head}"))
        engine.register("recovery_all", quads)
        new = select(*columns((*QUAD, "epoch", "weight"))).from_("recovery_all")
        log = engine.frame(new.where(within(column("epoch"), epochs)))
        engine.register("recovery_log", log, "cache")
        stored = netting.rows_about("recovery_quads", "recovery_log")
        present = engine.frame(netting.present_in(stored))
        engine.register("recovery_present", present)
        files = -(-engine.count("recovery_log") // ROWS_PER_FILE)
        return self._commit_triples("recovery_log", "recovery_present", files, until)

    def _commit_triples(self, log: str, present: str, files: int, until: int) -> int:
        triples = self.engine.frame(netting.net_triples(log, present))
        return self._append(TRIPLES, triples, until, files=files)

    def _append(self, table: Table, rows: DataFrame, until: int, files: int | None = None) -> int:
        return append(
            self.root,
            table,
            rows,
            self._metadata(until),
            files=files,
            storage_options=self.options,
        )

    def _conclude(
        self, transactions: Sequence[Transaction], quads_version: int, triples_version: int
    ) -> None:
        versions = {"quads_version": quads_version, "triples_version": triples_version}
        append_rows(
            self.root,
            TRANSACTIONS,
            [asdict(each) | versions for each in transactions],
            self._metadata(transactions[-1].epoch),
            storage_options=self.options,
        )

    def _metadata(self, until: int, **extra: Any) -> Metadata:
        return Metadata(self.run_id, JOB, until, extra=extra)

    def _ours(self, rows: DataFrame) -> DataFrame:
        return rows.withColumn("run_id", F.lit(self.run_id))

    def _watermark(self, table_name: str) -> int:
        last = last_metadata(self.root, table_name, self.options, job=JOB)
        return 0 if last is None else last[1].watermark

    def _version(self, table_name: str) -> int:
        return version(self.root, table_name, self.options) or 0
