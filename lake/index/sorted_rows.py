"""Rows of text, sorted in a file, of which those with given beginnings are read.

The rows are in blocks, each compressed and with a checksum. The *bounds* are the beginnings of the
first rows of all blocks: a search over them says which blocks to read.

    rows   <text of a block, compressed> ...
    bounds Arrow: first (binary), offset, length, size (of the text), checksum (CRC-32)

A file never changes. No row that is read from a file that is not what was written is returned.
"""

from __future__ import annotations

import os
import uuid
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, overload

import numpy as np
import pyarrow as pa

from weir.lake.whole_files import write_whole

END = b"\n"
"""Ends a row; no row has it inside."""
_ROWS, _BOUNDS = ".rows", ".bounds"
_BLOCK_ROWS, _BLOCK_BYTES = 128, 16_384
_BOUND_BYTES = 160
"""Longest beginning that is kept of the first row of a block."""
_CODEC: Final = "zstd"


class DamagedIndex(Exception):  # noqa: N818  (named after what is wrong)
    """A file of an index is not what was written, or is gone."""


@dataclass(frozen=True, slots=True)
class SortedFile:
    """What is noted of a file.

    Attributes:
        name: of the file, without its suffix.
        rows: how many it has.
        checksum: CRC-32 of its bounds.
    """

    name: str
    rows: int
    checksum: int

    @property
    def parts(self) -> tuple[str, str]:
        """The names of its blocks and of its bounds."""
        return f"{self.name}{_ROWS}", f"{self.name}{_BOUNDS}"


def write_sorted(folder: Path, rows: Iterable[pa.RecordBatch]) -> SortedFile:
    """Write a file.

    Args:
        folder: of the file.
        rows: a column of text, sorted by its bytes; each row ends with `END`.
    """
    name = uuid.uuid4().hex
    codec = pa.Codec(_CODEC)
    first: list[bytes] = []
    blocks: list[tuple[int, int, int, int]] = []
    offset = count = 0
    with (folder / f"{name}{_ROWS}").open("wb") as file:
        for batch in rows:
            for text in _blocks(batch.column(0)):
                block = codec.compress(text, asbytes=True)
                file.write(block)
                first.append(bytes(text[:_BOUND_BYTES]))
                blocks.append((offset, len(block), len(text), zlib.crc32(block)))
                offset += len(block)
            count += batch.num_rows
    bounds = _serialized(first, blocks)
    write_whole(folder / f"{name}{_BOUNDS}", bounds)
    return SortedFile(name, count, zlib.crc32(bounds))


def _blocks(rows: pa.Array[Any]) -> Iterator[memoryview]:
    """The text of the rows, cut into blocks."""
    whole = rows.cast(pa.large_binary())
    _, ends, data = whole.buffers()
    if not len(whole) or ends is None or data is None:
        return
    starts = np.frombuffer(memoryview(ends), np.int64, len(whole) + 1, whole.offset * 8)
    text, begin = memoryview(data), 0
    while begin < len(whole):
        fits = int(np.searchsorted(starts, starts[begin] + _BLOCK_BYTES, "right")) - 1
        end = min(begin + _BLOCK_ROWS, max(fits, begin + 1), len(whole))
        yield text[starts[begin] : starts[end]]
        begin = end


def _serialized(first: Sequence[bytes], blocks: Sequence[tuple[int, ...]]) -> bytes:
    numbers = np.array(blocks, np.int64).reshape(len(blocks), 4)
    names = ("offset", "length", "size", "checksum")
    table = pa.table(
        {
            "first": pa.array(first, pa.large_binary()),
            **{name: pa.array(numbers[:, i]) for i, name in enumerate(names)},
        }
    ).combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


class SortedRows:
    """An open file; `close` it.

    Raises:
        DamagedIndex: the bounds are not what was written, or a file is gone.
    """

    def __init__(self, folder: Path, file: SortedFile) -> None:
        self.file = file
        try:
            bounds = (folder / f"{file.name}{_BOUNDS}").read_bytes()
            if zlib.crc32(bounds) != file.checksum:
                raise DamagedIndex(f"{file.name}{_BOUNDS} is not what was written")
            self._rows = os.open(folder / f"{file.name}{_ROWS}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise DamagedIndex(str(error)) from error
        table = pa.ipc.open_file(pa.BufferReader(bounds)).read_all().combine_chunks()
        self._first = _Texts(table["first"])
        self._offset, self._length, self._size, self._checksum = (
            np.asarray(table[name]) for name in ("offset", "length", "size", "checksum")
        )
        self._codec = pa.Codec(_CODEC)

    def close(self) -> None:
        """Close the file."""
        os.close(self._rows)

    def beginning_with(self, beginnings: Sequence[bytes]) -> Iterator[bytes]:
        """The rows that begin with one of some texts, as parts of text: whole rows, one or more.

        Args:
            beginnings: sorted; none begins with another.

        Raises:
            DamagedIndex: a block is not what was written.
        """
        read, block = -1, b""
        for beginning in beginnings:
            bound = beginning[:_BOUND_BYTES]
            for number in range(max(bisect_left(self._first, bound) - 1, 0), len(self._first)):
                if self._first[number][: len(bound)] > bound:
                    break
                if number != read:
                    read, block = number, END + self._block(number)
                start = block.find(END + beginning)
                if start >= 0:
                    last = block.rfind(END + beginning)
                    yield block[start + 1 : block.index(END, last + 1) + 1]

    def all_rows(self) -> Iterator[bytes]:
        """The text of all blocks.

        Raises:
            DamagedIndex: a block is not what was written.
        """
        return map(self._block, range(len(self._first)))

    def _block(self, number: int) -> bytes:
        try:
            block = os.pread(self._rows, int(self._length[number]), int(self._offset[number]))
        except OSError as error:
            raise DamagedIndex(str(error)) from error
        if zlib.crc32(block) != self._checksum[number]:
            raise DamagedIndex(f"block {number} of {self.file.name}{_ROWS} is not what was written")
        text: bytes = self._codec.decompress(block, int(self._size[number]), asbytes=True)
        return text


class _Texts(Sequence[bytes]):
    """A column of bytes; no value is made before it is asked for."""

    def __init__(self, column: pa.ChunkedArray[Any]) -> None:
        self._length = len(column)
        if not self._length:
            return
        texts: Any = column.chunk(0)
        _, ends, data = texts.buffers()
        self._ends = np.frombuffer(ends, np.int64, self._length + 1)
        self._data = memoryview(data or b"")

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._length))]
        return bytes(self._data[self._ends[index] : self._ends[index + 1]])
