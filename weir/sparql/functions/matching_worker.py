"""The child process that matches regular expressions where backtracking may take long.

It reads requests (`MatchRequest` as JSON) and answers each with a boolean, a text, or null if the
text would be too long. The kernel kills it if it exceeds its memory or processor time, even if its
parent has gone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import IO

from weir.sandbox.frames import write_frame
from weir.sandbox.limits import limit_seconds
from weir.sandbox.serving import serve
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
    serve(_answer)


def _answer(message: bytes, output: IO[bytes]) -> None:
    request = MatchRequest(**json.loads(message))
    limit_seconds(request.seconds)
    write_frame(output, json.dumps(_matched(request)).encode())


def _matched(request: MatchRequest) -> bool | str | None:
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
