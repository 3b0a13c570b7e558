"""Which named graphs a scope has: those with a triple.

`GRAPH <g> { P }` has no solution if the dataset has no graph <g>, also where P would have one on an
empty graph. https://www.w3.org/TR/sparql11-query/#sparqlAlgebraEval, eval(D(G), Graph(IRI,P)).
"""

from __future__ import annotations

from typing import assert_never

from weir.plan.columns import Columns
from weir.plan.leaves import Component, Scope, Values
from weir.plan.operators import (
    AntiJoin,
    Ask,
    Closure,
    Distinct,
    Extend,
    Filter,
    Group,
    Instantiate,
    Join,
    LeftJoin,
    MarkJoin,
    PlanNode,
    Product,
    Project,
    SemiJoin,
    Slice,
    Union,
)
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


def needs_triple(node: PlanNode, scope: Scope) -> bool:
    """Whether `node` certainly has no solution as long as `scope` has no triple."""
    match node:
        case Component():
            return node.scope == scope
        case Join(left, right):
            return needs_triple(left, scope) or needs_triple(right, scope)
        case Product(parts):
            return any(needs_triple(part, scope) for part in parts)
        case Union(parts):
            return all(needs_triple(part, scope) for part in parts)
        case LeftJoin() | SemiJoin() | AntiJoin() | MarkJoin():
            return needs_triple(node.left, scope)
        case Group():
            return not node.always and needs_triple(node.child, scope)
        case Filter() | Extend() | Project() | Distinct() | Slice() | Closure():
            return needs_triple(node.child, scope)
        case Values() | Ask() | Instantiate():
            return False
        case _:
            assert_never(node)


def _anything(columns: Columns) -> tuple[TriplePattern]:
    return (TriplePattern(*(Variable(columns.fresh("_:any")) for _ in range(3))),)
