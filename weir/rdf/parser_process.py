"""Parsing of untrusted files in a child process (`worker`) with memory and CPU limits.

The parent sends the limits of parsing and then a request per file, and receives `pipe_protocol`'s
messages. It sends the next request when the file before is done, so that a child that dies has
exactly one file in progress.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import Self, assert_never

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weir.rdf.files import local_copy
from weir.rdf.limits import ParseLimits
from weir.rdf.parse_events import Changes, CutOff, Discarded, Rejections, Unusable
from weir.rdf.pipe_protocol import End, Failed, Started, decode_message
from weir.rdf.records import CHANGES, REJECTIONS, Header, ParsedFile, ParseRequest, Rejection
from weir.rdf.spool import Spool
from weir.sandbox.child import Child, ChildDied
from weir.sandbox.death import Cause, Death
from weir.sandbox.limits import ChildLimits

_DEFECT = 1
"""Exit code of Python after an exception that was not caught."""
_ROWS_OF_A_CHILD = 1_000_000
"""After so many rows there is a new child: an allocator gives back little of what it once had."""


class ParserError(RuntimeError):
    """The child process does not start, or has a defect; no file is rejected because of it."""


class _DiscardedChanges:
    """The changes of the aborted transactions of a file, which come in their order."""

    def __init__(self) -> None:
        self._since, self._until = array("q"), array("q")

    @property
    def rows(self) -> int:
        """How many transactions there are."""
        return len(self._since)

    @property
    def bytes(self) -> int:
        """The memory that they take."""
        return 16 * len(self._since)

    def append(self, since: int, until: int) -> None:
        """Add the changes number `since` to before `until`."""
        self._since.append(since)
        self._until.append(until)

    def have(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which of the changes are among them."""
        since, until = np.frombuffer(self._since, np.int64), np.frombuffer(self._until, np.int64)
        last = np.searchsorted(since, numbers, side="right") - 1
        return (last >= 0) & (numbers < until[last])


class NoRoom(Exception):  # noqa: N818  (named after what is wrong)
    """A file gives more rows than there is room for."""


@dataclass(frozen=True, slots=True)
class Volume:
    """A number of rows and their size in bytes."""

    rows: int
    bytes: int

    def holds(self, *parts: Spool | _DiscardedChanges) -> bool:
        """Whether these parts of a file are together at most so much."""
        rows, size = sum(part.rows for part in parts), sum(part.bytes for part in parts)
        return rows <= self.rows and size <= self.bytes

    def without(self, *tables: pa.Table) -> Volume:
        """What is left if these rows are taken."""
        rows, size = sum(table.num_rows for table in tables), sum(table.nbytes for table in tables)
        return Volume(self.rows - rows, self.bytes - size)


class ParserProcess:
    """Parses files in a child process, which starts with the first of them.

    A file that kills the child process is rejected as a whole with the reason; a new child
    continues with the next. A file that cannot be opened or read, or that gives more rows than the
    limits allow, is `unreadable`, not rejected.
    """

    def __init__(self, limits: ParseLimits, store: Mapping[str, str] | None = None) -> None:
        self._limits, self._store = limits, store
        self._child: _Child | None = None
        self._rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def parse(self, request: ParseRequest, room: Volume | None = None) -> ParsedFile:
        """Parse one file.

        Args:
            request: the file.
            room: how much it may give at most; None if only the limits count.

        Raises:
            NoRoom: it gives more than that.
            ParserError: the child process does not start, or has a defect.
        """
        with ExitStack() as stack:
            try:
                # The child has no keys of stores.
                copy = stack.enter_context(local_copy(request.file, self._store))
            except OSError as error:
                return _unreadable(request, str(error))
            contexts = {
                iri: _copied(stack, file, self._store) for iri, file in request.contexts.items()
            }
            parsed = self._parse(replace(request, copy=copy, contexts=contexts), room)
            return replace(parsed, request=request)

    def _parse(self, request: ParseRequest, room: Volume | None) -> ParsedFile:
        if self._child is not None and self._child.has_ended:
            # The kernel needed memory while it was idle.
            self.close()
        self._child = self._child or _Child(self._limits)
        try:
            parsed = self._child.parse(request, room)
        except BaseException:
            # It has not been heard to the end.
            self.close()
            raise
        self._rows += parsed.changes.num_rows
        if self._child.is_dead or self._rows > _ROWS_OF_A_CHILD:
            self.close()
        return parsed

    def close(self) -> None:
        """End the child process."""
        if self._child is not None:
            self._child.close()
            self._child = None
            self._rows = 0


def _copied(stack: ExitStack, file: str, store: Mapping[str, str] | None) -> str:
    """A local file that has the content of a context."""
    try:
        return stack.enter_context(local_copy(file, store)) or file
    except (OSError, ValueError):
        # Reading it is an error, if the document names it.
        return file


