"""Rows that are lost: with an executor of Spark, or with a DuckDB that failed as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from weir.compute.duck import has_ended
from weir.errors import WeirError
from weir.lake.damage.spark_errors import messages_of

_NOT_FOUND = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"
"""Spark's error class for such rows."""
ATTEMPTS = 3

_Result = TypeVar("_Result")


class LostRowsError(WeirError):
    """Rows of a relation are lost; its engine must be rebuilt."""


def raise_if_lost(error: Exception) -> None:
    """Raise if an error, maybe of a library between, means that stored rows are lost.

    Raises:
        LostRowsError: it does.
    """
    if isinstance(error, LostRowsError):
        raise error
    what = ""
    if has_ended(error):
        what = f"DuckDB failed, and the rows that it had are lost: {_first_line(error)}"
    elif any(_NOT_FOUND in message for message in messages_of(error)):
        what = "rows were lost with an executor of Spark"
    if what:
        raise LostRowsError(what, "", "Run again; what was committed stays.") from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


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
