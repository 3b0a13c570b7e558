"""Hides Rust panics in the standard error of native libraries.

After a failed write, delta-rs panics in a thread of its own, and also raises an error. The error is
reported; the text of the panic does not help a user.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Thread

from weir.process.standard_streams import writing_to

_PANIC = re.compile(rb"thread '.*' .*panicked at ")
_OF_PANIC = re.compile(rb"stack backtrace:|\s+\d+: |\s+at |note: ")
_DRAIN_SECONDS = 1.0
"""How long the end waits for the last lines; children may hold the pipe open."""


@contextmanager
def without_panics() -> Iterator[None]:
    """In this block, standard error of native code in the whole process is filtered.

    Python's own `sys.stderr` is not.
    """
    direct = os.dup(2)
    before, sys.stderr = sys.stderr, writing_to(direct, sys.stderr, errors="backslashreplace")
    read, write = os.pipe()
    os.dup2(write, 2)
    os.close(write)
    passing = Thread(target=_pass_on, args=(read, direct), daemon=True)
    passing.start()
    try:
        yield
    finally:
        sys.stderr.flush()
        sys.stderr = before
        os.dup2(direct, 2)
        passing.join(_DRAIN_SECONDS)


def _pass_on(read: int, write: int) -> None:
    with os.fdopen(read, "rb", buffering=0) as lines:
        for line in other_lines(lines):
            os.write(write, line)


def other_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines that do not belong to a panic."""
    blank = b""
    message = is_panic = False
    for line in lines:
        if _PANIC.match(line):
            # The blank line before a panic belongs to it.
            blank, message, is_panic = b"", True, True
        elif message:
            message = False
        elif is_panic and _OF_PANIC.match(line):
            continue
        elif not line.strip() and not blank:
            blank, is_panic = line, False
        else:
            yield blank + line
            blank, is_panic = b"", False
    if blank:
        yield blank
