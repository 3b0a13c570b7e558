"""The main loop of a child process: it answers the messages of its parent."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import IO, NoReturn

from weir.sandbox.death import OUT_OF_MEMORY
from weir.sandbox.frames import read_frame
from weir.sandbox.limits import ChildLimits, set_limits


def serve(answer: Callable[[bytes, IO[bytes]], None]) -> NoReturn:
    """Answer messages until there are no more, within the limits that come first.

    Args:
        answer: gets a message and the pipe into which it writes frames.
    """
    # Ctrl-C on a terminal is for the parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, output = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # other output must not get between the frames
    first, message = read_frame(source), read_frame(source)
    if first is not None:
        set_limits(ChildLimits(**json.loads(first)))
    while message is not None:
        try:
            answer(message, output)
            output.flush()
            message = read_frame(source)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
    os._exit(0)  # a thread may still wait, as for a resolver of names
