"""Parsing of untrusted files in a child process with memory and CPU limits.

The parent writes the limits and then a request per line to the child's standard input, and reads
messages (`pipe_protocol`) from its standard output. It sends the next request when the file before
is done, so that a child that dies has exactly one file in progress.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
from array import array
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields, replace
from importlib.abc import MetaPathFinder
from typing import IO, TYPE_CHECKING, Self, assert_never

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weir import sandbox
from weir.rdf.files import local_copy
from weir.rdf.limits import ParseLimits
from weir.rdf.parse import parse
from weir.rdf.parse_events import Changes, CutOff, Discarded, Rejections, Unusable
from weir.rdf.pipe_protocol import End, Failed, Message, Started, read_message, write_message
from weir.rdf.records import CHANGES, REJECTIONS, Header, ParsedFile, ParseRequest, Rejection
from weir.rdf.spool import Spool

if TYPE_CHECKING:
    from weir.settings import Limits

_DEFECT = 1
"""Exit code of Python after an exception that was not caught."""
_ROWS_OF_A_CHILD = 1_000_000
"""After so many rows there is a new child: an allocator gives back little of what it once had."""
_EXTERNAL_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that the document does not cause: the kernel needs memory, or the machine shuts down."""


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
        since, until = (np.frombuffer(each, np.int64) for each in (self._since, self._until))
        last = np.searchsorted(since, numbers, side="right") - 1
        return (last >= 0) & (numbers < until[last])


class NoRoom(Exception):  # noqa: N818  (named after what is wrong)
    """A file gives more rows than there is room for."""


@dataclass(frozen=True, slots=True)
class Volume:
    """So many rows, of so many bytes."""

    rows: int
    bytes: int

    def holds(self, *found: Spool | _DiscardedChanges) -> bool:
        """Whether what was found is at most so much."""
        rows, size = sum(each.rows for each in found), sum(each.bytes for each in found)
        return rows <= self.rows and size <= self.bytes

    def without(self, *tables: pa.Table) -> Volume:
        """What is left if these rows are taken."""
        rows, size = sum(each.num_rows for each in tables), sum(each.nbytes for each in tables)
        return Volume(self.rows - rows, self.bytes - size)


class ParserProcess:
    """Parses files in a child process, which starts with the first of them.

    A file that kills the child process is rejected as a whole with the reason; a new child
    continues with the next. A file that cannot be opened or read, or that gives more rows than the
    limits allow, is `unreadable`, not rejected.
    """

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits
        self._child: _Child | None = None
        self._rows = 0

    @classmethod
    def of(cls, limits: Limits) -> Self:
        """A parser within the configured limits."""
        return cls(
            ParseLimits(**{each.name: getattr(limits, each.name) for each in fields(ParseLimits)})
        )

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
                copy = stack.enter_context(local_copy(request.file))
            except OSError as error:
                return _unreadable(request, str(error))
            contexts = {iri: _copied(stack, file) for iri, file in request.contexts.items()}
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


def _copied(stack: ExitStack, file: str) -> str:
    """A local file that has the content of a context."""
    try:
        return stack.enter_context(local_copy(file)) or file
    except (OSError, ValueError):
        # Reading it is an error, if the document names it.
        return file


def _unreadable(request: ParseRequest, reason: str) -> ParsedFile:
    """A file whose content is unknown."""
    nothing = CHANGES.empty_table(), REJECTIONS.empty_table()
    return ParsedFile(request, Header(), *nothing, None, reason)


class _Child:
    """A running child process."""

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        # Without what reserves address space, and without idle threads.
        variables = {
            "ARROW_DEFAULT_MEMORY_POOL": "system",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self._process = sandbox.start(
            "weir.rdf.worker",
            variables=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self.is_dead = False
        self._send(asdict(limits))

    @property
    def has_ended(self) -> bool:
        """Whether it ended after the last file."""
        return self._process.poll() is not None

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
        self._send(asdict(request))
        started = False
        header = Header()
        discarded = _DiscardedChanges()
        refusal: Rejection | None = None
        unreadable: str | None = None
        cut_off: str | None = None
        while not isinstance(message := self._receive(), End):
            match message:
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
                case Failed(number, reason):
                    unreadable = str(OSError(number, reason))
                case None:
                    self.is_dead = True
                    cause = self._cause_of_death(request.file, started)
                    if -self._process.wait() in _EXTERNAL_SIGNALS:
                        unreadable = cause
                        break
                    refusal = Rejection(request.file, 0, 0, cause, "")
                    rejections.append(Rejections.of([refusal]).batch)
                    break
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
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # it died with a request unread
        self._process.kill()
        self._process.wait()
        self._errors.close()

    def _send(self, message: dict[str, object]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return  # reading the answer shows why

    def _receive(self) -> Message | None:
        assert self._process.stdout is not None
        return read_message(self._process.stdout)

    def _cause_of_death(self, file: str, started: bool) -> str:
        code = self._process.wait()
        self._errors.seek(0)
        output = self._errors.read().decode(errors="replace")
        if not started or code == _DEFECT:
            raise ParserError(f"{file}: exit code {code}: {output[-2000:]}")
        if code == -signal.SIGXCPU:
            return f"parsing took more than {self._limits.parse_seconds} seconds of CPU"
        if code == sandbox.OUT_OF_MEMORY or "memory allocation" in output:
            return f"parsing needed more than {self._limits.parse_memory_mb} MiB of memory"
        return (
            f"the parser died of {signal.Signals(-code).name if code < 0 else f'exit code {code}'}"
        )


def main() -> None:
    """The child: parse the requests on standard input until it ends."""
    sys.meta_path.insert(0, _WithoutPandas())
    # Ctrl-C on a terminal is for the parent, which may want to finish the file.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, output = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # other output must not get between the messages
    limits = ParseLimits(**json.loads(requests.readline()))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sandbox.limit_memory(limits.parse_memory_mb << 20)
    for line in requests:
        sandbox.limit_seconds(limits.parse_seconds)
        try:
            _answer(ParseRequest(**json.loads(line)), limits, output)
        except MemoryError:
            os._exit(sandbox.OUT_OF_MEMORY)


class _WithoutPandas(MetaPathFinder):
    """Hides pandas, which pyarrow imports on first use if it is installed: it costs a second."""

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        """No pandas; every other module is for the other finders."""
        del path, target
        if name == "pandas":
            raise ModuleNotFoundError("a parser needs no pandas", name=name)


def _answer(request: ParseRequest, limits: ParseLimits, output: IO[bytes]) -> None:
    write_message(output, Started())
    output.flush()
    try:
        for event in parse(request, limits):
            write_message(output, event)
    except OSError as error:
        write_message(output, Failed(error.errno or 0, error.strerror or str(error)))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - see below
        # One file that a reader did not expect must not end the run of all sources: its own stops.
        place = traceback.extract_tb(error.__traceback__)[-1]
        reason = f"a defect of its reader: {type(error).__name__} in {place.name}: {error}"
        write_message(output, Unusable(Rejection(request.file, 0, 0, reason, "")))
    write_message(output, End())
    output.flush()


if __name__ == "__main__":
    main()
