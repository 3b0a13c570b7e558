"""Tables that are older than what other tables say of them: one that was restored alone.

What such a table lacks would stay missing, or be done twice under other numbers. So nothing
is ingested or maintained, and no remote asked, before the others are restored, too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from weir.ingest.epochs import Transaction
from weir.ingest.journal import GRAPHS_VERSION, newest_of_ingest
from weir.ingest.pending import source_positions
from weir.lake.damage.storage_errors import DamagedTable, table_of
from weir.lake.delta.file_rows import greatest
from weir.lake.lake import Lake
from weir.lake.tables import GRAPHS, QUADS, REPLICAS, STREAM_EPOCHS, STREAMS, TRANSACTIONS, TRIPLES
from weir.progress.streams import stream_names
from weir.remotes.replica_inbox import inbox_names, replica_inbox


def refuse_older_tables(lake: Lake) -> None:
    """Refuse to go on from a table that lacks commits of which `transactions` knows.

    Raises:
        DamagedTable: one does.
    """
    if lake.open(TRANSACTIONS.name) is None:
        return
    for table in (QUADS, TRIPLES):
        named = greatest(lake, TRANSACTIONS.name, f"{table.name}_version") or 0
        _refuse(lake, table.name, "version", lake.version(table.name), named)
    _refuse(lake, GRAPHS.name, "version", lake.version(GRAPHS.name), _graphs_version(lake))
    newest = _newest_epochs(lake, stream_names(lake))
    for name, last in newest.items():
        _refuse(lake, STREAMS.name(name), "epoch", _complete_to(lake, STREAMS.name(name)), last)
    if newest:
        name = STREAM_EPOCHS.name
        _refuse(lake, name, "epoch", _complete_to(lake, name), max(newest.values()))
    for name in inbox_names(lake):
        refuse_older_inbox(lake, name)


def refuse_older_inbox(lake: Lake, remote: str) -> None:
    """Refuse to go on from an inbox that lacks rounds which are epochs.

    Raises:
        DamagedTable: it does.
    """
    position, last = source_positions(lake).get(remote), replica_inbox(remote).last(lake)
    if position is not None and position.last is not None and last is not None:
        _refuse(lake, REPLICAS.name(remote), "round", last.mark.round, int(position.last))


def refuse_older_transactions(lake: Lake, head: int, unfinished: Sequence[Transaction]) -> None:
    """Refuse to finish epochs that do not follow the newest one.

    Raises:
        DamagedTable: they do not.
    """
    if unfinished and unfinished[0].epoch > head + 1:
        _refuse(lake, TRANSACTIONS.name, "epoch", head, unfinished[0].epoch - 1)


def _newest_epochs(lake: Lake, sources: Collection[str]) -> dict[str, int]:
    """The newest epoch of each of some sources that has any."""
    if not sources:
        return {}
    rows = lake.rows(TRANSACTIONS.name, ["source", "epoch"], [("source", "in", [*sources])])
    newest = rows.group_by("source").aggregate([("epoch", "max")])
    return {row["source"]: row["epoch_max"] for row in newest.to_pylist()}


def _graphs_version(lake: Lake) -> int:
    """The version of `graphs` that the newest epoch names; 0 if an earlier release wrote it."""
    newest = newest_of_ingest(lake, TRANSACTIONS.name)
    return 0 if newest is None else int(newest.extra.get(GRAPHS_VERSION) or 0)


def _complete_to(lake: Lake, table: str) -> int | None:
    newest = newest_of_ingest(lake, table)
    return None if newest is None else newest.watermark


def _refuse(lake: Lake, table: str, what: str, there: int | None, named: int) -> None:
    # Of a log at rest the last commit may be forgotten.
    if there is None or there >= named:
        return
    address = lake.location(table)
    raise DamagedTable(
        f"its newest {what} is {there}, and another table has {what} {named} of it: it is older"
        f" than the others (table {table_of(address)})",
        address,
        "Restore all tables of the lake from one backup.",
    )
