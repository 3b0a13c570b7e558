"""The child process that matches regular expressions where backtracking may take long.

It reads requests (`MatchRequest` as JSON) from a socket, whose number is its first argument. It
answers each with a boolean, a text, or null if the text would be too long. The kernel kills it if
it exceeds its memory or processor time, even if its parent has gone.
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
    """One search or replacement.

    Attributes:
        pattern: a correct pattern in XPath's syntax.
        flags: its flags.
        text: the text to search.
        replacement: what replaces all matches; None: only search for a match.
        longest: greatest number of characters of the result.
        seconds: greatest processor time.
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
        return pattern.search_unlimited(request.text)
    with evaluated_within(EvaluationLimits(literal_length=request.longest)):
        try:
            return pattern.replace_unlimited(request.text, request.replacement)
        except LimitExceeded:
            return None


if __name__ == "__main__":
    main()
