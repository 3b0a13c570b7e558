"""The table `freshness`: the rows of each evaluation, which the mark of its round has, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import FRESHNESS
from weir.remotes.inbox import JOB
from weir.remotes.states import Missed, severity

_NEWEST = 32
"""Commits of `freshness` that are looked at for the last round of a remote."""


class WithFreshness(Protocol):
    """The mark of the round that ends an evaluation."""

    @property
    def round(self) -> int: ...
    @property
    def rows(self) -> list[dict[str, Any]]:
        """Its rows of `freshness`."""
        ...


def record_freshness(lake: Lake, remote: str, mark: WithFreshness, run_id: str) -> None:
    """Add the rows of an evaluation to `freshness`."""
    rows = mark.rows
    if rows:
        metadata = Metadata(run_id, JOB, watermark=mark.round, extra={"remote": remote})
        # A table of an earlier version of Weir gets the columns that are new.
        write(lake, FRESHNESS, rows, metadata, merge_schema=True)


def complete_freshness(lake: Lake, remote: str, mark: WithFreshness, run_id: str) -> None:
    """Add the rows of an earlier evaluation to `freshness` unless they are there."""
    for commit in islice(lake.commits(FRESHNESS.name), _NEWEST):
        metadata = Metadata.from_json(commit.get("userMetadata"))
        if metadata is not None and metadata.extra.get("remote") == remote:
            if metadata.watermark < mark.round:
                break
            return
    else:
        # Other remotes have had so many rounds meanwhile that the table itself is looked at.
        of_round = [("remote", "=", remote), ("round", "=", mark.round)]
        if lake.exists(FRESHNESS.name) and lake.rows(FRESHNESS.name, ["round"], of_round).num_rows:
            return
    record_freshness(lake, remote, mark, run_id)


def worst_row(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The row of an evaluation whose state is the worst; None if there is no row."""
    return max(rows, key=lambda row: severity(row["state"], Missed.of(row)), default=None)
