"""Where a pattern is evaluated: the triples it reads, and the columns every solution carries."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weir.plan.domain import Domain
from weir.plan.joins import joined
from weir.plan.operators import PlanNode
from weir.plan.scope import Scope


@dataclass(frozen=True, slots=True)
class Context:
    """What surrounds a pattern.

    `GRAPH ?g { P }` is P in each named graph, and EXISTS { P } may be P for each solution around
    it. Both are one evaluation of P whose solutions *carry* the graph or the values that they are
    for, in columns: every operator keeps different values of the carried columns apart (projects
    them, groups and joins by them). The solutions of every pattern carry the graph; those of a
    pattern carry the values that it depends on.

    Attributes:
        scope: the triples; each named graph by itself if `graph` is given.
        graph: the column that carries the graph's name.
        names: the node of all names of graphs, if `graph` is given.
        domain: the values from outside that the pattern depends on, inside EXISTS.
    """

    scope: Scope
    graph: str | None = None
    names: PlanNode | None = None
    domain: Domain | None = None

    @property
    def carried(self) -> tuple[str, ...]:
        """The columns that every solution carries: the graph's name and the domain's."""
        graph = () if self.graph is None else (self.graph,)
        domain = () if self.domain is None else self.domain.carried
        return tuple(dict.fromkeys((*graph, *domain)))

    def carry(self, node: PlanNode) -> PlanNode:
        """`node`, joined with what it does not carry yet."""
        if self.domain is not None:
            node = self.domain.carry(node, self.graph)
        if self.names is not None and self.graph not in node.certain:
            node = joined(node, self.names)
        return node

    def inside(self, scope: Scope) -> Context:
        """The context of a pattern over other triples; the graph's name is no longer carried."""
        return Context(scope, domain=self.domain)

    def in_each_graph(self, scope: Scope, graph: str, names: PlanNode) -> Context:
        """The context of a pattern in each graph of `scope`; `graph` is the column of the graph's
        name, one of `names`.
        """
        return Context(scope, graph, names, self.domain)

    def with_domain(self, domain: Domain | None) -> Context:
        """The same context with another domain."""
        return replace(self, domain=domain)
