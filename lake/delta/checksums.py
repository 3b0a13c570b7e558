"""Checksums of data files, verified before a row is used: one flipped bit would be a wrong row.

The name of a file that this process writes has the CRC-32 of its content and of its footer, and its
pages have checksums of their own. What is verified depends on the reader:

* DuckDB, which verifies no page: the whole file (`verify_files`), 2 GB a second.
* Arrow: the footer (`verify_footers`), by which row groups are skipped, and the pages that it
  reads.
* Spark: the pages that it reads.

A file that Spark wrote has checksums of its pages, but none in its name. Before DuckDB reads it for
the first time all of its pages are verified, and its CRC-32 is noted beside it. Files of earlier
versions of Weir have no checksum at all until then.
"""

from __future__ import annotations

import os
import re
import threading
import uuid
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from weir.lake.damage.storage_errors import RESTORE, DamagedTable, table_of
from weir.lake.whole_files import write_whole

NOTES = "_checksums"
"""The folder below a table with the checksums of files that have none in their names."""
BEGIN = "part"
"""How the names of files begin, if nothing is to be known by it."""
_NAMED = re.compile(r"\.([0-9a-f]{8})-([0-9a-f]{8})\.parquet\Z")
_CHUNK = 1 << 20
_TAIL = 8
"""The last bytes of a Parquet file: the length of the footer and the magic number."""

PAGES_ARE_VERIFIED = ds.ParquetFileFormat(
    # Spark may write times as nanoseconds of a day; as nanoseconds since 1970 they end in 2262.
    read_options=ds.ParquetReadOptions(dictionary_columns=None, coerce_int96_timestamp_unit="us"),
    default_fragment_scan_options=ds.ParquetFragmentScanOptions(
        pre_buffer=True, page_checksum_verification=True
    ),
)
"""How Arrow reads a data file."""


@dataclass(frozen=True, slots=True)
class Checksums:
    """The CRC-32 of a whole data file, and of its footer with the last eight bytes."""

    file: int
    footer: int

    @classmethod
    def of_name(cls, name: str) -> Self | None:
        """The checksums in the name of a file; None if another program wrote it."""
        match = _NAMED.search(name)
        return None if match is None else cls(int(match[1], 16), int(match[2], 16))

    def name(self, begin: str = BEGIN) -> str:
        """A new name for a file with this content."""
        return f"{begin}-{uuid.uuid4().hex}.{self.file:08x}-{self.footer:08x}.parquet"


def verify_files(files: Iterable[Path]) -> None:
    """Check the whole content of data files, each once per process.

    Raises:
        DamagedTable: the content of a file is not what was written.
        FileNotFoundError: a file is missing.
    """
    for file, state in _files.unverified(files):
        if file_checksum(file) != _whole_checksum(file):
            raise damaged(file)
        _files.note(file, state)


def verify_footers(files: Iterable[Path]) -> None:
    """Check the footers of data files, by which readers skip rows; each once per process.

    Raises:
        DamagedTable: the footer of a file is not what was written.
        FileNotFoundError: a file is missing.
    """
    for file, state in _footers.unverified(files):
        expected = Checksums.of_name(file.name)
        if expected is not None and footer_checksum(file) != expected.footer:
            raise damaged(file)
        _footers.note(file, state)


def is_intact(file: Path) -> bool:
    """Whether the whole content of a data file is what was written; always reads the file.

    A file without a checksum is intact if it can be read.

    Raises:
        FileNotFoundError: it is missing.
    """
    try:
        return file_checksum(file) == _whole_checksum(file)
    except DamagedTable:
        return False


def damaged(file: Path) -> DamagedTable:
    """The error about a damaged data file."""
    what = f"the content of this data file is not what was written (table {table_of(str(file))})"
    return DamagedTable(what, str(file), RESTORE)


def file_checksum(file: Path) -> int:
    """The CRC-32 of the content of a file."""
    checksum = 0
    with file.open("rb", buffering=0) as stream:
        while chunk := stream.read(_CHUNK):
            checksum = zlib.crc32(chunk, checksum)
    return checksum


def footer_checksum(file: Path) -> int:
    """The CRC-32 of a file's footer and tail; of the whole file if the tail has a wrong length."""
    with file.open("rb", buffering=0) as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - _TAIL))
        tail = stream.read(_TAIL)
        length = min(size, int.from_bytes(tail[:4], "little") + _TAIL)
        stream.seek(size - length)
        return zlib.crc32(stream.read(length))


_State = tuple[int, int, int]
"""Inode, size and time of a file; another content mostly has another state."""


class Verified:
    """The files that this process has verified, by folder; forgets files that are not in use."""

    def __init__(self) -> None:
        self._folders: dict[Path, dict[str, _State]] = {}
        self._lock = threading.Lock()

    def unverified(self, files: Iterable[Path]) -> Iterator[tuple[Path, _State]]:
        """The files that were not verified in their present state."""
        files = [*files]
        with self._lock:
            for folder in {file.parent for file in files}:
                names = {file.name for file in files if file.parent == folder}
                known = self._folders.setdefault(folder, {})
                # Forgets merged files, but not at once: a call may name only some of the files.
                if len(known) > 2 * len(names) + _LEAST:
                    self._folders[folder] = {n: s for n, s in known.items() if n in names}
        for file in files:
            status = file.stat()
            state = status.st_ino, status.st_size, status.st_mtime_ns
            with self._lock:
                known_state = self._folders.get(file.parent, {}).get(file.name)
            if known_state != state:
                yield file, state

    def note(self, file: Path, state: _State) -> None:
        """Note that a file was verified."""
        with self._lock:
            self._folders.setdefault(file.parent, {})[file.name] = state


_LEAST = 32
_files, _footers = Verified(), Verified()


_noting = threading.Lock()


def _whole_checksum(file: Path) -> int:
    """The CRC-32 that a file must have."""
    named = Checksums.of_name(file.name)
    if named is not None:
        return named.file
    note = file.parent / NOTES / f"{file.name}.crc32"
    try:
        return int(note.read_text("ascii"), 16)
    except FileNotFoundError:
        pass
    except ValueError as error:
        what, hint = "this is no checksum", "Remove the file, and run again."
        raise DamagedTable(what, str(note), hint) from error
    # Computed before the pages are verified, so that a bit that flips in between is noticed.
    checksum = file_checksum(file)
    try:
        for _ in PAGES_ARE_VERIFIED.make_fragment(str(file), fs.LocalFileSystem()).to_batches():
            pass
    except (OSError, pa.ArrowException) as error:
        raise damaged(file) from error
    with _noting:
        write_whole(note, f"{checksum:08x}\n")
    return checksum
