"""Where a pattern is evaluated: the triples it reads, and the columns every solution carries."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jobs.plan.leaves import UNIT, Scope
from jobs.plan.operators import Join, PlanNode, Product
from jobs.plan.structure import shared


@dataclass(frozen=True, slots=True)
class Context:
    """What surrounds a pattern.

    `GRAPH ?g { P }` is P in each named graph, and EXISTS { P } may be P for each solution around
    it. Both are one evaluation of P whose solutions *carry* the graph or the values that they are
    for, in columns: every operator keeps different values of the carried columns apart (projects
    them, groups and joins by them), and a part that does not bind them is combined with the
    `domain` of all their values.

    Attributes:
        scope: the triples; each named graph by itself if `graph` is given.
        graph: the column that carries the graph's name.
        domains: nodes with all values of the carried columns, the graph's name among them.
    """

    scope: Scope
    graph: str | None = None
    domains: tuple[PlanNode, ...] = ()

    @property
    def carried(self) -> tuple[str, ...]:
        """The carried columns."""
        names = (name for domain in self.domains for name in domain.variables)
        return tuple(dict.fromkeys(names))

    @property
    def certain(self) -> frozenset[str]:
        """The carried columns that no solution leaves unbound."""
        return frozenset[str]().union(*(domain.certain for domain in self.domains))

    def carry(self, node: PlanNode) -> PlanNode:
        """`node` combined with the domains of the columns that it does not carry yet.

        A column that may be unbound in `node`, as in VALUES, is not carried just because `node` has
        it.
        """
        for domain in self.domains:
            unbound = set(domain.variables) - node.certain
            if unbound & domain.certain or not unbound <= set(node.variables):
                node = joined(node, domain)
        return node

    def inside(self, scope: Scope, graph: str | None = None) -> Context:
        """The same for other triples: the name of the graph around is no longer carried."""
        kept = (domain for domain in self.domains if self.graph not in domain.variables)
        return Context(scope, graph, tuple(kept))

    @property
    def of_graph(self) -> Context:
        """The same triples; only the graph's name is carried."""
        kept = (domain for domain in self.domains if self.graph in domain.variables)
        return replace(self, domains=tuple(kept))

    def with_domain(self, domain: PlanNode) -> Context:
        """Solutions carry the columns of `domain`, too."""
        return replace(self, domains=(*self.domains, domain))


def joined(left: PlanNode, right: PlanNode) -> PlanNode:
    """The join of two nodes: a product if they share no column."""
    if UNIT in (left, right):
        return right if left == UNIT else left
    if shared(left, right):
        return Join(left, right)
    parts = [
        part
        for side in (left, right)
        for part in (side.children if isinstance(side, Product) else (side,))
    ]
    return Product(tuple(parts))
