"""The variables that two sides of a join share, and when rows of them are compatible.

Solutions are compatible if they are equal in every variable that both bind:
https://www.w3.org/TR/sparql11-query/#defn_algCompatibleMapping
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from sqlglot import exp

from weir.compute.sql import alias, any_of, coalesce, column, equal, is_null
from weir.plan.nodes import shared
from weir.plan.operators import PlanNode


@dataclass(frozen=True, slots=True)
class JoinKeys:
    """What two sides of a join share.

    Attributes:
        left: the variables of the left side.
        right: the variables of the right side.
        equal: the shared variables that both sides bind for certain: they can be hashed.
        optional: the other shared variables; where one is unbound, it is compatible with any value.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    equal: tuple[str, ...]
    optional: tuple[str, ...]

    @classmethod
    def of(cls, left: PlanNode, right: PlanNode) -> Self:
        """The keys of a join of two nodes."""
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
        return (*self.equal, *self.optional)

    @property
    def variables(self) -> tuple[str, ...]:
        """The left side's, then what only the right side has."""
        return tuple(dict.fromkeys((*self.left, *self.right)))

    def compatible(self, one: str, other: str) -> list[exp.Expr]:
        """Conditions under which rows of the aliases `one` and `other` are compatible."""
        conditions = equal(self.equal, one, other)
        for name in self.optional:
            same = column(name, one).eq(column(name, other))
            conditions.append(
                any_of([same, is_null(column(name, one)), is_null(column(name, other))])
            )
        return conditions

    def merged(self, left: str, right: str) -> list[exp.Expr]:
        """The columns of the merged solution of two compatible rows."""
        return [self._merged(name, left, right) for name in self.variables]

    def _merged(self, name: str, left: str, right: str) -> exp.Expr:
        if name in self.optional:
            return alias(coalesce(column(name, left), column(name, right)), name)
        return column(name, left if name in self.left else right)
