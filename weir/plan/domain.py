"""The values from outside that a pattern inside EXISTS is evaluated for.

A pattern that depends on values of the solution outside is evaluated once for all of them: it is
joined with its *domain*, the distinct combinations of those values. So that it meets only the
values that can matter to it, the domain also has the columns that the pattern shares with the
outside, and is joined on them. (Neumann and Kemper, Unnesting Arbitrary Queries, BTW 2015.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from weir.plan.columns import Columns
from weir.plan.joins import joined
from weir.plan.operators import Distinct, Extend, PlanNode, Project
from weir.sparql.algebra.expressions import Call, Constant, Variable

# No term of a graph: an IRI has no spaces.
_UNBOUND = "<not bound>"
# The name decides how `Slice` orders the columns of ties: another one would change stored plans.
_DOMAIN_KEY = "_:told"


@dataclass(frozen=True, slots=True)
class Domain:
    """The combinations of values that the solutions of a node have.

    Unbound is compatible with every value, but what is evaluated for unbound is for unbound only.
    So a correlated column that may be unbound has a *key*, a column in which unbound is a value
    like any other.

    Attributes:
        source: the node; it has all columns.
        correlated: the columns that the pattern depends on.
        keys: the key of each correlated column that may be unbound.
        linked: columns of variables that the pattern shares but does not depend on; all certain.
        graph: the column of the graph's name, where the EXISTS is evaluated in each graph. It is
            certain, too.
    """

    source: PlanNode
    correlated: tuple[str, ...]
    keys: tuple[tuple[str, str], ...]
    linked: tuple[str, ...] = ()
    graph: str | None = None

    @classmethod
    def of(
        cls,
        node: PlanNode,
        correlated: tuple[str, ...],
        linked: Iterable[str],
        graph: str | None,
        columns: Columns,
    ) -> Self:
        """The domain of the columns `correlated` of `node`; its source is `node` with their keys.

        Args:
            node: has the values.
            correlated: the columns that a pattern depends on.
            linked: columns that it shares; those that may be unbound are left out.
            graph: the column of the graph's name in `node`, if it has one.
            columns: gives the keys their names.
        """
        keys = []
        certain = node.certain
        for name in correlated:
            if name not in certain:
                keys.append((name, columns.fresh(_DOMAIN_KEY)))
                value = Call("COALESCE", (Variable(name), Constant(_UNBOUND)))
                node = Extend(keys[-1][1], value, node)
        left_out = {*correlated, graph}
        kept = tuple(name for name in linked if name in certain and name not in left_out)
        return cls(node, correlated, tuple(keys), kept, graph)

    @property
    def carried(self) -> tuple[str, ...]:
        """The columns by which solutions for different values are kept apart."""
        return (*self.correlated, *(key for _, key in self.keys))

    def restricted(self, correlated: Iterable[str], linked: Iterable[str]) -> Self:
        """The domain of fewer columns."""
        kept = {*correlated}
        return replace(
            self,
            correlated=tuple(name for name in self.correlated if name in kept),
            keys=tuple((name, key) for name, key in self.keys if name in kept),
            linked=tuple(name for name in self.linked if name in {*linked}),
        )

    def is_carried(self, node: PlanNode) -> bool:
        """Whether the solutions of `node` for different values are kept apart already.

        A column that may be unbound in `node`, as in VALUES, is not carried just because `node` has
        it.
        """
        keys = dict(self.keys)
        return all(
            keys.get(name, name) in node.certain and name in node.variables
            for name in self.correlated
        )

    def links(self, node: PlanNode) -> bool:
        """Whether `node` has a column for which it meets only some of the combinations."""
        keys = dict(self.keys)
        certain = (keys.get(name, name) for name in self.correlated)
        return any(name in node.certain for name in (*self.linked, *certain))

    def carry(self, node: PlanNode, graph: str | None = None) -> PlanNode:
        """`node` joined with the domain, so that it carries it.

        Args:
            node: carries it or not.
            graph: the column of the graph that `node` is evaluated in, if it has one.
        """
        in_graph = graph is not None and graph == self.graph and self.links(node)
        if self.is_carried(node) and not (in_graph and graph not in node.certain):
            return node
        linked = tuple(name for name in self.linked if name in node.certain)
        names = (*self.carried, *linked, *((self.graph,) if in_graph and self.graph else ()))
        return joined(node, Distinct(Project(names, self.source)), self.correlated)

    def beside(self, node: PlanNode, linked: Iterable[str], graph: str | None) -> Self:
        """The domain of a pattern that is joined with `node`: of combinations that `node` meets.

        Args:
            node: carries this domain, or is joined with it.
            linked: columns that the pattern shares with `node`, and joins by.
            graph: as in `carry`.
        """
        if not self.links(node):
            return self
        met = self.carry(node, graph)
        optional = tuple(name for name, _ in self.keys)
        keys = tuple(key for _, key in self.keys)
        certain = tuple(name for name in self.correlated if name not in optional)
        kept = tuple(
            name for name in linked if name in met.certain and name not in {*self.carried, graph}
        )
        source = met
        if optional:
            # Where it is unbound outside, `node` may have bound it.
            in_graph = (graph,) if graph is not None and graph in met.certain else ()
            only = Distinct(Project((*certain, *keys, *kept, *in_graph), met))
            source = joined(only, Distinct(Project(self.carried, self.source)))
        has_graph = self.graph is not None and self.graph in source.certain
        return replace(self, source=source, linked=kept, graph=self.graph if has_graph else None)
