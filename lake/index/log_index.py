"""The index of a log by some of its columns: the rows of a table, sorted, on this machine.

It is derived from the table and never the truth: it may be removed at any time, and is made again.
It belongs to one version of the table and follows it by the files that later commits added. It is
made again if the table is another one, if rows were removed (a consolidation), or if a file of the
index is not what was written.

One process at a time changes an index, others read it meanwhile. What is noted of its files is
replaced by one step. So a process that is killed leaves files that nothing names, which the next
change removes. No file is flushed to the disk: what a power failure leaves unwritten has another
checksum.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from math import ceil, log
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import pyarrow as pa
import pyarrow.compute as pc

from weir.lake.delta.appended import NotAppended, changed_files, commit_digest
from weir.lake.delta.bindings import Bindings, quoted
from weir.lake.delta.data_files import files_after, names_of, rows_in
from weir.lake.delta.datasets import columns_of
from weir.lake.delta.file_rows import rows_of_files
from weir.lake.index.sorted_rows import (
    END,
    DamagedIndex,
    SortedFile,
    SortedRows,
    write_sorted,
)
from weir.lake.whole_files import write_whole

if TYPE_CHECKING:
    import duckdb

    from weir.lake.delta.stored_table import StoredTable
    from weir.lake.lake import Lake

_FORMAT = 2
NOTE: Final = "index.json"
"""The file in the folder of an index that says what its files are."""
_LOCK = "lock"
_BETWEEN = "\r"
"""Is between the values of a row; like the end of a row, no term in N-Triples form has it."""
_NULL = "\\N"
"""Stands for null, as in text files of other databases; no term is it."""
_LIKE_FILES = 4
"""So many files of like size are merged: of 1 to 4 rows, of 5 to 16, ..."""
_MERGED_ROWS = 500_000
"""Files with more rows are not merged."""
_MOST_FILES = 40
_BATCH = 131_072


class NoIndex(Exception):  # noqa: N818  (named after what is wrong)
    """The rows cannot be found by an index; a scan gives them."""


@dataclass(frozen=True, slots=True)
class _State:
    """What is noted of an index.

    Attributes:
        table: id of the table.
        columns: of the rows, in order.
        built: the version from which it was made; since then rows were only added.
        version: of the table, to which it was brought up.
        digest: of the commit of that version.
        files: the largest first.
    """

    table: str
    columns: tuple[str, ...]
    built: int
    version: int
    digest: str
    files: tuple[SortedFile, ...]

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """What is noted; None if nothing is, or not by this version of Weir."""
        try:
            note = json.loads((folder / NOTE).read_bytes())
            if note.pop("checksum") != _digest(note) or note.pop("format") != _FORMAT:
                return None
            files = tuple(SortedFile(**file) for file in note.pop("files"))
            return cls(**{**note, "columns": tuple(note["columns"])}, files=files)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def write(self, folder: Path) -> None:
        note = {"format": _FORMAT, **asdict(self)}
        write_whole(folder / NOTE, json.dumps({**note, "checksum": _digest(note)}))


def _digest(note: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(note, sort_keys=True).encode()).hexdigest()


class LogIndex:
    """The rows of one table of terms, by some of its columns.

    Args:
        lake: has the table.
        table_name: its columns are texts and whole numbers.
        key: the columns by whose values rows are found, or by those of the first of them.
        folder: of the index, which is this object's alone in this process.
        connect: gives a DuckDB that sorts, and is closed afterwards.
    """

    def __init__(
        self,
        lake: Lake,
        table_name: str,
        key: tuple[str, ...],
        folder: Path,
        connect: Callable[[], duckdb.DuckDBPyConnection],
    ) -> None:
        self._lake, self._table, self._folder, self._connect = lake, table_name, folder, connect
        self.key = key
        self._state: _State | None = None
        self._open: dict[str, SortedRows] = {}

    def close(self) -> None:
        """Close all files."""
        for file in self._open.values():
            file.close()
        self._open.clear()
        self._state = None

    def follow(self, table: StoredTable, building: Callable[[], None]) -> None:
        """Bring the index up to a version of the table.

        Args:
            table: at that version.
            building: is called before the whole table is read.

        Raises:
            NoIndex: another process changes it, or the disk is full, or a row has characters that
                no term has.
        """
        state = self._current(table)
        if state is None:
            try:
                with self._alone():
                    # Another process may have done it meanwhile.
                    state = self._current(table) or self._changed(table, building)
            except OSError as error:
                raise NoIndex(str(error)) from error
        self._use(state)

    def rows_with(self, keys: Iterable[Sequence[str | None]], most_bytes: int) -> pa.Table:
        """The rows with some values in the columns of the key.

        Args:
            keys: a value of each column, or of the first of them: then with any in the others.
            most_bytes: of the text of the rows.

        Raises:
            NoIndex: the rows have more than `most_bytes` of text, or the index is damaged: then it
                is removed.
        """
        assert self._state is not None, "`follow` comes first"
        beginnings, parts, size = _beginnings(keys), list[bytes](), 0
        try:
            for file in self._state.files:
                for part in self._open[file.name].beginning_with(beginnings):
                    parts.append(part)
                    size += len(part)
                    if size > most_bytes:
                        raise NoIndex(f"the rows have more than {most_bytes:,} bytes")
        except DamagedIndex as error:
            self.remove()
            raise NoIndex(str(error)) from error
        return self._parsed(b"".join(parts))

    def remove(self) -> None:
        """Remove the index."""
        self.close()
        _removed(self._folder / NOTE)

    @property
    def _columns(self) -> pa.Schema:
        """The columns of the table, those by which rows are found first."""
        schema = columns_of(self._lake.existing(self._table))
        names = [*self.key, *(name for name in schema.names if name not in self.key)]
        return pa.schema([schema.field(name) for name in names])

    def _current(self, table: StoredTable) -> _State | None:
        """What is noted, if it has all rows of the table up to its version."""
        state = _State.read(self._folder)
        if state is None or not self._is_of(table, state):
            return None
        if not state.built <= table.version() <= state.version:
            return None
        if table.version() < state.version:
            # Another process is ahead: later rows have later epochs.
            return state
        is_same = self._commit_digest(state.version) == state.digest
        return state if is_same and _has_all(state, table) else None

    def _is_of(self, table: StoredTable, state: _State) -> bool:
        return state.table == str(table.metadata().id) and state.columns == tuple(
            self._columns.names
        )

    def _commit_digest(self, version: int) -> str | None:
        try:
            return commit_digest(self._lake, self._table, version)
        except NotAppended:
            return None

    def _changed(self, table: StoredTable, building: Callable[[], None]) -> _State:
        """Add what is missing, or make the index again; note it."""
        before = _State.read(self._folder)
        if before is not None:
            try:
                state = self._extended(before, table)
            except (NotAppended, DamagedIndex):
                state = None
            if state is not None and _has_all(state, table):
                return self._noted(state)
        building()
        file = self._sorted(names_of(files_after(table)))
        version, digest = table.version(), self._commit_digest(table.version())
        own, columns = str(table.metadata().id), tuple(self._columns.names)
        return self._noted(_State(own, columns, version, version, digest or "", (file,)))

    def _extended(self, before: _State, table: StoredTable) -> _State | None:
        """The index with the rows that were appended since; None if it is to be made again.

        Raises:
            NotAppended: the log does not show them.
            DamagedIndex: a file of the index is not what was written.
        """
        version = table.version()
        is_same = self._is_of(table, before)
        if not is_same or self._commit_digest(before.version) != before.digest:
            return None
        names: list[str] = []
        for number in range(before.version + 1, version + 1):
            changed = changed_files(self._lake, self._table, number)
            if changed.removed:
                return None
            names += changed.added
        files = [*before.files]
        if names:
            merged = _merged(files)
            files = [file for file in files if file not in merged]
            files.append(self._sorted(names, merged))
        files.sort(key=lambda file: file.rows, reverse=True)
        later = sum(file.rows for file in files[1:])
        if len(files) > _MOST_FILES or later > max(files[0].rows, _MERGED_ROWS):
            return None
        digest = self._commit_digest(version)
        return replace(before, version=version, digest=digest or "", files=tuple(files))

    def _noted(self, state: _State) -> _State:
        state.write(self._folder)
        named = {NOTE, _LOCK, *(part for file in state.files for part in file.parts)}
        for path in self._folder.iterdir():
            if path.name not in named:
                _removed(path)
        return state

    def _sorted(self, names: Sequence[str], merged: Sequence[SortedFile] = ()) -> SortedFile:
        """A file with the rows of some files of the table, and of some of the index."""
        columns = self._columns
        stored = rows_of_files(self._lake, self._table, names, columns)
        values = ", ".join(
            f"coalesce(CAST({quoted(name)} AS VARCHAR), '{_NULL}')" for name in columns.names
        )
        row = f"concat_ws(chr({ord(_BETWEEN)}), {values}) || chr({ord(END)})"
        rows = f"SELECT {row} AS row FROM stored"
        connection = self._connect()
        try:
            bindings = Bindings(connection)
            bindings.rows("stored", stored)
            if merged:
                bindings.rows("merged", self._texts(merged))
                rows = f"{rows} UNION ALL SELECT row FROM merged"
            ordered = connection.sql(f"{rows} ORDER BY row").to_arrow_reader(_BATCH)
            return write_sorted(self._folder, self._checked(ordered, len(columns.names)))
        finally:
            connection.close()

    def _texts(self, merged: Sequence[SortedFile]) -> pa.Table:
        """The rows of files of the index."""
        texts: list[str] = []
        for file in merged:
            opened = SortedRows(self._folder, file)
            try:
                for block in opened.all_rows():
                    # Not `splitlines`: values may have what else Unicode breaks lines at.
                    texts += [f"{row}\n" for row in block.decode().split("\n")[:-1]]
            finally:
                opened.close()
        return pa.table({"row": pa.array(texts, pa.large_string())})

    @staticmethod
    def _checked(batches: Iterable[pa.RecordBatch], columns: int) -> Iterator[pa.RecordBatch]:
        """The batches; a value may not have the characters between values.

        Raises:
            NoIndex: one has.
        """
        for batch in batches:
            rows: Any = batch.column(0).cast(pa.large_string())
            for character, wanted in ((_BETWEEN, columns - 1), (END.decode(), 1)):
                counts = pc.count_substring(rows, character)
                if pc.any(pc.not_equal(counts, pa.scalar(wanted))).as_py():
                    raise NoIndex("a value has a line break")
            yield batch

    def _parsed(self, text: bytes) -> pa.Table:
        columns = self._columns
        rows = pa.array(text.decode().split("\n")[:-1], pa.string())
        values: Any = pc.split_pattern(rows, _BETWEEN).flatten()
        is_null: Any = pc.equal(values, pa.scalar(_NULL))
        values = pc.if_else(is_null, pa.scalar(None, pa.string()), values)
        count, width = len(rows), len(columns)
        cells = [
            values.take(pa.array(range(i, count * width, width), pa.int64())) for i in range(width)
        ]
        return pa.table(
            [cell.cast(field.type) for cell, field in zip(cells, columns, strict=True)],
            schema=columns,
        )

    def _use(self, state: _State) -> None:
        """Open the files that are noted, and close others.

        Raises:
            NoIndex: one of them is damaged: then the index is removed.
        """
        named = {file.name for file in state.files}
        for name in [name for name in self._open if name not in named]:
            self._open.pop(name).close()
        try:
            for file in state.files:
                if file.name not in self._open:
                    self._open[file.name] = SortedRows(self._folder, file)
        except DamagedIndex as error:
            self.remove()
            raise NoIndex(str(error)) from error
        self._state = state

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """A context in which no other process changes the index.

        Raises:
            NoIndex: another one does.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / _LOCK).open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise NoIndex("another process changes the index") from error
            yield


