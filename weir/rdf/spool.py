"""The rows of a file, in memory or, beyond a size, in a temporary file."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

import pyarrow as pa

from weir.lake.scratch import scratch_folder


class Spool:
    """Record batches of one schema.

    Args:
        schema: of the batches.
        memory_bytes: beyond so many bytes, batches are in a temporary file.
    """

    def __init__(self, schema: pa.Schema, memory_bytes: int) -> None:
        self._schema, self._memory_bytes = schema, memory_bytes
        self._batches: list[pa.RecordBatch] = []
        self._path: str | None = None
        self._file: IO[bytes] | None = None
        self._writer: pa.ipc.RecordBatchStreamWriter | None = None
        self.rows, self.bytes = 0, 0

    def append(self, batch: pa.RecordBatch) -> None:
        """Add a batch.

        Raises:
            OSError: the temporary file cannot be written.
        """
        self.rows += batch.num_rows
        self.bytes += batch.nbytes
        if self._writer is None and self.bytes <= self._memory_bytes:
            self._batches.append(batch)
            return
        if self._writer is None:
            handle, self._path = tempfile.mkstemp(prefix="rows-", dir=scratch_folder())
            self._file = os.fdopen(handle, "wb")
            self._writer = pa.ipc.new_stream(self._file, self._schema)
            for earlier in self._batches:
                self._writer.write_batch(earlier)
            self._batches = []
        self._writer.write_batch(batch)

    def take(self) -> pa.Table:
        """All rows, read from the temporary file when they are used; empties the spool."""
        batches, path = self._batches, self._path
        if path is None:
            table = pa.Table.from_batches(batches, self._schema)
        else:
            self._end()
            table = pa.ipc.open_stream(pa.memory_map(path)).read_all()
        self.clear()
        return table

    def clear(self) -> None:
        """Drop all rows, and remove the temporary file; rows taken from it stay readable."""
        self._end()
        if self._path is not None:
            with suppress(FileNotFoundError):
                Path(self._path).unlink()
        self._batches, self._path = [], None
        self.rows, self.bytes = 0, 0

    def _end(self) -> None:
        """Complete the temporary file."""
        if self._writer is not None and self._file is not None:
            self._writer.close()
            self._file.close()
        self._writer, self._file = None, None