def _unreadable(request: ParseRequest, reason: str) -> ParsedFile:
    """A file whose content is unknown."""
    nothing = CHANGES.empty_table(), REJECTIONS.empty_table()
    return ParsedFile(request, Header(), *nothing, None, reason)


class _Child:
    """A child process, which parses one file after the other."""

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits
        memory = limits.parse_memory_mb << 20
        self._process = Child("weir.rdf.worker", ChildLimits(memory, "more"))
        self._process.send(json.dumps(asdict(limits)).encode())
        self.is_dead = False

    @property
    def has_ended(self) -> bool:
        """Whether it ended after the last file."""
        return self._process.has_ended

    def parse(self, request: ParseRequest, room: Volume | None) -> ParsedFile:
        """Parse one file; afterwards the child may be dead.

        Raises:
            NoRoom: the file gives more than there is room for.
        """
        changes = Spool(CHANGES, self._limits.parsed_memory_bytes)
        rejections = Spool(REJECTIONS, self._limits.parsed_memory_bytes)
        try:
            return self._parse(request, room, changes, rejections)
        finally:
            changes.clear()
            rejections.clear()

    def _parse(
        self, request: ParseRequest, room: Volume | None, changes: Spool, rejections: Spool
    ) -> ParsedFile:
        self._process.send(json.dumps(asdict(request)).encode())
        started = False
        header = Header()
        discarded = _DiscardedChanges()
        refusal: Rejection | None = None
        unreadable: str | None = None
        cut_off: str | None = None
        while True:
            try:
                message = self._process.receive(decode_message)
            except ChildDied as error:
                self.is_dead = True
                reason = self._reason(error.death, request.file, started)
                if error.death.cause is Cause.OUTSIDE:
                    unreadable = reason
                else:
                    refusal = Rejection(request.file, 0, 0, reason, "")
                    rejections.append(Rejections.of([refusal]).batch)
                break
            match message:
                case End():
                    break
                case Started():
                    started = True
                case Changes(batch):
                    changes.append(batch)
                case Rejections(batch):
                    rejections.append(batch)
                case Discarded(since, until):
                    discarded.append(since, until)
                case Header():
                    header = message
                case CutOff(cut_off):
                    continue
                case Unusable(refusal):
                    rejections.append(Rejections.of([refusal]).batch)
                case Failed(number, what):
                    unreadable = str(OSError(number, what))
                case _:
                    assert_never(message)
            if room is not None and not room.holds(changes, rejections, discarded):
                raise NoRoom(request.file)
            excess = self._excess(changes, rejections, discarded)
            if excess is not None:
                self.is_dead, unreadable = True, excess
                break
        if unreadable is not None:
            rejections.clear()
        if refusal is not None or unreadable is not None:
            changes.clear()
        return ParsedFile(
            request,
            header,
            self._without(changes, discarded),
            rejections.take(),
            refusal,
            unreadable,
            cut_off,
        )

    def _excess(
        self, changes: Spool, rejections: Spool, discarded: _DiscardedChanges
    ) -> str | None:
        """Which limit the rows of a file are beyond; None if they are within all."""
        limits = self._limits
        if rejections.rows > limits.rejected_rows:
            return f"more than {limits.rejected_rows:,} of its lines are rejected (rejected_rows)"
        if changes.rows + discarded.rows > limits.parsed_rows:
            return f"it gives more than {limits.parsed_rows:,} rows (parsed_rows)"
        if changes.bytes + rejections.bytes > limits.parsed_bytes:
            return f"it gives more than {limits.parsed_bytes:,} bytes of rows (parsed_bytes)"
        return None

    def _without(self, changes: Spool, discarded: _DiscardedChanges) -> pa.Table:
        """The changes but for those of aborted transactions."""
        if not discarded.rows:
            return changes.take()
        kept = Spool(CHANGES, self._limits.parsed_memory_bytes)
        first = 0
        for batch in changes.take().to_batches():
            numbers = np.arange(first, first + batch.num_rows)
            kept.append(batch.filter(pa.array(~discarded.have(numbers))))
            first += batch.num_rows
        return kept.take()

    def close(self) -> None:
        """Kill the child."""
        self._process.close()

    def _reason(self, death: Death, file: str, started: bool) -> str:
        if not started or death.code == _DEFECT:
            raise ParserError(f"{file}: the parser {death.how}: {death.errors}")
        match death.cause:
            case Cause.SECONDS:
                return f"parsing took more than {self._limits.parse_seconds} seconds of CPU"
            case Cause.MEMORY:
                return f"parsing needed more than {self._limits.parse_memory_mb} MiB of memory"
            case _:
                return f"the parser {death.how}"
