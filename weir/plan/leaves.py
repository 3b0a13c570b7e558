"""The leaves of a plan: what it reads of the graph, and inline data, as frozen values.

In a plan a variable is a column name `v<number>`, because SPARQL names are case-sensitive and
column names are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from weir.plan.nodes import node
from weir.sparql.algebra.expressions import Expression
from weir.sparql.algebra.patterns import TriplePattern

ComponentClass = Literal["ground", "simple var-centric star", "connected-variable"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Which triples a pattern reads: those of all graphs (`graphs` is None), or of some.

    It reads their merge, or, with `each`, every named graph by itself, with its name. Graph names
    are in N-Triples form; the empty string is the unnamed graph.

    With `window`, it reads the content of a window instead, which is one graph. The IRI, in
    N-Triples form, names a window of one query: that of another query may have another content.
    """

    graphs: tuple[str, ...] | None = None
    each: bool = False
    window: str | None = None

    def __post_init__(self) -> None:
        if self.window is not None and (self.graphs is not None or self.each):
            raise ValueError("a scope is a window or some graphs, not both")

    @property
    def is_union(self) -> bool:
        """Whether it is the union of all graphs, whose log is stored."""
        return self.graphs is None and not self.each and self.window is None

    @property
    def is_merge(self) -> bool:
        """Whether a triple that several graphs have is to be counted once."""
        return self.graphs is not None and len(self.graphs) > 1 and not self.each

    @property
    def name(self) -> str:
        """Its name for people."""
        if self.window is not None:
            return f"window {self.window}"
        if self.graphs is None:
            return "each named graph" if self.each else "union of all graphs"
        listed = ", ".join(graph or "the unnamed graph" for graph in self.graphs)
        return f"each of {listed}" if self.each else f"merge of {listed or 'no graph'}"


@node
class Component:
    """A segment of a basic graph pattern's connected-variable decomposition (000, Section 4.2).

    `conditions` are the filters that mention only the segment's variables. `graph` is the column of
    the graph's name, if the scope is each graph by itself: all triples are of the same graph.
    """

    patterns: tuple[TriplePattern, ...]
    scope: Scope
    kind: ComponentClass
    conditions: tuple[Expression, ...] = ()
    graph: str | None = None

    def __post_init__(self) -> None:
        if (self.graph is not None) != self.scope.each:
            raise ValueError("a graph's name is read where each graph is by itself, and only there")

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The graph's, then the variables of the patterns in order of appearance."""
        first = () if self.graph is None else (self.graph,)
        names = (name for pattern in self.patterns for name in pattern.variables)
        return tuple(dict.fromkeys((*first, *names)))

    @cached_property
    def certain(self) -> frozenset[str]:
        """Every variable is bound in every solution."""
        return frozenset(self.variables)


@node
class Values:
    """Solutions that hold at every epoch; None is unbound."""

    variables: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]

    @cached_property
    def certain(self) -> frozenset[str]:
        """What every row binds."""
        return frozenset(
            name
            for i, name in enumerate(self.variables)
            if all(row[i] is not None for row in self.rows)
        )


UNIT = Values((), ((),))
"""The empty solution, once."""

MEMBER = "member"
"""The column that says whose solution a row is, in the plan of a group (`weir.plan.members`)."""


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
