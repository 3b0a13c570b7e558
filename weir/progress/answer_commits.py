"""Some commits of the table of an answer."""

from __future__ import annotations

from dataclasses import dataclass

from weir.lake.lake import Lake
from weir.lake.tables import ANSWERS
from weir.progress.completion import Completion


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


def published_commits(lake: Lake, completion: Completion, query: str) -> AnswerCommits | None:
    """All commits of an answer up to the newest that was published; None before the first."""
    published = completion.published(query)
    table = None if published is None else lake.open(ANSWERS.name(query))
    if published is None or table is None:
        return None
    return AnswerCommits(query, str(table.metadata().id), -1, published.version)
