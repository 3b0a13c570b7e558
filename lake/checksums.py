"""Data files are verified before a row of them is used: one flipped bit would be a wrong row.

A file that this process writes is named by the CRC-32 of its content and of its footer, and its
pages have checksums of their own. So does each reader check what it uses:

* DuckDB, which verifies no page: the whole file (`verify_files`), 2 GB a second.
* Arrow: the footer (`verify_footers`), by which row groups are skipped, and the pages that it
  reads.
* Spark: the pages that it reads.

A file that Spark wrote has checksums of its pages, but another name. When DuckDB is to read it for
the first time all of its pages are verified, and its CRC-32 is noted beside it. Files of earlier
versions of Weir have no checksum of any kind until then.
"""

from __future__ import annotations

import os
import re
import threading
import uuid
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from lake.storage_errors import RESTORE, DamagedTable

NOTES = "_checksums"
"""The folder below a table with the checksums of files that are not named by theirs."""
_NAMED = re.compile(r"\.([0-9a-f]{8})-([0-9a-f]{8})\.parquet\Z")
_CHUNK = 1 << 20
_TAIL = 8
"""The last bytes of a Parquet file: the length of the footer and the magic number."""

PAGES_ARE_VERIFIED = ds.ParquetFileFormat(
    default_fragment_scan_options=ds.ParquetFragmentScanOptions(
        pre_buffer=True, page_checksum_verification=True
    )
)
"""How Arrow reads a data file."""


@dataclass(frozen=True, slots=True)
class Checksums:
    """CRC-32 of a whole data file, and of its footer with the last eight bytes."""

    file: int
    footer: int

    @classmethod
    def of_name(cls, name: str) -> Self | None:
        """The checksums that a file is named by; None if another program wrote it."""
        found = _NAMED.search(name)
        return None if found is None else cls(int(found[1], 16), int(found[2], 16))

    def name(self) -> str:
        """A new name for a file with this content."""
        return f"part-{uuid.uuid4().hex}.{self.file:08x}-{self.footer:08x}.parquet"


def verify_files(files: Iterable[Path]) -> None:
    """Check the whole content of data files, once in the life of this process.

    Raises:
        DamagedTable: the content of a file is not what was written.
        FileNotFoundError: a file is missing.
    """
    for file in files:
        state = _State.of(file)
        if state in _verified:
            continue
        expected = _whole_checksum(file)
        found = _crc(file)
        if found != expected:
            raise _damaged(file)
        with _lock:
            _verified.add(state)


def verify_footers(files: Iterable[Path]) -> None:
    """Check the footers of data files, by which readers skip rows; once, as `verify_files`.

    Raises:
        DamagedTable: the footer of a file is not what was written.
        FileNotFoundError: a file is missing.
    """
    for file in files:
        expected = Checksums.of_name(file.name)
        if expected is None:
            continue
        state = _State.of(file)
        if state in _verified or state in _verified_footers:
            continue
        if footer_checksum(file) != expected.footer:
            raise _damaged(file)
        with _lock:
            _verified_footers.add(state)


def is_intact(file: Path) -> bool:
    """Whether the content of a data file is what was written, by all of its bytes as they are now.

    A file without a checksum is intact if it can be read.

    Raises:
        FileNotFoundError: it is missing.
    """
    try:
        return _crc(file) == _whole_checksum(file)
    except DamagedTable:
        return False


def footer_checksum(file: Path) -> int:
    """The CRC-32 of a file's footer with its tail; of all bytes if the tail gives no length."""
    with file.open("rb", buffering=0) as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - _TAIL))
        tail = stream.read(_TAIL)
        length = min(size, int.from_bytes(tail[:4], "little") + _TAIL)
        stream.seek(size - length)
        return zlib.crc32(stream.read(length))


@dataclass(frozen=True, slots=True)
class _State:
    """A file as it was verified; another content mostly has another one."""

    path: str
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, file: Path) -> Self:
        found = file.stat()
        return cls(str(file), found.st_ino, found.st_size, found.st_mtime_ns)


_verified: set[_State] = set()
_verified_footers: set[_State] = set()
_lock = threading.Lock()


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
    # Before its pages are verified: a bit that flips between the two is noticed.
    found = _crc(file)
    try:
        for _ in PAGES_ARE_VERIFIED.make_fragment(str(file), fs.LocalFileSystem()).to_batches():
            pass
    except (OSError, pa.ArrowException) as error:
        raise _damaged(file) from error
    note.parent.mkdir(exist_ok=True)
    written = note.with_name(f"{note.name}.{uuid.uuid4().hex}")
    written.write_text(f"{found:08x}\n", "ascii")
    written.replace(note)
    return found


def _crc(file: Path) -> int:
    found = 0
    with file.open("rb", buffering=0) as stream:
        while chunk := stream.read(_CHUNK):
            found = zlib.crc32(chunk, found)
    return found


def _damaged(file: Path) -> DamagedTable:
    return DamagedTable("the content of this data file is not what was written", str(file), RESTORE)
