"""Matching regular expressions in linear time, or in a process that can be killed.

Backtracking may take very long. Arrow's RE2, which does not backtrack, searches for patterns for
which it is known to give the same result as Python. All else is matched by Python in a child
process with a deadline.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import asdict

import pyarrow as pa
import pyarrow.compute as pc

from weir.sandbox.child import Child, ChildDied, DeadlinePassed
from weir.sandbox.death import Cause, Death
from weir.sandbox.frames import ProtocolError, decode_json
from weir.sandbox.limits import ChildLimits
from weir.sparql.functions.evaluation_limits import (
    OUT_OF_TIME,
    LimitExceeded,
    evaluation_limits,
)
from weir.sparql.functions.matching_worker import MatchRequest
from weir.sparql.functions.regexes import Pattern, Replacement

_WORKER = "weir.sparql.functions.matching_worker"
_WITHOUT_DEADLINE = 3_600
"""Seconds of processor time of a search without a deadline."""


class LinearMatching:
    """Matches by RE2 where possible, else by Python in this process."""

    def search(self, pattern: Pattern, text: str) -> bool:
        """Whether the pattern matches somewhere in `text`."""
        occurs = _occurs(pattern, text)
        return pattern.search_unlimited(text) if occurs is None else occurs

    def replace(self, pattern: Pattern, text: str, replacement: Replacement) -> str:
        """`text` with all matches replaced."""
        return pattern.replace_unlimited(text, replacement)


class MatchingProcess:
    """Matches by RE2 where possible, else by Python in a child process.

    The child starts when it is first needed. It is killed if it does not answer by the deadline of
    the evaluation, or takes too much memory.

    Args:
        memory: bytes that the child may take in addition to those that it starts with.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._child: Child | None = None
        # DuckDB evaluates in several threads.
        self._lock = threading.Lock()

    def search(self, pattern: Pattern, text: str) -> bool:
        """Whether the pattern matches somewhere in `text`.

        Raises:
            LimitExceeded: it takes too long, or too much memory.
        """
        occurs = _occurs(pattern, text)
        return bool(self._ask(pattern, text, None)) if occurs is None else occurs

    def replace(self, pattern: Pattern, text: str, replacement: Replacement) -> str:
        """`text` with all matches replaced.

        Raises:
            LimitExceeded: it takes too long, or too much memory, or the result is too long.
        """
        replaced = self._ask(pattern, text, [*replacement])
        limits = evaluation_limits()
        if not isinstance(replaced, str):
            limits.check_literal(limits.literal_length + 1)
        return str(replaced)

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._end()

    def _ask(
        self, pattern: Pattern, text: str, replacement: list[str | int] | None
    ) -> bool | str | None:
        limits = evaluation_limits()
        with self._lock:
            if self._child is None or self._child.has_ended:
                self._end()
                self._child = Child(_WORKER, ChildLimits(self._memory, "more"))
            request = MatchRequest(
                pattern.source,
                pattern.flags,
                text,
                replacement,
                limits.literal_length,
                _whole_seconds_until(limits.deadline),
            )
            try:
                self._child.send(json.dumps(asdict(request)).encode())
                return self._child.receive(_answer, limits.deadline)
            except BaseException as error:
                # A late answer would be taken for that to the next request.
                self._end()
                match error:
                    case DeadlinePassed():
                        raise LimitExceeded(OUT_OF_TIME) from None
                    case ChildDied():
                        raise self._reason(error.death) from None
                raise

    def _reason(self, death: Death) -> Exception:
        match death.cause:
            case Cause.SECONDS:
                return LimitExceeded(OUT_OF_TIME)
            case Cause.MEMORY:
                return LimitExceeded(
                    f"a regular expression takes more than query_memory = {self._memory:,} bytes"
                )
            case _:
                return RuntimeError(f"the process that matches regular expressions {death.how}")

    def _end(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None


def _occurs(pattern: Pattern, text: str) -> bool | None:
    """Whether RE2 finds a match of the pattern; None if RE2 cannot be used."""
    if pattern.linear is None:
        return None
    options = pc.MatchSubstringOptions(pattern.linear)
    try:
        matches = pc.call_function("match_substring_regex", [pa.scalar(text)], options)
    except (pa.ArrowInvalid, UnicodeEncodeError):
        # The pattern is too large, or the text is not Unicode.
        return None
    return bool(matches.as_py())


def _answer(frame: bytes) -> bool | str | None:
    """What the child answers to a request.

    Raises:
        ProtocolError: it is no answer.
    """
    match decode_json(frame):
        case (bool() | str() | None) as answer:
            return answer
        case _:
            raise ProtocolError("an unknown frame")


def _whole_seconds_until(deadline: float | None) -> int:
    """Seconds of processor time that a search may take, at least 1."""
    if deadline is None:
        return _WITHOUT_DEADLINE
    return int(max(deadline - time.monotonic(), 0.0)) + 1
