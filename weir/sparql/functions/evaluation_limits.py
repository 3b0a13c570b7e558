"""What evaluating expressions may take: time, and the size of what it makes.

A limit that is exceeded is no SPARQL error, which would be an unbound variable or a row less: the
evaluation ends, and with it the query.
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
    """Evaluating an expression takes more than it may; the text names the limit."""

    @classmethod
    def within(cls, text: str) -> LimitExceeded | None:
        """The one that the text of another error reports: databases wrap what functions raise."""
        found = _REPORTED.search(text)
        return None if found is None else cls(found.group(1))


_REPORTED = re.compile(rf"{LimitExceeded.__name__}: ([^\n]+)")


@dataclass(frozen=True, slots=True)
class EvaluationLimits:
    """Limits of one call of a function of the engine, which evaluates many rows.

    Attributes:
        literal_length: characters of a literal that is made.
        values_length: characters of all values that one call gives.
        deadline: by `time.monotonic`; None if there is none.
        matching: does what regular expressions do beyond what is known to be short; None if this
            process does it, however long it takes.
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
        """Check the time.

        Raises:
            LimitExceeded: it is too late.
        """
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise LimitExceeded(OUT_OF_TIME)


OUT_OF_TIME = "it takes more than query_seconds"

_LIMITS = ContextVar("evaluation limits", default=EvaluationLimits())  # noqa: B039 - immutable


def evaluation_limits() -> EvaluationLimits:
    """The limits of the evaluation that is going on."""
    return _LIMITS.get()


@contextmanager
def evaluated_within(limits: EvaluationLimits) -> Iterator[EvaluationLimits]:
    """Evaluate within `limits`."""
    token = _LIMITS.set(limits)
    try:
        yield limits
    finally:
        _LIMITS.reset(token)
