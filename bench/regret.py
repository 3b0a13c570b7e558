"""What a rule that chooses between two ways costs beyond the better choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.costs import OperandChange

RIGHT, CLEAR = 1.10, 1.25
"""A choice is right if it costs so many times the better one at most; above CLEAR it is clearly
wrong."""


@dataclass(frozen=True, slots=True)
class Case:
    """A query and a range of epochs whose delta was computed in both ways.

    Attributes:
        graph: over which.
        query: which.
        changes: that the patterns of the query may match.
        quads: of the graph.
        answer: how the answer changed.
        looked_up: seconds with the neighbourhood of the changes.
        whole: seconds with the whole graph.
    """

    graph: str
    query: str
    changes: int
    quads: int
    answer: OperandChange
    looked_up: float
    whole: float

    @property
    def best(self) -> float:
        """Seconds of the better way."""
        return min(self.looked_up, self.whole)

    def cost(self, rule: Rule) -> float:
        """Seconds of the way that a rule chooses."""
        return self.whole if rule(self) else self.looked_up


Rule = Callable[[Case], bool]
"""Whether the whole graph is read."""


@dataclass(frozen=True, slots=True)
class Regret:
    """How good the choices of a rule are.

    Attributes:
        share: seconds beyond the better choices, relative to the seconds of these.
        right: share of the choices that are right.
        clearly_wrong: number of choices.
        worst: most seconds beyond the better choice.
    """

    share: float
    right: float
    clearly_wrong: int
    worst: float


def regret(cases: Sequence[Case], rule: Rule) -> Regret:
    """The regret of a rule over cases, of which there is at least one."""
    beyond = [case.cost(rule) - case.best for case in cases]
    ratios = [case.cost(rule) / case.best for case in cases]
    return Regret(
        share=sum(beyond) / sum(case.best for case in cases),
        right=sum(ratio <= RIGHT for ratio in ratios) / len(cases),
        clearly_wrong=sum(ratio > CLEAR for ratio in ratios),
        worst=max(beyond),
    )