def _merged(files: Sequence[SortedFile]) -> list[SortedFile]:
    """The files with which new rows are written into one file."""
    by_size: dict[int, list[SortedFile]] = defaultdict(list)
    for file in files:
        if file.rows <= _MERGED_ROWS:
            by_size[ceil(log(max(file.rows, 1), _LIKE_FILES))].append(file)
    merged: list[SortedFile] = []
    for size in sorted(by_size):
        # Those that are merged count as one more of the size that they have together.
        if len(by_size[size]) + bool(merged) < _LIKE_FILES:
            break
        merged += by_size[size]
    return merged


def _removed(path: Path) -> None:
    """Remove a file, if that is possible."""
    with suppress(OSError):
        path.unlink()


def _has_all(state: _State, table: StoredTable) -> bool:
    """Whether an index has as many rows as the table, if the log of that says how many."""
    return rows_in(files_after(table)) in (None, state.rows)


def _beginnings(keys: Iterable[Sequence[str | None]]) -> list[bytes]:
    """The beginnings of the rows with one of the keys, sorted; none begins with another."""
    texts = {
        "".join((_NULL if value is None else value) + _BETWEEN for value in key).encode()
        for key in keys
    }
    beginnings: list[bytes] = []
    for text in sorted(texts):
        if not beginnings or not text.startswith(beginnings[-1]):
            beginnings.append(text)
    return beginnings
