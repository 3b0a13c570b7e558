"""The child process that matches regular expressions where backtracking may take long.

It gets requests (`MatchRequest` as JSON) from a socket, whose number is its first argument, and
answers each: with a boolean, with a text, or with null if the text would be too long. The kernel
ends it where it takes more memory or processor time than it may, also if nobody waits for it any
more.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from dataclasses import dataclass
from multiprocessing.connection import Connection

from weir.sandbox import OUT_OF_MEMORY, limit_memory, limit_seconds
from weir.sparql.functions.evaluation_limits import (
    EvaluationLimits,
    LimitExceeded,
    evaluated_within,
)
from weir.sparql.functions.regexes import compile_pattern


@dataclass(frozen=True, slots=True)
class MatchRequest:
    """What is to be matched.

    Attributes:
        pattern: of XPath, which is one.
        flags: of it.
        text: in which it may occur.
        replacement: of all matches; None if the question is whether there is one.
        longest: characters of the result at most.
        seconds: of processor time at most.
    """

    pattern: str
    flags: str
    text: str
    replacement: list[str | int] | None
    longest: int
    seconds: int


def main() -> None:
    """Answer requests until there are no more."""
    # Ctrl-C on a terminal is for the parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection, memory = Connection(int(sys.argv[1])), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit_memory(memory)
    while True:
        try:
            request = MatchRequest(**json.loads(connection.recv_bytes()))
            limit_seconds(request.seconds)
            connection.send_bytes(json.dumps(_answer(request)).encode())
        except EOFError:
            return
        except MemoryError:
            os._exit(OUT_OF_MEMORY)


def _answer(request: MatchRequest) -> bool | str | None:
    pattern = compile_pattern(request.pattern, request.flags)
    if request.replacement is None:
        return pattern.search_here(request.text)
    with evaluated_within(EvaluationLimits(literal_length=request.longest)):
        try:
            return pattern.replace_here(request.text, request.replacement)
        except LimitExceeded:
            return None


if __name__ == "__main__":
    main()
