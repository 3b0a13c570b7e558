"""A table of a lake as delta-rs opens it, from the folder of this machine with its files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable
from pyarrow import fs

from weir.lake.damage.damaged_files import damage_is_named
from weir.lake.damage.log_checks import verify_commits
from weir.lake.delta.checksums import PAGES_ARE_VERIFIED, verify_footers
from weir.lake.delta.commit_files import commit_file
from weir.lake.storage.storage import Storage


class StoredTable(DeltaTable):
    """A table whose files Arrow reads without calling Python.

    delta-rs gives Arrow a file system in Python. Arrow's threads read ahead; if one of them needs
    the interpreter while that shuts down, the process aborts, crashes or hangs. This happened in
    half of the programs that end right after a small read.

    The list of the files of a version is needed several times in a run, and computed once.
    """

    name: str
    storage: Storage
    _actions: tuple[int, dict[bool, Any]] = (-1, {})

    @classmethod
    def open(cls, storage: Storage, name: str, version: int | None) -> StoredTable:
        """Open a table at a version, by default the newest that is known.

        Raises:
            TableNotFoundError: there is none.
            DeltaError: its log cannot be read.
        """
        table = cls(str(storage.folder(name)), version=version)
        table.name, table.storage = name, storage
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

    def to_pyarrow_table(self, *arguments: Any, **options: Any) -> pa.Table:
        with damage_is_named(self.folder):
            return super().to_pyarrow_table(*arguments, **options)

    def to_pyarrow_dataset(self, **options: Any) -> ds.Dataset:  # type: ignore[override]
        folder = self.folder
        options["filesystem"] = fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
        dataset: Any = super().to_pyarrow_dataset(**options)
        fragments = [*dataset.get_fragments()]
        self.storage.bring(self.name, [fragment.path for fragment in fragments])
        verify_footers(folder / fragment.path for fragment in fragments)
        verified = [
            PAGES_ARE_VERIFIED.make_fragment(
                fragment.path,
                dataset.filesystem,
                partition_expression=fragment.partition_expression,
            )
            for fragment in fragments
        ]
        return ds.FileSystemDataset(
            verified, dataset.schema, PAGES_ARE_VERIFIED, dataset.filesystem
        )


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
