"""Regular expressions where backtracking may take long: in linear time, or by a process that can be
ended.

RE2 is the one inside Arrow. It is asked whether a pattern occurs, for patterns whose answer is
known to be the same; everything else is matched by Python in a child process with a deadline.
"""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from dataclasses import asdict
from multiprocessing.connection import Connection, Pipe

import pyarrow as pa
import pyarrow.compute as pc

from weir import sandbox
from weir.sparql.functions.evaluation_limits import (
    OUT_OF_TIME,
    LimitExceeded,
    evaluation_limits,
)
from weir.sparql.functions.matching_worker import MatchRequest
from weir.sparql.functions.regexes import Pattern, Replacement

_WORKER = "weir.sparql.functions.matching_worker"
_WITHOUT_DEADLINE = 3_600
"""Seconds of processor time of a search that nobody has set a deadline for."""


class LinearMatching:
    """Searches by RE2 where it can; where it cannot, by Python in this process."""

    def search(self, pattern: Pattern, text: str) -> bool:
        """Whether the pattern matches somewhere in `text`."""
        found = _occurs(pattern, text)
        return pattern.search_here(text) if found is None else found

    def replace(self, pattern: Pattern, text: str, replacement: Replacement) -> str:
        """`text` with all matches replaced."""
        return pattern.replace_here(text, replacement)


class MatchingProcess:
    """Searches by RE2 where it can; where it cannot, by Python in a child process.

    The child starts when it is first needed. One that does not answer by the deadline of the
    evaluation, or takes too much memory, is killed.

    Args:
        memory: bytes that the child may take beyond those that it starts with.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._child: _Child | None = None
        # DuckDB evaluates in several threads.
        self._lock = threading.Lock()

    def search(self, pattern: Pattern, text: str) -> bool:
        """Whether the pattern matches somewhere in `text`.

        Raises:
            LimitExceeded: it takes too long, or too much memory.
        """
        found = _occurs(pattern, text)
        return bool(self._ask(pattern, text, None)) if found is None else found

    def replace(self, pattern: Pattern, text: str, replacement: Replacement) -> str:
        """`text` with all matches replaced.

        Raises:
            LimitExceeded: it takes too long, or too much memory, or the result is too long.
        """
        made = self._ask(pattern, text, [*replacement])
        limits = evaluation_limits()
        if not isinstance(made, str):
            limits.check_literal(limits.literal_length + 1)
        return str(made)

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
                self._child = _Child(self._memory)
            seconds = _seconds_until(limits.deadline)
            request = MatchRequest(
                pattern.source,
                pattern.flags,
                text,
                replacement,
                limits.literal_length,
                _WITHOUT_DEADLINE if seconds is None else int(seconds) + 1,
            )
            try:
                return self._child.answer(request, limits.deadline)
            except BaseException:
                # A late answer would be taken for that to the next request.
                self._end()
                raise

    def _end(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None


class _Child:
    """A running child process."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        ours, theirs = Pipe()
        with theirs:
            self._process = sandbox.start(
                _WORKER,
                str(theirs.fileno()),
                str(memory),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._connection: Connection[bytes, bytes] = ours

    @property
    def has_ended(self) -> bool:
        """Whether it ended after the last request."""
        return self._process.poll() is not None

    def answer(self, request: MatchRequest, deadline: float | None) -> bool | str | None:
        """What it says.

        Raises:
            LimitExceeded: it does not answer in time, or memory was refused.
            RuntimeError: it ended otherwise.
        """
        try:
            self._connection.send_bytes(json.dumps(asdict(request)).encode())
            if not self._connection.poll(_seconds_until(deadline)):
                raise LimitExceeded(OUT_OF_TIME)
            found: bool | str | None = json.loads(self._connection.recv_bytes())
        except (EOFError, ConnectionError):
            raise self._cause_of_death() from None
        return found

    def close(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()
        self._connection.close()

    def _cause_of_death(self) -> Exception:
        code = self._process.wait()
        if code == -signal.SIGXCPU:
            return LimitExceeded(OUT_OF_TIME)
        if code == sandbox.OUT_OF_MEMORY:
            return LimitExceeded(
                f"a regular expression takes more than query_memory = {self._memory:,} bytes"
            )
        return RuntimeError(f"the process that matches regular expressions ended with {code}")


def _occurs(pattern: Pattern, text: str) -> bool | None:
    """Whether the pattern matches somewhere, by RE2; None if RE2 cannot say."""
    if pattern.linear is None:
        return None
    options = pc.MatchSubstringOptions(pattern.linear)
    try:
        found = pc.call_function("match_substring_regex", [pa.scalar(text)], options)
    except (pa.ArrowInvalid, UnicodeEncodeError):
        # The pattern is too large, or the text is not Unicode.
        return None
    return bool(found.as_py())


def _seconds_until(deadline: float | None) -> float | None:
    return None if deadline is None else max(deadline - time.monotonic(), 0.0)
