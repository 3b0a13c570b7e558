"""What the queries that stand at one epoch compute with."""

from __future__ import annotations

from dataclasses import dataclass

from weir.compute.relations import Keep
from weir.engine.relations import EpochRange
from weir.plan.scope import Scope


@dataclass(frozen=True, slots=True)
class Prepared:
    """The graph over a range of epochs.

    Attributes:
        epochs: the range.
        graphs: per scope the interval relation of the (restricted) graph.
        keep: how relations as large as these are stored.
        rows_in: the number of changes, None where the whole graph is taken.
    """

    epochs: EpochRange
    graphs: dict[Scope, str]
    keep: Keep
    rows_in: int | None = None
