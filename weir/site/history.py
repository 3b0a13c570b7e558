"""How an answer changed: by epoch how much, when and why, and the newest rows of these changes.

What is known is extended by what was published since, so that the cost follows the change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import pyarrow as pa

from weir.answers.appended import EpochChange, UnknownChanges, changes_by_epoch
from weir.answers.causes import Causes
from weir.lake.delta.bindings import Bindings
from weir.lake.lake import Lake
from weir.progress.answer_commits import AnswerCommits, publications
from weir.progress.backlog import answered_since
from weir.site.cells import Cell, cell_rows
from weir.site.epochs import Epochs

_EPOCHS: Final = 1_000
"""Most epochs that are shown, the newest."""
_ROWS: Final = 500
"""Most rows of changes that are shown, the newest."""


@dataclass(frozen=True, slots=True)
class History:
    """The changes of an answer.

    Attributes:
        table_id: of the table that has them.
        until: the version of its commit up to which they are known.
        variables: the columns of `rows`.
        epochs: by epoch, the oldest first: copies of rows that appeared and vanished, the time, the
            cause.
        rows: epoch, weight and cells of the newest changes, the newest epoch first.
        first: the epoch of the first publication, which may have had no rows.
        copies: of rows before the first epoch in `epochs`.
    """

    table_id: str
    until: int
    variables: Sequence[str]
    epochs: Mapping[int, Sequence[Any]]
    rows: Sequence[tuple[int, int, list[Cell]]]
    first: int
    copies: int = 0

    @classmethod
    def of(
        cls,
        bindings: Bindings,
        lake: Lake,
        commits: AnswerCommits,
        variables: Sequence[str],
        epochs: Epochs,
        known: Self | None,
        *,
        over_streams: bool,
    ) -> Self:
        """The changes up to a commit.

        Args:
            bindings: of a connection that has the macros of plain values.
            lake: has the table.
            commits: all of the answer.
            variables: the columns of the answer as it is now.
            epochs: of the lake.
            known: what was known before.
            over_streams: whether the query reads streams.

        Raises:
            UnknownChanges: not even the first commits are known any more.
            DamagedTable: a file is damaged.
        """
        wanted = (commits.table_id, [*variables])
        if known is not None and (known.table_id, known.variables) != wanted:
            known = None
        if known is not None:
            try:
                newer = replace(commits, after=known.until)
                changes, rows = changes_by_epoch(bindings, lake, newer, _ROWS)
            except UnknownChanges:
                known = None
        if known is None:
            changes, rows = changes_by_epoch(bindings, lake, commits, _ROWS)
        first = _first(lake, commits.query) if known is None else known.first
        causes = Causes.of_change_sets(
            lake,
            commits.query,
            {change.epoch: _change_set(epochs, change) for change in changes},
            over_streams=over_streams,
        )
        merged = dict(known.epochs) if known is not None else {}
        for change in changes:
            before = merged.get(change.epoch, (0, 0))
            at = epochs.at(change.epoch)
            merged[change.epoch] = (
                before[0] + change.appeared,
                before[1] + change.vanished,
                None if at is None else at.isoformat(timespec="seconds"),
                causes.of_epoch(change.epoch),
            )
        ordered = dict(sorted(merged.items()))
        copies = known.copies if known is not None else 0
        for epoch in [*ordered][:-_EPOCHS]:
            appeared, vanished, *_ = ordered.pop(epoch)
            copies += appeared - vanished
        newest = [*_rows(rows, variables), *(known.rows if known is not None else ())][:_ROWS]
        return cls(commits.table_id, commits.until, [*variables], ordered, [*newest], first, copies)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """From what `to_json` gave."""
        epochs = {int(epoch): change for epoch, *change in value["epochs"]}
        rows = [(epoch, weight, row) for epoch, weight, row in value["changes"]]
        return cls(
            value["table"],
            value["until"],
            value["variables"],
            epochs,
            rows,
            value["first"],
            value["copies"],
        )

    def to_json(self) -> dict[str, Any]:
        """As the data of a page."""
        return {
            "table": self.table_id,
            "until": self.until,
            "variables": [*self.variables],
            "first": self.first,
            "copies": self.copies,
            "epochs": [[epoch, *change] for epoch, change in self.epochs.items()],
            "changes": [[*row] for row in self.rows],
        }


def _first(lake: Lake, query: str) -> int:
    """The epoch of the first publication of an answer that is known."""
    first = 0
    for metadata in publications(lake, query):
        first = answered_since(metadata)
    return first


def _change_set(epochs: Epochs, change: EpochChange) -> str:
    row = epochs.rows.get(change.epoch)
    return "" if row is None else row.change_set


def _rows(rows: pa.Table, variables: Sequence[str]) -> list[tuple[int, int, list[Cell]]]:
    cells = cell_rows(rows, variables)
    epochs: list[Any] = rows["epoch"].to_pylist()
    weights: list[Any] = rows["weight"].to_pylist()
    return [*zip(epochs, weights, cells, strict=True)]
