"""The order in which a batch of epochs is committed, and what a run does after one that died.

    of the graph   graphs, rejected, source_files, quads, triples, transactions
    of a stream    rejected, source_files, late, streams/<name>, stream_epochs, transactions

An epoch exists once `transactions` names it. The commit of `quads` or `streams/<name>` begins the
epochs: its metadata has the rows of `transactions` and `stream_epochs`, so that a retry gives the
same epochs to the same change sets. That of a stream is made for an epoch without events too.

* died before it: nothing has an epoch yet. New graphs are found to have their owner, rejected rows
  and files are found written; rows of `late` are of epochs that do not exist, and are deleted. The
  change sets are ingested again.
* died after it: `triples` is computed from `quads`, the other tables are written as they were
  meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

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
    is_not_null,
    is_null,
    one_of,
    rows_of,
    select,
    small_number,
    subquery,
    text,
)
from weir.ingest import netting
from weir.ingest.changesets import ChangeSet
from weir.ingest.epochs import StreamEpochs, Transaction, transactions_of
from weir.ingest.rejections import located
from weir.ingest.source_files import SourceFile, record_files
from weir.ingest.stored_quads import quads_about, quads_between
from weir.lake.delta.commit import create_if_missing, write
from weir.lake.delta.metadata import Metadata
from weir.lake.delta.newest_commit import newest_metadata
from weir.lake.lake import Lake
from weir.lake.tables import (
    GRAPHS,
    LATE,
    QUADS,
    REJECTED,
    SOURCE_FILES,
    STREAM_EPOCHS,
    STREAMS,
    TRANSACTIONS,
    TRIPLES,
    Table,
    stream,
)
from weir.lake.upkeep.row_deletion import delete_later_rows
from weir.progress.streams import stream_names
from weir.progress.watermarks import head, require_graph

JOB: Final = "ingest"
GRAPHS_VERSION: Final = "graphs_version"
"""What a commit of `transactions` calls the version of `graphs` with the owners of its graphs."""


class Journal:
    """The tables that ingest writes, for one run."""

    def __init__(self, lake: Lake, run_id: str, literal_predicates: int) -> None:
        self.run_id, self.lake, self._literal_predicates = run_id, lake, literal_predicates
        require_graph(lake)
        for table in (GRAPHS, REJECTED, SOURCE_FILES, QUADS, TRIPLES, TRANSACTIONS):
            create_if_missing(lake, table)

    def head(self) -> int:
        """The newest epoch that exists; 0 before the first."""
        return self._watermark(TRANSACTIONS)

    def record_owners(self, engine: Engine, graphs: exp.Query, until: int) -> None:
        """Record the owners of new graphs: columns graph, source."""
        append(engine, GRAPHS, self.signed(graphs), self.metadata(until), 1)

    def reject(
        self, engine: Engine, change_sets: Mapping[int, ChangeSet], rejections: str, until: int
    ) -> None:
        """Record rejected input, except what an earlier run has recorded.

        That run died before the change sets became epochs, or their source stopped at them.

        Args:
            engine: knows the relation.
            change_sets: by ordinal.
            rejections: relation of `REJECTION_COLUMNS`.
            until: the newest epoch of the batch.
        """
        rows = located(engine, change_sets, rejections)
        positions = [change_set.position for change_set in change_sets.values()]
        at_these = one_of(column("position"), positions)
        engine.open("known_rejections", REJECTED.name, where=at_these)
        new = _without_known(rows, "known_rejections")
        if engine.rows(new.limit(1)):
            append(engine, REJECTED, self.signed(new), self.metadata(until), 1)

    def record_read(self, files: Sequence[SourceFile], until: int) -> None:
        """Record the files of the change sets that become the epochs up to `until`."""
        record_files(self.lake, files, self.metadata(until))

    def commit_quads(
        self,
        engine: Engine,
        log: str,
        triples: str,
        rows: int,
        transactions: Sequence[Transaction],
    ) -> None:
        """Commit the quads and triples of some epochs, then the epochs themselves.

        Args:
            engine: knows the relations.
            log: relation epoch, weight, QUAD: the changes of the quads.
            triples: relation epoch, weight, TRIPLE: the changes of the triples.
            rows: number of rows of `log`.
            transactions: every epoch after the head, those without changes too.
        """
        until = transactions[-1].epoch
        if rows == 0:
            self.conclude(transactions)
            return
        begun = [transaction.to_json() for transaction in transactions]
        quads = select(*columns(QUADS.column_names), from_=rows_of(log))
        metadata = self.metadata(until, transactions=begun)
        quads_version = append(engine, QUADS, quads, metadata, rows)
        changed = select(*columns(TRIPLES.column_names), from_=rows_of(triples))
        triples_version = append(engine, TRIPLES, changed, self.metadata(until), rows)
        self._conclude(transactions, quads_version, triples_version)

    def commit_events(self, engine: Engine, events: str, epochs: StreamEpochs) -> None:
        """Commit the events of some epochs that the stream takes or not, then the epochs.

        Args:
            engine: knows the relation.
            events: the relation of `lateness.events`.
            epochs: every epoch after the head.
        """
        table, until = stream(epochs.stream), epochs.transactions[-1].epoch
        late = sum(epoch.late for epoch in epochs.epochs)
        if late:
            names = [name for name in LATE.column_names if name not in ("stream", "run_id")]
            refused = select(
                *columns(names),
                alias(text(epochs.stream), "stream"),
                from_=rows_of(events),
                where=[is_not_null(column("reason"))],
            )
            append(engine, LATE, self.signed(refused), self.metadata(until), late)
        taken = select(
            *columns(name for name in table.column_names if name != "weight"),
            alias(small_number(1), "weight"),
            from_=rows_of(events),
            where=[is_null(column("reason"))],
        )
        rows = sum(epoch.rows for epoch in epochs.epochs)
        append(engine, table, taken, self.metadata(until, **epochs.to_json()), rows)
        self._finish_stream(epochs)

    def commit_passed_time(self, epochs: StreamEpochs) -> None:
        """Commit epochs of a stream in which only time passed."""
        metadata = self.metadata(epochs.transactions[-1].epoch, **epochs.to_json())
        write(self.lake, stream(epochs.stream), [], metadata)
        self._finish_stream(epochs)

    def finish(self, engine: Engine, begun: Metadata) -> None:
        """Commit what is missing of epochs that the commit of a run that died has begun."""
        if "stream_epochs" in begun.extra:
            self._finish_stream(StreamEpochs.of(begun))
            return
        transactions, newest = transactions_of(begun), self.head()
        if self._watermark(TRIPLES) < begun.watermark:
            quads_between(engine, "recovered_log", newest, begun.watermark)
            literals = self._literal_predicates
            quads_about(engine, "recovered_stored", "recovered_log", newest, literals)
            engine.make(
                Statement("recovered_present", netting.present("recovered_stored"), "small")
            )
            changing = (done.epoch for done in transactions if done.inserted or done.deleted)
            only = netting.only_epoch(changing)
            triples = netting.net_triples("recovered_log", "recovered_present", only)
            rows = sum(done.inserted + done.deleted for done in transactions)
            append(engine, TRIPLES, triples, self.metadata(begun.watermark), rows)
        self.conclude(transactions)

    def discard_late(self) -> None:
        """Delete the rows of `late` that a run wrote for epochs that it did not commit."""
        newest, last = self.head(), newest_of_ingest(self.lake, LATE.name)
        if last is not None and last.watermark > newest:
            delete_later_rows(self.lake, LATE.name, newest, self.metadata(newest))

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

    def _finish_stream(self, epochs: StreamEpochs) -> None:
        """Commit what is missing of epochs of a stream whose events are committed."""
        until = epochs.transactions[-1].epoch
        last = newest_of_ingest(self.lake, STREAM_EPOCHS.name)
        if last is None or last.watermark < until:
            rows = [asdict(epoch) for epoch in epochs.epochs]
            write(self.lake, STREAM_EPOCHS, rows, self.metadata(until))
        self.conclude(epochs.transactions)

    def _conclude(
        self, transactions: Sequence[Transaction], quads_version: int, triples_version: int
    ) -> None:
        versions = {"quads_version": quads_version, "triples_version": triples_version}
        owners = {GRAPHS_VERSION: self.lake.version(GRAPHS.name)}
        rows = [asdict(transaction) | versions for transaction in transactions]
        write(self.lake, TRANSACTIONS, rows, self.metadata(transactions[-1].epoch, **owners))

    def _watermark(self, table: Table) -> int:
        last = self.lake.last_metadata(table.name, job=JOB)
        return 0 if last is None else last[1].watermark

    def _committed(self, table: Table) -> int:
        """The version of the newest commit of ours, 0 before the first."""
        last = self.lake.last_metadata(table.name, job=JOB)
        return self._named(table) if last is None else last[0]

    def _named(self, table: Table) -> int:
        """The version that the epochs name: the log of a graph at rest forgets its last commit."""
        name = f"{table.name}_version"
        known = self.lake.rows(TRANSACTIONS.name, [name])[name]
        return int(pc.max(known).as_py() or 0)


def unfinished(lake: Lake, declared: Iterable[str]) -> Iterator[Metadata]:
    """The commits that begin epochs of a batch, which do not exist yet: of the graph, of streams.

    Args:
        lake: which holds the tables; what one commit has begun may be finished before the next.
        declared: names of streams beside those that the lake knows.
    """
    names = sorted({*declared, *stream_names(lake)})
    for table in (QUADS.name, *map(STREAMS.name, names)):
        last = newest_of_ingest(lake, table)
        if last is not None and last.watermark > head(lake) and last.extra["transactions"]:
            yield last


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
