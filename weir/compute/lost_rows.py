"""Rows that Spark stored on an executor, and that were lost with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from weir.errors import WeirError
from weir.lake.damage.spark_errors import messages_of

_NOT_FOUND = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"
"""Spark's class of the error."""
ATTEMPTS = 3

_Result = TypeVar("_Result")


class LostRowsError(WeirError):
    """Rows that a relation stored on an executor are gone: all of its engine is made again."""

    def __init__(self) -> None:
        super().__init__(
            "rows were lost with an executor of Spark", "", "Run again; what was committed stays."
        )


def are_lost(error: BaseException) -> bool:
    """Whether an error of Spark, or of a library that uses it, says that stored rows are gone."""
    return isinstance(error, LostRowsError) or any(
        _NOT_FOUND in message for message in messages_of(error)
    )


def repeated_if_lost(compute: Callable[[], _Result], progress: Callable[[str], None]) -> _Result:
    """What `compute` gives; it is called again if rows that it stored are lost meanwhile.

    Args:
        compute: makes its relations in an engine of its own.
        progress: receives that it is called again.

    Raises:
        LostRowsError: they are lost in `ATTEMPTS` attempts.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return compute()
        except LostRowsError as lost:
            progress(f"WARNING: {lost.what}; they are computed again")
    return compute()
