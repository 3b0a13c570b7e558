"""Rows that Spark stored on an executor and lost with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from weir.errors import WeirError
from weir.lake.damage.spark_errors import messages_of

_NOT_FOUND = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"
"""Spark's error class for such rows."""
ATTEMPTS = 3

_Result = TypeVar("_Result")


class LostRowsError(WeirError):
    """Rows of a relation were lost with an executor; its engine must be rebuilt."""

    def __init__(self) -> None:
        super().__init__(
            "rows were lost with an executor of Spark", "", "Run again; what was committed stays."
        )


def are_lost(error: BaseException) -> bool:
    """Whether an error of Spark, or of a library that uses it, means that stored rows are lost."""
    return isinstance(error, LostRowsError) or any(
        _NOT_FOUND in message for message in messages_of(error)
    )


def repeated_if_lost(compute: Callable[[], _Result], progress: Callable[[str], None]) -> _Result:
    """The result of `compute`, which is called again if rows that it stored are lost.

    Args:
        compute: makes its relations in a new engine.
        progress: receives a warning before a new attempt.

    Raises:
        LostRowsError: rows were lost in all of `ATTEMPTS` attempts.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return compute()
        except LostRowsError as lost:
            progress(f"WARNING: {lost.what}; they are computed again")
    return compute()
