"""A running child process: start it, send, receive within a deadline, close it."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import IO, Self, TypeVar

from weir.sandbox.death import Cause, Death, death
from weir.sandbox.frames import LENGTH, FrameReader, ProtocolError
from weir.sandbox.limits import ChildLimits

Message = TypeVar("Message")
_READ_BYTES = 1 << 20


class ChildDied(Exception):  # noqa: N818  (named after what happened)
    """A child ended before it had answered, or gave no proper answer."""

    def __init__(self, death: Death) -> None:
        self.death = death
        super().__init__(death.how)


class DeadlinePassed(Exception):  # noqa: N818  (named after what happened)
    """A child did not answer in time."""


class Child:
    """A running child process; it has to be closed.

    Args:
        module: what it runs; its `main` calls `weir.sandbox.serving.serve`.
        limits: what it may take.
    """

    def __init__(self, module: str, limits: ChildLimits) -> None:
        self._errors: IO[bytes] | None = None
        if limits.error_bytes:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        try:
            self._process = subprocess.Popen(
                _command(module),
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors or subprocess.DEVNULL,
                bufsize=0,
            )
        except BaseException:
            # The system may have no room for another process.
            if self._errors is not None:
                self._errors.close()
            raise
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._unsent = memoryview(b"")
        self._received = FrameReader(limits.memory, limits.output_bytes)
        self._ready = selectors.DefaultSelector()
        self._ready.register(self._output, selectors.EVENT_READ)
        for pipe in (self._input, self._output):
            os.set_blocking(pipe, False)
        self.send(json.dumps(asdict(limits)).encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def has_ended(self) -> bool:
        """Whether the process ended."""
        return self._process.poll() is not None

    def send(self, message: bytes) -> None:
        """Send a message; what the pipe does not hold yet goes out during `receive`."""
        if not self._unsent:
            self._ready.register(self._input, selectors.EVENT_WRITE)
        self._unsent = memoryview(b"".join((self._unsent, LENGTH.pack(len(message)), message)))
        self._write()

    def receive(self, decode: Callable[[bytes], Message], deadline: float | None = None) -> Message:
        """The next message.

        Args:
            decode: reads a message; it raises `ProtocolError` for what is none.
            deadline: on the monotonic clock; None to wait for as long as the child lives.

        Raises:
            ChildDied: it ended, or sent what is no message, or more than it may.
            DeadlinePassed: it does not send the message in time.
        """
        try:
            return decode(self._receive(deadline))
        except ProtocolError as error:
            raise ChildDied(Death(Cause.PROTOCOL, 0, str(error))) from None

    def _receive(self, deadline: float | None) -> bytes:
        while (message := self._received.take()) is None:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise DeadlinePassed
            for key, _ in self._ready.select(left):
                if key.fd == self._input:
                    self._write()
                elif arrived := os.read(self._output, _READ_BYTES):
                    self._received.add(arrived)
                else:
                    raise ChildDied(self._death(deadline))
        return message

    def close(self) -> None:
        """Kill the child, if it still runs."""
        self._ready.close()
        self._process.kill()
        self._process.wait()
        for file in (self._process.stdin, self._process.stdout, self._errors):
            if file is not None:
                file.close()

    def _write(self) -> None:
        try:
            sent = os.write(self._input, self._unsent)
        except BlockingIOError:
            return
        except BrokenPipeError:
            sent = len(self._unsent)  # it is gone; `receive` shows why
        self._unsent = self._unsent[sent:]
        if not self._unsent:
            self._ready.unregister(self._input)

    def _death(self, deadline: float | None) -> Death:
        try:
            left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
            code = self._process.wait(left)
        except subprocess.TimeoutExpired:
            return Death(Cause.OUTPUT_CLOSED, 0, "")
        if self._errors is None:
            return death(code, "")
        self._errors.seek(0)
        return death(code, self._errors.read().decode(errors="replace"))


def _command(module: str) -> list[str]:
    return [sys.executable, "-P", "-s", "-m", module]


def _import_path() -> list[str]:
    """Where every child imports from: as its parent, but not from the folders of its work.

    Python itself looks in the folder in which it starts, or that of its script, before the standard
    library. Anything may be in there; only the folder with this package is trusted wherever it is.
    """
    of_work = {Path.cwd(), *_folders_of_script()} - {Path(__file__).parents[2]}
    return [
        str(folder) for folder in map(Path.absolute, map(Path, sys.path)) if folder not in of_work
    ]


def _folders_of_script() -> set[Path]:
    """The folder of the program that runs, by its name and where the file is."""
    file = getattr(sys.modules["__main__"], "__file__", None)
    if file is None:
        return set()
    script = Path(file)
    return {script.absolute().parent, script.resolve().parent}


def _environment() -> dict[str, str]:
    """The environment of every child.

    Python's own allocator retries for minutes where memory is refused. The others keep libraries
    from reserving address space and from starting idle threads.
    """
    return {
        "PYTHONPATH": os.pathsep.join(_import_path()),
        "PYTHONMALLOC": "malloc",
        "MALLOC_ARENA_MAX": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "LC_ALL": "C.UTF-8",
    }
