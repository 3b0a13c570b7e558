"""Standard streams of a process, also where one is closed or cannot print a character.

A job may be started without them (`>&-`, a service manager): the next file that is opened would get
their numbers, and what a library prints would be written into it. Their encoding may lack
characters, and who reads the output may end before all of it is written. None of this is a reason
to end with another result.
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
from weir.process.leaving import hide_pandas, leaving_at_once

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
_UNKNOWN = {"stdout": "replace", "stderr": "backslashreplace"}
"""What becomes of characters that the encoding lacks."""


def run_process(main: Callable[[], int]) -> int:
    """Run the main function of a process with streams that it can use; returns the exit code."""

    def run() -> int:
        make_usable()
        hide_pandas()
        return main()

    return watched(leaving_at_once(run))


def make_usable() -> None:
    """Make the standard streams of this process usable; before it opens a file."""
    for number, (name, mode) in enumerate(_STREAMS):
        try:
            os.fstat(number)
        except OSError:
            # It gets the lowest number that is free, which is this one.
            os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(number, True)
        stream = getattr(sys, name)
        if stream is None:
            nothing = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - to the end
            setattr(sys, name, nothing)
        elif mode == "w":
            setattr(sys, name, writing_to(number, stream, errors=_UNKNOWN[name]))


def writing_to(number: int, like: TextIO, *, errors: str) -> TextIO:
    """A text stream for an open file, which is written to as long as somebody reads it.

    Args:
        number: of the file.
        like: the stream whose encoding it has.
        errors: what becomes of a character that the encoding lacks.
    """
    like.flush()
    raw = _Output(number, "wb", closefd=False)
    buffered = io.BufferedWriter(raw)
    encoding = like.encoding or "utf-8"
    by_line = raw.isatty() or getattr(like, "line_buffering", False)
    return io.TextIOWrapper(buffered, encoding, errors, line_buffering=by_line)


def has_reader() -> bool:
    """Whether standard output is still read, which is known before it is written to."""
    if isinstance(_failure(), BrokenPipeError):
        return False
    poll = select.poll()
    try:
        poll.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):
        # Not that of a process.
        return True
    return not any(event & select.POLLERR for _, event in poll.poll(0))


def output_failure() -> OSError | None:
    """Why some of standard output is not written; None if all is, or nobody wants the rest."""
    sys.stdout.flush()
    failure = _failure()
    return None if isinstance(failure, BrokenPipeError) else failure


def _failure() -> OSError | None:
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.failure if isinstance(raw, _Output) else None


class _Output(io.FileIO):
    """A file that takes, and forgets, all that it is given after a failure.

    What a command does and what it ends with does not depend on whether its output can be written.
    """

    failure: OSError | None = None

    def write(self, data: Any, /) -> int:
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                self.failure = error
        return len(data)
