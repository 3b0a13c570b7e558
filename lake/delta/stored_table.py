"""A table of a lake as delta-rs opens it, from the folder of this machine with its files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable
from pyarrow import fs
from pyarrow.parquet import filters_to_expression

from weir.lake.damage.damaged_files import damage_is_named
from weir.lake.damage.log_checks import verify_commits
from weir.lake.delta.checksums import verify_footers
from weir.lake.delta.commit_files import commit_file
from weir.lake.delta.data_files import are_the_rows, names_of
from weir.lake.delta.datasets import bounded_dataset, columns_of
from weir.lake.storage.storage import Storage

_MOSTLY_FILTERED = ("epoch", "instant")
"""Columns that readers of changes filter by."""
_SMALL = ds.ParquetFragmentScanOptions(pre_buffer=False, page_checksum_verification=True)
"""How a small table is read: nothing is read ahead, which takes longer than reading it."""


class StoredTable(DeltaTable):
    """A table whose files Arrow reads without calling Python.

    delta-rs gives Arrow a file system in Python. Arrow's threads read ahead; if one of them needs
    the interpreter while that shuts down, the process aborts, crashes or hangs. This happened in
    half of the programs that end right after a small read.

    The list of the files of a version is needed several times in a run, and computed once.
    """

    name: str
    storage: Storage
    greatest: dict[str, dict[str, int | None]]
    """By column and data file: the greatest number."""
    _actions: tuple[int, dict[bool, Any]] = (-1, {})

    @classmethod
    def open(cls, storage: Storage, name: str, version: int | None) -> StoredTable:
        """Open a table at a version, by default the newest that is known.

        Raises:
            TableNotFoundError: there is none.
            DeltaError: its log cannot be read.
        """
        table = cls(str(storage.folder(name)), version=version)
        table.name, table.storage, table.greatest = name, storage, {}
        return table

    @property
    def folder(self) -> Path:
        """The folder of this machine with its files."""
        return self.storage.folder(self.name)

    def update_incremental(self) -> None:
        folder = self.folder
        # Mostly nothing is new, which shows at once; delta-rs takes some milliseconds. If the log
        # no longer has this version, it may have lost the next one too.
        if (folder / commit_file(self.version() + 1)).exists() or not (
            folder / commit_file(self.version())
        ).exists():
            before = self.version()
            super().update_incremental()
            verify_commits(folder, before, self.version())

    def get_add_actions(self, flatten: bool = False) -> Any:
        version, by_flatten = self._actions
        if version != self.version():
            self._actions = version, by_flatten = self.version(), {}
        if flatten not in by_flatten:
            by_flatten[flatten] = super().get_add_actions(flatten)
        return by_flatten[flatten]

    def rows(
        self,
        columns: Sequence[str] | None = None,
        filters: Sequence[tuple[str, str, Any]] | None = None,
    ) -> pa.Table:
        """The rows of a small table that meet all filters, read by this thread.

        Raises:
            DamagedTable: a file is not what was written.
        """
        wanted: list[Any] = [] if filters is None else [*filters]
        with damage_is_named(self.folder):
            dataset = self._dataset({name for name, _, _ in wanted})
            return dataset.to_table(
                columns=None if columns is None else [*columns],
                filter=filters_to_expression(wanted) if wanted else None,
                use_threads=False,
                fragment_scan_options=_SMALL,
            )

    def to_pyarrow_dataset(self, **_options: Any) -> ds.Dataset:  # type: ignore[override]
        return self._dataset(_MOSTLY_FILTERED)

    def _dataset(self, bounded: Collection[str]) -> ds.Dataset:
        """All rows; filters on bounded columns skip files."""
        listed = pa.table(self.get_add_actions(flatten=True))
        names = names_of(listed)
        self.storage.bring(self.name, names)
        verify_footers(self.folder / name for name in names)
        if not are_the_rows(self):
            # Only a program other than Weir can have made it so; delta-rs says what it cannot read.
            return super().to_pyarrow_dataset(filesystem=self._files)
        return bounded_dataset(self._files, listed, columns_of(self), bounded)

    @property
    def _files(self) -> fs.FileSystem:
        return fs.SubTreeFileSystem(str(self.folder), fs.LocalFileSystem())


def bring(table: DeltaTable, names: Iterable[str]) -> None:
    """Bring data files of a table to this machine; those of a foreign table are where they are."""
    if isinstance(table, StoredTable):
        table.storage.bring(table.name, names)


@contextmanager
def committing(table: DeltaTable) -> Iterator[None]:
    """A context in which delta-rs writes a commit of a table.

    Raises:
        Refused: at the end, if others committed first.
    """
    if isinstance(table, StoredTable):
        with table.storage.committing(table.name):
            yield
    else:
        yield
