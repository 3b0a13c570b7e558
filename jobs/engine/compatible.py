"""Compatible solutions: equal in every variable that both bind.

https://www.w3.org/TR/sparql11-query/#defn_algCompatibleMapping
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from sqlglot import exp

from jobs.compute.sql import column
from jobs.plan.operators import PlanNode
from jobs.plan.structure import shared


@dataclass(frozen=True, slots=True)
class Sides:
    """What two sides of a join share.

    `equal` are the shared variables that both sides bind for certain: they can be hashed. `perhaps`
    are the others: unbound on a side, they are compatible with everything.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    equal: tuple[str, ...]
    perhaps: tuple[str, ...]

    @classmethod
    def of(cls, left: PlanNode, right: PlanNode) -> Self:
        """The sides of two nodes."""
        both = shared(left, right)
        certain = left.certain & right.certain
        return cls(
            left.variables,
            right.variables,
            tuple(name for name in both if name in certain),
            tuple(name for name in both if name not in certain),
        )

    @property
    def shared(self) -> tuple[str, ...]:
        """The variables of both."""
        return (*self.equal, *self.perhaps)

    @property
    def variables(self) -> tuple[str, ...]:
        """The left side's, then what only the right side has."""
        return tuple(dict.fromkeys((*self.left, *self.right)))

    def compatible(self, one: str, other: str) -> list[exp.Expr]:
        """Conditions under which rows of the aliases `one` and `other` are compatible."""
        conditions: list[exp.Expr] = [
            column(name, one).eq(column(name, other)) for name in self.equal
        ]
        for name in self.perhaps:
            here, there = column(name, one), column(name, other)
            conditions.append(
                exp.or_(here.eq(there), here.copy().is_(exp.null()), there.copy().is_(exp.null()))
            )
        return conditions

    def merged(self, left: str, right: str) -> list[exp.Expr]:
        """The columns of the merged solution of two compatible rows."""
        return [self._merged(name, left, right) for name in self.variables]

    def _merged(self, name: str, left: str, right: str) -> exp.Expr:
        if name in self.perhaps:
            value = exp.func("COALESCE", column(name, left), column(name, right))
            return value.as_(name, quoted=True)
        return column(name, left if name in self.left else right)
