"""Limits of the evaluation of expressions: its time, and the size of its results.

Exceeding a limit is not a SPARQL error, which would leave a variable unbound or drop a row: it ends
the evaluation, and so the query.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weir.sparql.functions.regexes import Matching

LITERAL_LENGTH = 16_777_216
VALUES_LENGTH = 1_000_000_000


class LimitExceeded(Exception):  # noqa: N818  (named after what is wrong)
    """Evaluating an expression exceeded a limit; the text names the limit."""

    @classmethod
    def within(cls, text: str) -> LimitExceeded | None:
        """The error that the text of a database's error quotes; None if it quotes none.

        Databases wrap the errors that functions raise.
        """
        quoted = _REPORTED.search(text)
        return None if quoted is None else cls(quoted.group(1))


_REPORTED = re.compile(rf"{LimitExceeded.__name__}: ([^\n]+)")


@dataclass(frozen=True, slots=True)
class EvaluationLimits:
    """Limits of one call of a function by the engine, which evaluates many rows.

    Attributes:
        literal_length: greatest number of characters of a literal that is made.
        values_length: greatest number of characters of all values that one call returns.
        deadline: when the call must have ended, on the clock `time.monotonic`; None: no limit.
        matching: matches regular expressions that are not known to be fast; None if this process
            matches them itself, without a limit of time.
    """

    literal_length: int = LITERAL_LENGTH
    values_length: int = VALUES_LENGTH
    deadline: float | None = None
    matching: Matching | None = None

    def check_literal(self, length: int) -> None:
        """Check the length of a literal before it is made.

        Raises:
            LimitExceeded: it is too long.
        """
        if length > self.literal_length:
            raise LimitExceeded(
                f"an expression makes a literal of more than literal_length ="
                f" {self.literal_length:,} characters"
            )

    def check_values(self, length: int) -> None:
        """Check the length of all values so far.

        Raises:
            LimitExceeded: they are too long.
        """
        if length > self.values_length:
            raise LimitExceeded(
                f"the values of an expression take more than query_memory ="
                f" {self.values_length:,} bytes"
            )

    def check_time(self) -> None:
        """Check the deadline.

        Raises:
            LimitExceeded: it has passed.
        """
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise LimitExceeded(OUT_OF_TIME)


OUT_OF_TIME = "it takes more than query_seconds"

_LIMITS = ContextVar("evaluation limits", default=EvaluationLimits())  # noqa: B039 - immutable


def evaluation_limits() -> EvaluationLimits:
    """The limits of the current evaluation."""
    return _LIMITS.get()


@contextmanager
def evaluated_within(limits: EvaluationLimits) -> Iterator[EvaluationLimits]:
    """Evaluate within `limits`."""
    token = _LIMITS.set(limits)
    try:
        yield limits
    finally:
        _LIMITS.reset(token)
