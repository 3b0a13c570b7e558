"""When the whole graph is read instead of the neighbourhood of the changes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Numbers that decide how a graph is read.

    Attributes:
        quads: of the graph, all scopes together.
        bulk_share: beyond so many changes, as a share of `quads`, the whole graph is read.
        bulk_quads: below so many `quads` it is read in any case.
        neighbourhood_rows: beyond so many looked-up rows it is read after all.
        small_rows: up to so many rows a relation is kept in one partition.
    """

    quads: int
    bulk_share: float
    bulk_quads: int
    neighbourhood_rows: int
    small_rows: int

    @property
    def is_small_graph(self) -> bool:
        """Whether the whole graph is read however few changes there are."""
        return self.quads < self.bulk_quads


def reason_for_whole(changes: int, thresholds: Thresholds) -> str | None:
    """Why the whole graph is read for so many changes; None if their neighbourhood is looked up.

    Looking up costs its statements, which are dear beside a small graph, and its rows, which grow
    with the changes; reading the whole costs the same for any number of changes.
    """
    quads = f"the {thresholds.quads:,} quads of the graph"
    if thresholds.is_small_graph:
        return f"{quads} are fewer than bulk_quads = {thresholds.bulk_quads}"
    if changes > thresholds.bulk_share * thresholds.quads:
        return f"{changes:,} changes are over bulk_share = {thresholds.bulk_share:g} of {quads}"
    return None
