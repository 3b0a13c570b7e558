"""The commits of the table of an answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Self

from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import ANSWERS
from weir.progress.completion import Completion

_DIGITS: Final = 18
"""Most digits of a version."""


@dataclass(frozen=True, slots=True)
class AnswerCommits:
    """Some commits of the table of an answer.

    Attributes:
        query: whose answer it is.
        table_id: of the Delta table; another one if the answer was dropped since.
        after: the version before the first of them; -1 if it is the first of all.
        until: the version of the last of them.
    """

    query: str
    table_id: str
    after: int
    until: int

    @property
    def cursor(self) -> str:
        """What names the last of them, for clients that go on from there."""
        return f"{self.table_id}:{self.until}"

    def since(self, cursor: str) -> Self | None:
        """Those after a cursor; None if the text is none of this answer as it is published now."""
        table_id, _, version = cursor.rpartition(":")
        is_number = version.isascii() and version.isdecimal() and len(version) <= _DIGITS
        if table_id != self.table_id or not is_number or int(version) > self.until:
            return None
        return replace(self, after=int(version))


def published_commits(lake: Lake, completion: Completion, query: str) -> AnswerCommits | None:
    """All commits of an answer up to the newest that was published; None before the first."""
    published = completion.published(query)
    table = None if published is None else lake.open(ANSWERS.name(query))
    if published is None or table is None:
        return None
    return AnswerCommits(query, str(table.metadata().id), -1, published.version)


def publications(lake: Lake, query: str) -> Iterator[Metadata]:
    """The metadata of the commits by which an answer was published, the newest first."""
    for commit in lake.commits(ANSWERS.name(query)):
        metadata = Metadata.from_json(commit.get("userMetadata"))
        if metadata is not None and metadata.job == "publish":
            yield metadata
