"""A table of rows without order, whose files are a trie of the hashes of the rows.

The name of a file begins with the first bits of the hashes that its rows may have. New rows go to
the root, a file without bits. If the files of some bits have more than `MOST_ROWS` rows together,
they are split by the next two bits. So a row is in one of few files of limited size, however large
the table is, and is written once per level of the trie. A file of another program has no bits in
its name: it counts as one of the root, and is split like these.

A commit that changes rows adds files with new rows and removes files with rows that are gone, and
nothing else, so that the change feed has exactly these. For this, rows that go are first moved to a
file of their own, by a commit that only moves rows.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from weir.lake.delta.commit import arrow_schema, checkpoint, create_if_missing, schema_of
from weir.lake.delta.datasets import columns_of
from weir.lake.delta.file_commits import Overtaken, Replacement, files_of, overwrite, replace
from weir.lake.delta.file_rows import rows_of_files
from weir.lake.delta.metadata import Metadata
from weir.lake.delta.parquet_files import DataFile, write_files
from weir.lake.delta.stored_table import StoredTable
from weir.lake.lake import Lake
from weir.lake.tables import Table

MOST_ROWS = 20_000
"""Rows of the files with the same bits; more are split."""
MOST_FILES = 16
"""Files with the same bits; more are merged."""
_STEP = 2
"""Bits by which files are split."""
_BITS = 64
_NAMED = re.compile(r"hash([01]*)-")

Hashes: TypeAlias = npt.NDArray[np.uint64]


class UnknownRows(Exception):  # noqa: N818  (named after what is wrong)
    """Rows that are to change are not in the table: it does not hold what it is said to hold."""


@dataclass(frozen=True, slots=True)
class RowChanges:
    """Changes of the multiplicities of rows.

    Attributes:
        rows: the columns of the table but that of multiplicities; each row once.
        weights: by how much the multiplicity of each row changes; none is 0.
        count: the column of multiplicities; None if each row is in the table once.
    """

    rows: pa.Table
    weights: Sequence[int]
    count: str | None


def hashes_of(rows: pa.Table, without: str | None = None) -> Hashes:
    """A hash per row, of the names and values of its cells.

    Cells without a value do not count, nor does the order of columns: columns may be added.
    """
    total = np.zeros(rows.num_rows, np.uint64)
    for name in rows.column_names:
        if name == without or not rows.num_rows:
            continue
        encoded = _plain(rows[name]).combine_chunks().dictionary_encode()
        of_column = hashlib.blake2b(name.encode(), digest_size=8)
        hashes = [_hash(of_column, value) for value in encoded.dictionary.to_pylist()]
        of_values = np.array([*hashes, 0], np.uint64)
        indices = encoded.indices.fill_null(len(of_values) - 1).to_numpy(zero_copy_only=False)
        total += of_values[indices]
    return total


def _hash(of_column: hashlib.blake2b, value: object) -> int:
    hashed = of_column.copy()
    # The forms of `repr` are the same in all versions of Python that run this.
    text = value if isinstance(value, str) else repr(value)
    hashed.update(text.encode())
    return int.from_bytes(hashed.digest(), "big")


def overwrite_hashed(
    lake: Lake, table: Table, rows: pa.Table, count: str | None, metadata: Metadata
) -> int:
    """Replace all rows of a table, and its columns; it is created if it is missing.

    Args:
        lake: has the table.
        table: its definition.
        rows: its columns; each row once.
        count: the column of multiplicities, if there is one.
        metadata: of the commit.

    Returns:
        The version of the commit.
    """
    with lake.using(table.name):
        stored = create_if_missing(lake, table)
        stored.update_incremental()
        checkpoint(f"{metadata.job}:before:{table.name}")
        rows = rows.select(list(table.column_names)).cast(arrow_schema(table))
        written = [*_split(lake, table.name, rows, hashes_of(rows, count), "")]
        schema = schema_of(table.columns)
        guard = lake.guard(table.name)
        overwrite(stored, written, schema, metadata=metadata.to_json(), guard=guard)
        checkpoint(f"{metadata.job}:after:{table.name}")
        lake.committed(table.name)
        return stored.version()


def change_hashed(lake: Lake, table: Table, changes: RowChanges, metadata: Metadata) -> int:
    """Change multiplicities of rows by one commit; others, without metadata, only move rows.

    Args:
        lake: has the table.
        table: its definition, which has the columns of the stored table.
        changes: of its rows.
        metadata: of the commit.

    Returns:
        The version of the commit.

    Raises:
        UnknownRows: a row that is to vanish is not there; nothing is changed.
        Overtaken: another process changed the table meanwhile; nothing is changed.
        Superseded: another run has the claim of this one.
    """
    with lake.using(table.name):
        stored = lake.existing(table.name)
        stored.update_incremental()
        change = _Change(lake, table, changes)
        change.look_up(stored)
        change.separate(stored, metadata.job)
        checkpoint(f"{metadata.job}:before:{table.name}")
        change.commit(stored, metadata)
        checkpoint(f"{metadata.job}:after:{table.name}")
        version = stored.version()
        lake.committed(table.name)
        tidy(lake, table.name, changes.count, metadata.job)
    return version


@dataclass(slots=True)
class _File:
    """A file with some of the rows that change.

    Attributes:
        path: as in the log.
        size: in bytes.
        stays: new files with its other rows, which no commit has yet.
        goes: the rows that are replaced or vanish.
    """

    path: str
    size: int
    stays: Sequence[DataFile]
    goes: pa.Table


class _Change:
    """The changes of a table, and the files that they concern."""

    def __init__(self, lake: Lake, table: Table, changes: RowChanges) -> None:
        self.lake, self.table, self.changes = lake, table, changes
        self.schema = arrow_schema(table)
        self.hashes = hashes_of(changes.rows)
        self.files: list[_File] = []
        self.added = self.schema.empty_table()

    def look_up(self, stored: DeltaTable) -> None:
        """Read the files that may have the rows, and compute what is added.

        Raises:
            UnknownRows: a row that is to vanish is not there.
        """
        changes, rows = self.changes, self.changes.rows
        # A row of a set that appears was not there.
        wanted = [i for i, w in enumerate(changes.weights) if changes.count is not None or w < 0]
        keys = _keys(rows, rows.column_names)
        before = dict[int, int]()
        for path, size in files_of(stored):
            bits = bits_of(path)
            own = [i for i in wanted if _begins(int(self.hashes[i]), bits)]
            if own:
                self._match(path, size, own, keys, before)
        after = [before.get(i, 0) + weight for i, weight in enumerate(changes.weights)]
        if any(number < 0 for number in after):
            raise UnknownRows(f"{self.table.name} lacks rows that are to vanish")
        kept = [i for i, number in enumerate(after) if number > 0]
        added = rows.take(pa.array(kept, pa.int64()))
        if changes.count is not None:
            counts = pa.array([after[i] for i in kept], pa.int64())
            added = added.append_column(changes.count, counts)
        self.added = added.select(self.schema.names).cast(self.schema)

    def _match(
        self,
        path: str,
        size: int,
        wanted: Sequence[int],
        keys: Sequence[str],
        before: dict[int, int],
    ) -> None:
        """Find rows in a file; `before` gets their multiplicities."""
        content = _rows(self.lake, self.table.name, [path], self.schema)
        names, count = self.changes.rows.column_names, self.changes.count
        positions = _candidates(content, self.changes.rows.take(pa.array(wanted, pa.int64())))
        near = content.take(positions)
        numbers: list[Any] = [1] * near.num_rows if count is None else near[count].to_pylist()
        by_key = {keys[i]: i for i in wanted}
        goes = np.zeros(content.num_rows, bool)
        for position, key, number in zip(
            positions.to_pylist(), _keys(near, names), numbers, strict=True
        ):
            if (i := by_key.get(key)) is not None:
                before[i] = before.get(i, 0) + number
                goes[position] = True
        if goes.any():
            # Written at once: the rows of all these files may be those of the whole table.
            stays = content.filter(pa.array(~goes))
            written = self._write(stays, bits_of(path)) if stays.num_rows else []
            self.files.append(_File(path, size, written, content.filter(pa.array(goes))))

    def separate(self, stored: StoredTable, job: str) -> None:
        """Move the rows that go to a file of their own, where a file has others, too."""
        mixed = [file for file in self.files if file.stays]
        if not mixed:
            return
        goes = pa.concat_tables([file.goes for file in mixed])
        moved = self._write(goes, "")
        stay = [new for file in mixed for new in file.stays]
        old = [(file.path, file.size) for file in mixed]
        checkpoint(f"{job}:before:separated:{self.table.name}")
        _replace(self.lake, stored, Replacement(old, [*moved, *stay], changes_data=False))
        checkpoint(f"{job}:after:separated:{self.table.name}")
        self.files = [file for file in self.files if not file.stays]
        self.files += [_File(new.name, new.size, (), goes) for new in moved]

    def commit(self, stored: StoredTable, metadata: Metadata) -> None:
        """Remove what goes and add what is new."""
        old = [(file.path, file.size) for file in self.files]
        new = self._write(self.added, "")
        _replace(self.lake, stored, Replacement(old, new, changes_data=True), metadata)

    def _write(self, rows: pa.Table, bits: str) -> list[DataFile]:
        return _write(self.lake, self.table.name, rows, bits)


def tidy(lake: Lake, table_name: str, count: str | None, job: str) -> None:
    """Split and merge files with the same bits, as long as there are too many rows or files.

    A commit has all that is split and merged at once, and no metadata. Killed at any point, it has
    done part of its work; rows and change feed stay the same.
    """
    with lake.using(table_name):
        table = lake.existing(table_name)
        while True:
            table.update_incremental()
            moved = _tidied(lake, table, count)
            if not moved.removed:
                break
            checkpoint(f"{job}:before:tidied:{table_name}")
            try:
                _replace(lake, table, moved)
            except Overtaken:
                break
            checkpoint(f"{job}:after:tidied:{table_name}")
    lake.committed(table_name)


def _tidied(lake: Lake, table: StoredTable, count: str | None) -> Replacement:
    """Write the rows of all bits whose files are too many, or have too many rows, once more."""
    removed, added, schema = list[tuple[str, int]](), list[DataFile](), columns_of(table)
    for bits, files in _crowded(table):
        rows = _rows(lake, table.name, [path for path, _ in files], schema)
        written = [*_split(lake, table.name, rows, hashes_of(rows, count), bits)]
        is_split = any(bits_of(file.name) != bits for file in written)
        # Few rows may take many files, if they are long.
        if is_split or len(written) < len(files):
            removed += files
            added += written
    return Replacement(removed, added, changes_data=False)


def _crowded(table: DeltaTable) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """The bits whose files have too many rows, or are too many, with paths and sizes."""
    actions = pa.table(table.get_add_actions()).select(["path", "size_bytes", "num_records"])
    by_bits: dict[str, list[tuple[str, int]]] = defaultdict(list)
    numbers: dict[str, int] = defaultdict(int)
    for action in actions.to_pylist():
        bits = bits_of(action["path"])
        by_bits[bits].append((action["path"], action["size_bytes"]))
        numbers[bits] += action["num_records"] or MOST_ROWS
    for bits, files in by_bits.items():
        is_split = numbers[bits] <= MOST_ROWS or len(bits) >= _BITS
        if len(files) > MOST_FILES or not is_split:
            yield bits, files


def _split(
    lake: Lake, table_name: str, rows: pa.Table, hashes: Hashes, bits: str
) -> Iterator[DataFile]:
    """Write rows with the same bits to one file, or to several with more bits."""
    if rows.num_rows <= MOST_ROWS or len(bits) >= _BITS:
        yield from _write(lake, table_name, rows, bits)
        return
    shift = np.uint64(_BITS - len(bits) - _STEP)
    next_bits = (hashes >> shift) & np.uint64((1 << _STEP) - 1)
    for number in range(1 << _STEP):
        own = np.flatnonzero(next_bits == number)
        part = rows.take(pa.array(own, pa.int64()))
        yield from _split(lake, table_name, part, hashes[own], f"{bits}{number:0{_STEP}b}")


def _write(lake: Lake, table_name: str, rows: pa.Table, bits: str) -> list[DataFile]:
    batches = rows.combine_chunks().to_batches()
    return write_files(lake, table_name, rows.schema, batches, begin=f"hash{bits}")


def bits_of(path: str) -> str:
    """The first bits of the hashes of the rows in a file; none for files of other programs."""
    match = _NAMED.match(unquote(path))
    return "" if match is None else match[1]


def _begins(hash_: int, bits: str) -> bool:
    return not bits or hash_ >> (_BITS - len(bits)) == int(bits, 2)


def _candidates(content: pa.Table, wanted: pa.Table) -> Any:
    """The positions of the rows whose cells each occur among those of some rows."""
    near: Any = pa.array(np.ones(content.num_rows, bool))
    for name in wanted.column_names:
        # No NaN is equal to itself.
        if not pa.types.is_floating(wanted[name].type):
            values: Any = wanted[name].combine_chunks()
            near = pc.and_(near, pc.is_in(content[name], value_set=values))
    return pc.indices_nonzero(near)


def _plain(column: Any) -> Any:
    """Times as numbers, which have one form."""
    return column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column


def _keys(rows: pa.Table, names: Sequence[str]) -> list[str]:
    """A text per row that rows with equal cells share."""
    columns = (_plain(rows[name]).to_pylist() for name in names)
    return [repr(row) for row in zip(*columns, strict=True)] if names else [""] * rows.num_rows


def _rows(lake: Lake, table_name: str, paths: Iterable[str], schema: pa.Schema) -> pa.Table:
    return rows_of_files(lake, table_name, map(unquote, paths), schema).to_table()


def _replace(
    lake: Lake, table: StoredTable, replacement: Replacement, metadata: Metadata | None = None
) -> None:
    """Commit a replacement that was computed from the state that is open.

    Raises:
        Overtaken: another process replaced one of the files.
        Superseded: another run has the claim of this one.
    """
    removed = {*replacement.removed}

    def again(newest: DeltaTable) -> Replacement:
        if not removed <= {*files_of(newest)}:
            raise Overtaken(f"{newest.table_uri}: its files were rewritten meanwhile")
        return replacement

    text = None if metadata is None else metadata.to_json()
    replace(table, again, metadata=text, guard=lake.guard(table.name))
