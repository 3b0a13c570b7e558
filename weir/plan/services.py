"""SERVICE: the rows of a replica.

A mapping of the remote's answer is a row node, with a quad for each variable that it binds, in the
graph of the remote's replica. So equal mappings are as many rows as there are of them, and the row
of a key can be replaced without those of others (003, Section 3: R is a bag of mappings).
"""

from __future__ import annotations

from weir.plan.columns import Columns
from weir.plan.decompose import decompose
from weir.plan.leaves import Component
from weir.plan.operators import Extend, LeftJoin, PlanNode, Project
from weir.plan.scope import Scope
from weir.rdf.reserved_graphs import MARK, replica_graph, replica_predicate
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import Bgp, Service, TriplePattern
from weir.sparql.algebra.services import pattern_id

_TRUE = Constant('"true"^^<http://www.w3.org/2001/XMLSchema#boolean>')


def lower_service(service: Service, columns: Columns) -> PlanNode:
    """The plan of a SERVICE block; its solutions are the rows of the replica."""
    row = Variable(columns.fresh("_:row"))
    pattern, flags = pattern_id(service), dict(service.flags)
    scope = Scope((replica_graph(service.remote),))

    def binds(*names: str) -> Component:
        triples = tuple(
            TriplePattern(
                row,
                Constant(replica_predicate(pattern, name)),
                Variable(columns.column(name)) if name else Constant(MARK),
            )
            for name in names
        )
        (segment,) = decompose(Bgp(triples))
        return Component(segment.patterns, scope, segment.kind)

    def flagged(node: PlanNode, name: str) -> PlanNode:
        return Extend(columns.column(flags[name]), _TRUE, node) if name in flags else node

    certain = [name for name in service.variables if name in service.certain]
    node: PlanNode = binds(*(certain or [""]))
    for name in certain:
        node = flagged(node, name)
    for name in service.variables:
        if name not in service.certain:
            node = LeftJoin(node, flagged(binds(name), name))
    shown = (*service.variables, *flags.values())
    return Project(tuple(map(columns.column, shown)), node)
