"""Up to which instant a query over streams is final at each epoch: its horizon, read from the lake.

A horizon follows from what ingest recorded, so it moves on with epochs that do not touch the query.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Self

from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import EMBEDDINGS
from weir.progress.backlog import HORIZON
from weir.progress.streams import Frontiers
from weir.timeline.axis import Instants
from weir.timeline.reading import read_horizons
from weir.timeline.stream_names import all_streams_of


@dataclass(frozen=True, slots=True)
class Horizons:
    """The horizons of a query.

    Attributes:
        by_epoch: (epoch, horizon), in the order of epochs: from the epoch on, the last instant that
            is final; None before there is one.
    """

    by_epoch: tuple[tuple[int, int | None], ...]

    @classmethod
    def read(cls, lake: Lake, axis: Instants, frontiers: Frontiers) -> Self:
        """The horizons of a query whose windows are known."""
        timeline = read_horizons(lake, axis, frontiers)
        return cls(tuple((arrival.epoch, arrival.horizon) for arrival in timeline.arrivals))

    @classmethod
    def recorded(cls, lake: Lake, query: str) -> Self:
        """The horizons of a query whose windows are no longer known, from the commits of maintain.

        Epochs that did not touch the query are missing.
        """
        horizons: list[tuple[int, int | None]] = []
        for commit in lake.commits(EMBEDDINGS.name(query)):
            metadata = Metadata.from_json(commit.get("userMetadata"))
            if metadata is not None and metadata.job == "maintain" and HORIZON in metadata.extra:
                horizons.append((metadata.watermark, metadata.extra[HORIZON]))
        return cls(tuple(sorted(horizons, key=lambda pair: (pair[0], pair[1] or 0))))

    def at(self, epoch: int) -> int | None:
        """The last instant that is final at an epoch."""
        before = bisect_right(self.by_epoch, epoch, key=lambda pair: pair[0])
        return self.by_epoch[before - 1][1] if before else None


def slowest_stream(axis: Instants, frontiers: Frontiers, epoch: int) -> str:
    """The stream of a query that has the least frontier; the query's horizon depends on it."""

    def order(name: str) -> tuple[bool, int, str]:
        frontier = frontiers.at(name, epoch)
        return frontier is not None, frontier or 0, name

    return min(all_streams_of(axis), key=order)
