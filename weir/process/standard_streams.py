"""Standard streams that can always be written to, so that output never changes the exit code.

A job may be started without them (`>&-`, a service manager): the next opened file would get their
numbers, and a library would print into it. Their encoding may lack characters. The reader of the
output may end before all of it is written.
"""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from weir.process.address_space import watched
from weir.process.leaving import leaving_at_once

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
_UNKNOWN = {"stdout": "replace", "stderr": "backslashreplace"}
"""How characters that the encoding lacks are written."""


def run_process(main: Callable[[], int]) -> int:
    """Run the main function of a process with usable standard streams; returns the exit code."""

    def run() -> int:
        make_usable()
        return main()

    return watched(leaving_at_once(run))


def make_usable() -> None:
    """Make the standard streams of this process usable; call it before a file is opened."""
    for number, (name, mode) in enumerate(_STREAMS):
        try:
            os.fstat(number)
        except OSError:
            # The file gets the lowest free number, which is this one.
            os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(number, True)
        stream = getattr(sys, name)
        if stream is None:
            nothing = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - to the end
            setattr(sys, name, nothing)
        elif mode == "w":
            setattr(sys, name, writing_to(number, stream, errors=_UNKNOWN[name]))


def writing_to(number: int, like: TextIO, *, errors: str) -> TextIO:
    """A text stream to an open file; after a failed write it discards all further output.

    Args:
        number: descriptor of the file.
        like: the stream whose encoding is used.
        errors: how characters that the encoding lacks are written.
    """
    like.flush()
    raw = _Output(number, "wb", closefd=False)
    buffered = io.BufferedWriter(raw)
    encoding = like.encoding or "utf-8"
    by_line = raw.isatty() or getattr(like, "line_buffering", False)
    return io.TextIOWrapper(buffered, encoding, errors, line_buffering=by_line)


def has_reader() -> bool:
    """Whether standard output still has a reader; does not write to it."""
    if isinstance(_failure(), BrokenPipeError):
        return False
    poll = select.poll()
    try:
        poll.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):
        # It is not the standard output of a process.
        return True
    return not any(event & select.POLLERR for _, event in poll.poll(0))


def output_failure() -> OSError | None:
    """Why some of standard output was not written; None if all was, or its reader has ended."""
    sys.stdout.flush()
    failure = _failure()
    return None if isinstance(failure, BrokenPipeError) else failure


def _failure() -> OSError | None:
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.failure if isinstance(raw, _Output) else None


class _Output(io.FileIO):
    """A file that discards all output after a failed write.

    So the work and the exit code of a command do not depend on its output.
    """

    failure: OSError | None = None

    def write(self, data: Any, /) -> int:
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                self.failure = error
        return len(data)
