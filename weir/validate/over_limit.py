"""Published answers that have more rows than their query allows now."""

from __future__ import annotations

from dataclasses import dataclass

from weir.definitions.catalog import Catalog
from weir.progress.completion import Completion


@dataclass(frozen=True, slots=True)
class OverLimit:
    """An answer that was published before its limit was lowered.

    Attributes:
        epoch: the epoch up to which it is published.
        rows: the number of its rows.
        max_rows: the most rows that it may have.
        max_rows_at: file and line of this limit.
    """

    query: str
    epoch: int
    rows: int
    max_rows: int
    max_rows_at: str

    @property
    def reason(self) -> str:
        """What is wrong, in one sentence."""
        return (
            f"the published answer has {self.rows} rows, max_rows is {self.max_rows}"
            f" ({self.max_rows_at})"
        )


def over_limit(completion: Completion, catalog: Catalog) -> tuple[OverLimit, ...]:
    """The published answers above the limit of their query, of queries without a backlog.

    The rows of a backlog are checked with the present limit by validate.
    """
    over = []
    damaged = completion.damaged(member.name for member in catalog.members)
    for query in (member for member in catalog.members if member.name not in damaged):
        guards = query.output.guards
        most = guards.max_rows
        published = completion.published(query.name) if most is not None else None
        if published is None or most is None:
            continue
        rows = int(published.metadata.extra["rows"])
        if rows > most and not completion.backlog([query.name]):
            at = guards.places["max_rows"]
            over.append(OverLimit(query.name, published.epoch, rows, most, at))
    return tuple(over)
