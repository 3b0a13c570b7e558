"""Published answers that have more rows than their query allows now."""

from __future__ import annotations

from dataclasses import dataclass

from weir.catalog.catalog import Catalog
from weir.progress.completion import Completion


@dataclass(frozen=True, slots=True)
class OverLimit:
    """An answer that was published before its limit was lowered.

    Attributes:
        epoch: up to which it is published.
        rows: how many it has.
        max_rows: how many it may have.
        max_rows_at: file and line that say so.
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
    """The answers above the limit of their query that have nothing to publish.

    Rows that are yet to be published are checked with the present limit anyway.
    """
    found = []
    damaged = completion.damaged(each.name for each in catalog.members)
    for query in (each for each in catalog.members if each.name not in damaged):
        (output,) = query.outputs
        most = output.limits.max_rows
        published = completion.published(query.name) if most is not None else None
        if published is None or most is None:
            continue
        rows = int(published.metadata.extra["rows"])
        if rows > most and not completion.backlog([query.name]):
            at = output.limits.places["max_rows"]
            found.append(OverLimit(query.name, published.epoch, rows, most, at))
    return tuple(found)
