"""The order in which a batch of epochs is committed, and what a run does after one that died.

    graphs, rejected, source_files, quads, triples, transactions

An epoch exists once `transactions` names it. Everything that a retry needs to give the same epochs
to the same change sets is in the metadata of the `quads` commit:

* died before `quads`: nothing has an epoch yet. New graphs are found to have their owner,
  rejected rows and files are found written; the change sets are ingested again.
* died after `quads`: the commit names the transactions; `triples` is computed from `quads`, the
  transactions are written as they were meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, Self

import pyarrow.compute as pc
from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    anti_join,
    column,
    columns,
    equal,
    one_of,
    rows_of,
    select,
    subquery,
    text,
)
from weir.ingest import netting
from weir.ingest.source_files import SourceFile, record_files
from weir.ingest.stored_quads import quads_about, quads_between
from weir.lake.delta.commit import create_if_missing, write
from weir.lake.delta.metadata import Metadata
from weir.lake.delta.newest_commit import newest_metadata
from weir.lake.lake import Lake
from weir.lake.tables import GRAPHS, QUADS, REJECTED, SOURCE_FILES, TRANSACTIONS, TRIPLES, Table
from weir.progress.watermarks import require_graph

JOB: Final = "ingest"
GRAPHS_VERSION: Final = "graphs_version"
"""What a commit of `transactions` calls the version of `graphs` with the owners of its graphs."""
_TIMES = ("event_time", "ingested_at")


@dataclass(frozen=True, slots=True)
class Transaction:
    """A row of `transactions`, but for the versions of the commits that hold the epoch.

    position: None if only time passed in a stream.
    """

    epoch: int
    source: str
    position: str | None
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

    def __init__(self, lake: Lake, run_id: str, literal_predicates: int) -> None:
        self.run_id, self._lake, self._literal_predicates = run_id, lake, literal_predicates
        require_graph(lake)
        for table in (GRAPHS, REJECTED, SOURCE_FILES, QUADS, TRIPLES, TRANSACTIONS):
            create_if_missing(lake, table)

    def head(self) -> int:
        """The newest epoch that exists; 0 before the first."""
        return self._watermark(TRANSACTIONS)

    def record_owners(self, engine: Engine, graphs: exp.Query, until: int) -> None:
        """Record the owners of new graphs: columns graph, source."""
        append(engine, GRAPHS, self.signed(graphs), self.metadata(until), 1)

    def reject(self, engine: Engine, rows: exp.Query, positions: Sequence[str], until: int) -> None:
        """Record rejected input, except what an earlier run has recorded.

        That run died before the change sets became epochs, or their source stopped at them.

        Args:
            engine: knows the relations that `rows` reads.
            rows: `rejected` but for the run.
            positions: of the change sets that `rows` are of.
            until: the newest epoch of the batch.
        """
        at_these = one_of(column("position"), positions)
        engine.open("known_rejections", REJECTED.name, where=at_these)
        new = _without_known(rows, "known_rejections")
        if engine.rows(new.limit(1)):
            append(engine, REJECTED, self.signed(new), self.metadata(until), 1)

    def record_read(self, files: Sequence[SourceFile], until: int) -> None:
        """Record the files of the change sets that become the epochs up to `until`."""
        record_files(self._lake, files, self.metadata(until))

    def commit(
        self,
        engine: Engine,
        log: str,
        present: str,
        rows: int,
        transactions: Sequence[Transaction],
    ) -> None:
        """Commit the quads and triples of some epochs, then the epochs themselves.

        Args:
            engine: knows the relations.
            log: relation epoch, weight, QUAD: the changes of the quads.
            present: relation QUAD: as `netting` wants it.
            rows: number of rows of `log`.
            transactions: every epoch after the head, those without changes too.
        """
        until = transactions[-1].epoch
        if rows == 0:
            self.conclude(transactions)
            return
        metadata = self.metadata(until, transactions=[each.to_json() for each in transactions])
        quads = select(*columns(QUADS.column_names), from_=rows_of(log))
        quads_version = append(engine, QUADS, quads, metadata, rows)
        triples = netting.net_triples(log, present)
        triples_version = append(engine, TRIPLES, triples, self.metadata(until), rows)
        self._conclude(transactions, quads_version, triples_version)

    def unfinished(self) -> tuple[Transaction, ...]:
        """The transactions of a batch whose quads are committed, but which do not exist yet."""
        last = self._lake.last_metadata(QUADS.name, job=JOB)
        if last is None or last[1].watermark <= self.head():
            return ()
        return tuple(Transaction.from_json(row) for row in last[1].extra["transactions"])

    def recover(self, engine: Engine, transactions: Sequence[Transaction]) -> None:
        """Finish the commits of `unfinished` transactions."""
        head, until = self.head(), transactions[-1].epoch
        if self._watermark(TRIPLES) < until:
            quads_between(engine, "recovered_log", head, until)
            quads_about(engine, "recovered_stored", "recovered_log", head, self._literal_predicates)
            engine.make(
                Statement("recovered_present", netting.present("recovered_stored"), "small")
            )
            triples = netting.net_triples("recovered_log", "recovered_present")
            rows = sum(each.inserted + each.deleted for each in transactions)
            append(engine, TRIPLES, triples, self.metadata(until), rows)
        self.conclude(transactions)

    def conclude(self, transactions: Sequence[Transaction]) -> None:
        """Commit epochs all of whose rows are committed."""
        # Not the newest versions: files may have been rearranged since.
        self._conclude(transactions, self._committed(QUADS), self._committed(TRIPLES))

    def metadata(self, until: int, **extra: Any) -> Metadata:
        """The metadata of a commit of this run that completes a table up to the epoch `until`."""
        return Metadata(self.run_id, JOB, until, extra=extra)

    def signed(self, rows: exp.Query) -> exp.Select:
        """The rows with the run that writes them."""
        return select("*", alias(text(self.run_id), "run_id"), from_=subquery(rows, "rows"))

    def _conclude(
        self, transactions: Sequence[Transaction], quads_version: int, triples_version: int
    ) -> None:
        versions = {"quads_version": quads_version, "triples_version": triples_version}
        write(
            self._lake,
            TRANSACTIONS,
            [asdict(each) | versions for each in transactions],
            self.metadata(
                transactions[-1].epoch, **{GRAPHS_VERSION: self._lake.version(GRAPHS.name)}
            ),
        )

    def _watermark(self, table: Table) -> int:
        last = self._lake.last_metadata(table.name, job=JOB)
        return 0 if last is None else last[1].watermark

    def _committed(self, table: Table) -> int:
        """The version of the newest commit of ours, 0 before the first."""
        last = self._lake.last_metadata(table.name, job=JOB)
        return self._named(table) if last is None else last[0]

    def _named(self, table: Table) -> int:
        """The version that the epochs name: the log of a graph at rest forgets its last commit."""
        name = f"{table.name}_version"
        known = self._lake.rows(TRANSACTIONS.name, [name])[name]
        return int(pc.max(known).as_py() or 0)


def newest_of_ingest(lake: Lake, table_name: str) -> Metadata | None:
    """The metadata of the newest commit of ingest in a table, which it mostly need not open."""
    newest = newest_metadata(lake, table_name, JOB) or lake.last_metadata(table_name, job=JOB)
    return None if newest is None else newest[1]


def append(engine: Engine, table: Table, rows: exp.Query, metadata: Metadata, count: int) -> int:
    """Append about `count` rows in one commit; returns its version."""
    name = f"new_{table.name.replace('/', '_')}"
    engine.make(Statement(name, rows))
    return engine.write(table, name, metadata, rows=count).version


def _without_known(rows: exp.Query, known: str) -> exp.Select:
    """The rejected rows that are not in the relation `known`."""
    names = [name for name in REJECTED.column_names if name != "run_id"]
    return select(
        "*",
        from_=subquery(rows, "new"),
        joins=[anti_join(rows_of(known, "known"), *equal(names, "new", "known"))],
    )
