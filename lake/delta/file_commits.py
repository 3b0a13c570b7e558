"""Commits of data files: append them, or replace files if nobody else committed meanwhile.

A replacement is computed from the files of one version, and is right for that version only.
delta-rs checks for conflicts with later commits, but considers commits that rearrange files
harmless: two processes that merge the same files at once would both succeed, and double each row.
So a replacement is committed as the very next version or not at all (no retries by delta-rs). If
another commit came first, it is computed again from the newest version.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, RemoveAction

from weir.lake.damage.storage_errors import RESTORE, DamagedTable, table_of
from weir.lake.delta.parquet_files import DataFile
from weir.lake.delta.stored_table import committing
from weir.lake.ledger.fences import Guard
from weir.lake.storage.storage import Refused

_ATTEMPTS = 100
"""Others commit a few times a second at most."""
_NO_VERSION = "Invalid table version"
"""The message of delta-rs if the log lacks the commit of the open version."""


class Overtaken(Exception):  # noqa: N818  (named after what happened)
    """Others committed first, again and again."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """Files that take the place of others.

    Attributes:
        removed: paths (as in the log) and sizes of files of the table.
        added: new files.
        changes_data: whether the rows change; false if they only move.
    """

    removed: Sequence[tuple[str, int]]
    added: Sequence[DataFile]
    changes_data: bool

    def actions(self) -> list[AddAction | RemoveAction]:
        """The actions of its commit."""
        now = time.time_ns() // 1_000_000
        return [
            *(file.added(changes_data=self.changes_data) for file in self.added),
            *(RemoveAction(path, self.changes_data, now, size, {}) for path, size in self.removed),
        ]


def append(
    table: DeltaTable,
    files: Iterable[DataFile],
    *,
    metadata: str | None = None,
    transaction: Transaction | None = None,
    guard: Guard | None = None,
) -> None:
    """Append files to a table in one commit; others may append at the same time.

    Args:
        table: is moved to the new version.
        files: with the rows.
        metadata: the `userMetadata` of the commit.
        transaction: the commit fails if another one with the same identifier came first.
        guard: the fences that the commit has to pass.

    Raises:
        CommitFailedError: another commit with the identifier came first.
        Superseded: the commit does not pass the fences.
        Overtaken: others committed first at every attempt; nothing was done.
    """
    actions: list[AddAction | RemoveAction] = [file.added() for file in files]
    for _ in range(_ATTEMPTS):
        transactions = [] if transaction is None else [transaction]
        if guard is not None and guard.fences:
            table.update_incremental()
            guard.check(table.version())
            transactions += guard.transactions()
        before = table.version()
        try:
            properties = _properties(metadata, None, transactions)
            _write_commit(table, actions, "append", table.schema(), properties)
        except Refused:
            # delta-rs compares the commit that came first with the version that is open.
            continue
        except CommitFailedError:
            if transaction is not None:
                raise
            # Another run with the claim committed, or rows were deleted; delta-rs considers this a
            # conflict although an append reads nothing.
            table.update_incremental()
            if table.version() == before:
                raise
        else:
            table.update_incremental()
            return
    raise _overtaken(table)


def replace(
    table: DeltaTable,
    replacement: Callable[[DeltaTable], Replacement | None],
    *,
    metadata: str | None = None,
    guard: Guard | None = None,
) -> Replacement | None:
    """Replace files in one commit.

    Args:
        table: is moved to the new version.
        replacement: computes the replacement from the newest version of the table; None if there is
            nothing to do. It is called again if another process committed meanwhile. It may then
            use the files that it wrote, if those that they replace still exist.
        metadata: the `userMetadata` of the commit.
        guard: the fences that the commit has to pass.

    Returns:
        The replacement that was committed.

    Raises:
        Overtaken: others committed first at every attempt; nothing was done.
    """
    for _ in range(_ATTEMPTS):
        table.update_incremental()
        replaced = replacement(table)
        if replaced is None:
            return None
        if _committed(table, replaced.actions(), "append", table.schema(), metadata, guard):
            return replaced
    raise _overtaken(table)


def overwrite(
    table: DeltaTable,
    files: Iterable[DataFile],
    schema: Schema,
    *,
    metadata: str,
    guard: Guard | None = None,
) -> None:
    """Replace all rows of a table, and its columns, in one commit.

    Raises:
        Overtaken: others committed first at every attempt; nothing was done.
    """
    actions: list[AddAction | RemoveAction] = [file.added() for file in files]
    for _ in range(_ATTEMPTS):
        table.update_incremental()
        if _committed(table, actions, "overwrite", schema, metadata, guard):
            return
    raise _overtaken(table)


def files_of(table: DeltaTable) -> list[tuple[str, int]]:
    """The paths (as in the log) and sizes of a table's files, oldest first."""
    files = pa.table(table.get_add_actions()).select(["modification_time", "path", "size_bytes"])
    ordered = files.sort_by([("modification_time", "ascending"), ("path", "ascending")])
    paths, sizes = ordered["path"].to_pylist(), ordered["size_bytes"].to_pylist()
    return [(str(path), int(str(size))) for path, size in zip(paths, sizes, strict=True)]


def _committed(
    table: DeltaTable,
    actions: list[AddAction | RemoveAction],
    mode: str,
    schema: Schema,
    metadata: str | None,
    guard: Guard | None,
) -> bool:
    """Whether actions were committed as the very next version, to which the table then moves.

    Raises:
        Superseded: the commit does not pass the guard.
        DamagedTable: the log lacks commits.
    """
    before = table.version()
    if guard is not None:
        guard.check(before)
    transactions = [] if guard is None else guard.transactions()
    try:
        _write_commit(table, actions, mode, schema, _properties(metadata, 0, transactions))
    except CommitFailedError:
        table.update_incremental()
        if table.version() == before:
            # Nobody came first: the commit itself is impossible.
            raise
        return False
    table.update_incremental()
    return True


def _write_commit(
    table: DeltaTable,
    actions: list[AddAction | RemoveAction],
    mode: str,
    schema: Schema,
    properties: CommitProperties,
) -> None:
    """Write a commit after the open version.

    Raises:
        CommitFailedError: others committed first, and the library does not retry.
        DamagedTable: the log lacks commits.
    """
    try:
        with committing(table):
            table.create_write_transaction(actions, mode, schema, commit_properties=properties)
    except CommitFailedError:
        raise
    except DeltaError as error:
        if _NO_VERSION not in str(error):
            raise
        what = f"its log has no commit {table.version()}, after a checkpoint of it"
        raise DamagedTable(
            f"{what} (table {table_of(table.table_uri)})", table.table_uri, RESTORE
        ) from error


def _overtaken(table: DeltaTable) -> Overtaken:
    return Overtaken(f"{table.table_uri}: other processes committed {_ATTEMPTS} times in a row")


def _properties(
    metadata: str | None, retries: int | None, transactions: list[Transaction]
) -> CommitProperties:
    return CommitProperties(
        custom_metadata=None if metadata is None else {"userMetadata": metadata},
        max_commit_retries=retries,
        app_transactions=transactions or None,
    )
