"""The leaves of a plan: what it reads of the graph, and inline data, as frozen values.

In a plan a variable is a column name `v<number>`, because SPARQL names are case-sensitive and
column names are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Literal, Self

from weir.plan.nodes import Operator, node
from weir.plan.parameters import MOST_OPTIONS, Change
from weir.plan.restrictions import restrictions
from weir.plan.scope import Scope
from weir.sparql.algebra.expressions import Expression
from weir.sparql.algebra.patterns import TriplePattern

ComponentClass = Literal["ground", "simple var-centric star", "connected-variable"]


MEMBER = "member"
"""The column that says whose solution a row is, in the plan of a group (`weir.plan.members`)."""


class Leaf(Operator):
    """A node that reads no other."""

    @property
    def children(self) -> tuple[()]:
        """A leaf has no children."""
        return ()

    def with_children(self, children: tuple[Operator, ...]) -> Self:
        """The same node; there are no children to replace."""
        assert not children, "a leaf has no children"
        return self


@node
class Component(Leaf):
    """A segment of a basic graph pattern's connected-variable decomposition (000, Section 4.2).

    `conditions` are the filters that mention only the segment's variables. `graph` is the column of
    the graph's name, if the scope is each graph by itself: all triples are of the same graph.
    """

    patterns: tuple[TriplePattern, ...]
    scope: Scope
    kind: ComponentClass
    conditions: tuple[Expression, ...] = ()
    graph: str | None = None

    constants = ("patterns", "conditions")

    def __post_init__(self) -> None:
        if (self.graph is not None) != self.scope.each:
            raise ValueError("a graph's name is read where each graph is by itself, and only there")

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The column of the graph's name, if there is one, then the variables of the patterns in
        order.
        """
        first = () if self.graph is None else (self.graph,)
        names = (name for pattern in self.patterns for name in pattern.variables)
        return tuple(dict.fromkeys((*first, *names)))

    @cached_property
    def certain(self) -> frozenset[str]:
        """All variables: a triple pattern leaves none unbound."""
        return frozenset(self.variables)

    @cached_property
    def restrictions(self) -> Mapping[str, frozenset[str]]:
        """By variable, the terms that the filters leave to it, where they leave a few only."""
        return restrictions(self.conditions)

    def needs_triple(self, scope: Scope) -> bool:
        """Whether `scope` is the scope that the patterns are read from."""
        return self.scope == scope

    def graph_terms(self, scope: Scope, graph: str | None) -> frozenset[str]:
        """The subjects and objects of its patterns, if it reads this graph."""
        if (self.scope, self.graph) != (scope, graph):
            return frozenset()
        return frozenset().union(*(pattern.ends for pattern in self.patterns))

    def with_member(self) -> MemberComponent:
        """The same segment, evaluated for each member."""
        return MemberComponent(self.patterns, self.scope, self.kind, self.conditions, self.graph)


@node
class Values(Leaf):
    """Solutions that hold at every epoch; None is unbound."""

    variables: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]

    @cached_property
    def certain(self) -> frozenset[str]:
        """The variables that are bound in every row."""
        return frozenset(
            name
            for i, name in enumerate(self.variables)
            if all(row[i] is not None for row in self.rows)
        )

    def with_terms(self, change: Change) -> Self:
        """The same solutions with other terms; unchanged if there are more than `MOST_OPTIONS`
        terms.
        """
        if len(self.rows) * len(self.variables) > MOST_OPTIONS:
            return self
        rows = (tuple(None if term is None else change(term) for term in row) for row in self.rows)
        return self._with(rows=tuple(rows))

    def with_member(self) -> MemberValues:
        """The same solutions for each member."""
        return MemberValues((MEMBER, *self.variables), self.rows)


UNIT = Values((), ((),))
"""The empty solution, once."""


@node
class MemberComponent(Component):
    """A segment for each member of a group; constants may be parameters of the member."""

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The member, then those of the segment."""
        return (MEMBER, *super().variables)


@node
class MemberValues(Values):
    """Solutions for each member of a group; terms may be parameters of the member.

    The first of the variables is the member; the rows have the others.
    """

    @cached_property
    def certain(self) -> frozenset[str]:
        """The member, and what every row binds."""
        return frozenset({MEMBER}) | Values(self.variables[1:], self.rows).certain
