"""Which named graphs a scope has: those with a triple.

`GRAPH <g> { P }` has no solution if the dataset has no graph <g>, also where P would have one on an
empty graph. https://www.w3.org/TR/sparql11-query/#sparqlAlgebraEval, eval(D(G), Graph(IRI,P)).
"""

from __future__ import annotations

from weir.plan.columns import Columns
from weir.plan.leaves import Component
from weir.plan.operators import Distinct, PlanNode, Project
from weir.plan.scope import Scope
from weir.sparql.algebra.expressions import Variable
from weir.sparql.algebra.patterns import TriplePattern


def graph_names(columns: Columns, named: Scope, graph: str) -> PlanNode:
    """The names of all graphs of a scope, in column `graph`."""
    triples = Component(_anything(columns), named, "connected-variable", (), graph)
    return Distinct(Project((graph,), triples))


def has_graph(columns: Columns, scope: Scope) -> PlanNode:
    """The empty solution, once if the graphs of a scope have a triple."""
    triples = Component(_anything(columns), scope, "connected-variable")
    return Distinct(Project((), triples))


def _anything(columns: Columns) -> tuple[TriplePattern]:
    return (TriplePattern(*(Variable(columns.fresh("_:any")) for _ in range(3))),)
