"""Errors of one source, which stop that source and no other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from deltalake.exceptions import DeltaError
from pyarrow.lib import ArrowException

from weir.errors import EXIT_QUALITY, WeirError
from weir.lake.damage.spark_errors import messages_of

if TYPE_CHECKING:
    from weir.ingest.sources.source import Source

_STORAGE_ERRORS: tuple[type[Exception], ...] = (OSError, ValueError, ArrowException, DeltaError)
"""The errors that files, their content and tables raise."""
_MESSAGE_LENGTH = 500
"""Characters of another program's message, and of its cause, that are shown."""


class SourceError(WeirError):
    """A source cannot continue; the others are not affected.

    Attributes:
        position: of the change set at which it stopped; None if it has not come to one.
    """

    position: str | None = None


class GuardExceeded(SourceError):  # noqa: N818  (named after what is wrong)
    """A source stops at a change set that is beyond its guards, until a person accepts it.

    Args:
        source: name of the source.
        position: of the change set.
        where: its location.
        excess: what is beyond the guards, with the figures.
    """

    exit_code = EXIT_QUALITY

    def __init__(self, source: str, position: str, where: str, excess: str) -> None:
        self.excess = excess
        super().__init__(
            f"source {source}: {position} {excess}",
            where,
            "Correct the file, and the source continues with it. Or accept it as it is:"
            f" `weir ingest --accept {source}`, or the parameter `accept` of a run in Airflow; in"
            " place of a broken document its last good content is taken. Rejected lines, with file,"
            " line and reason, are in the table `rejected`.",
        )
        self.position = position


def refused_link(source: Source, file: str, reason: str) -> SourceError:
    """The error of a symbolic link that is not followed."""
    return SourceError(
        f"source {source.name}: {reason}",
        file,
        "Links are followed within the folder of the source only: put the file itself there.",
    )


@contextmanager
def errors_of(source: Source, *kinds: type[Exception]) -> Iterator[None]:
    """Turn errors of reading a source into a SourceError.

    Args:
        source: the source that is read.
        kinds: error classes beside those of files, of their content and of tables.

    Raises:
        WeirError: as it was raised inside; a SourceError for any other error of these kinds.
    """
    try:
        yield
    except WeirError:
        raise
    except (*_STORAGE_ERRORS, *kinds) as error:
        messages = messages_of(error) or (type(error).__name__,)
        # What was tried, and why that failed.
        shown = ": ".join(map(_in_short, dict.fromkeys((messages[0], messages[-1]))))
        raise SourceError(
            f"source {source.name}: {shown}",
            source.location,
            "Check that it exists, is readable and is as declared; the next run tries again.",
        ) from error


def _in_short(message: str) -> str:
    return " ".join(message.split())[:_MESSAGE_LENGTH].rstrip(": ")
