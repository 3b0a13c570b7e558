"""What the operators compute with: logs and interval relations over a range of epochs.

A *log* has rows, `epoch` and `weight`; an *interval relation* has rows, `since`, `until` and
`weight`. Both are named relations (`weir.compute.relations`).
"""

from __future__ import annotations

from dataclasses import dataclass

from weir.plan.lookups import Seed
from weir.plan.scope import Scope

FOREVER = 2**62
"""`until` of what has not ended."""
BEFORE_ALL = -(2**62)
"""Before every epoch and every instant."""

CHANGE = ("epoch", "weight")
"""The columns of a log beside those of its rows."""

INTERVAL = ("since", "until")
"""The epochs of an interval relation: from `since` up to, not including, `until`."""


@dataclass(frozen=True, slots=True)
class EpochRange:
    """The epochs (after, last]; `from_nothing` says that no state exists at `after`.

    Everything that holds without any triple (the empty solution) appears at `start`. For a query
    over streams these are instants, and so is every column `epoch` of the relations that are read
    and made: operators are the same on both axes.
    """

    after: int
    last: int
    from_nothing: bool = False

    def __post_init__(self) -> None:
        if not self.after < self.last:
            raise ValueError(f"no epochs in ({self.after}, {self.last}]")

    @property
    def start(self) -> int:
        """The first epoch of the range."""
        return self.after + 1

    @property
    def is_one_state(self) -> bool:
        """Whether all that there is holds at one epoch, and appears there."""
        return self.from_nothing and self.start == self.last


@dataclass(frozen=True, slots=True)
class Inputs:
    """Names of the relations that a plan reads.

    `graphs`: per scope, the interval relation of the (restricted) graph. `embeddings`: the query's
    stored logs (node, v0, .., epoch, weight); not read when the range starts from nothing.
    `members`: of the plan of a group, the relation (member, p0, ..); its stored logs have the
    column `member`, too. `touched`: the patterns of the plan that have changes in the range; None
    if that is not known.
    """

    graphs: dict[Scope, str]
    embeddings: str
    members: str | None = None
    touched: frozenset[Seed] | None = None
