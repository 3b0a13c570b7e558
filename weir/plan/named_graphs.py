"""GRAPH: a pattern in one named graph or window, or in each graph with its name in a variable.

https://www.w3.org/TR/sparql11-query/#sparqlAlgebraEval, eval(D(G), Graph(...)).
"""

from __future__ import annotations

from typing import assert_never

from weir.plan.assignments import unified
from weir.plan.context import Context
from weir.plan.graph_names import graph_names, has_graph
from weir.plan.joins import joined
from weir.plan.lowering import Lowering
from weir.plan.operators import PlanNode, Project
from weir.plan.scope import Scope
from weir.rdf.reserved_graphs import document_graph, may_be_document, traversal_of
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import Node, Pattern
from weir.sparql.algebra.scoping import free_variables


def lower_graph(name: Node, pattern: Pattern, context: Context, lowering: Lowering) -> PlanNode:
    """The plan of `GRAPH name { pattern }` or `WINDOW name { pattern }`."""
    match name:
        case Constant(term) if term in lowering.windows:
            # A window always exists, with triples or without: unlike a graph, it needs none.
            return context.carry(lowering.pattern(pattern, context.inside(Scope(window=term))))
        case Constant(term):
            return context.carry(_in_graph(term, pattern, context, lowering))
        case Variable(variable):
            return context.carry(_in_each_graph(variable, pattern, context, lowering))
        case _:
            assert_never(name)


def _in_graph(term: str, pattern: Pattern, context: Context, lowering: Lowering) -> PlanNode:
    scope = Scope(_graphs_named(term, lowering.named))
    node = lowering.pattern(pattern, context.inside(scope))
    if not node.needs_triple(scope):
        node = joined(node, has_graph(lowering.columns, scope))
    return node


def _graphs_named(term: str, named: Scope) -> tuple[str, ...]:
    """The graphs as stored that a name stands for: of each traversal that may have the document."""
    if named.graphs is None or traversal_of(term) in named.webs:
        return (term,)
    own = (term,) if term in named.graphs else ()
    if not may_be_document(term):
        return own
    return own + tuple(document_graph(web, term[1:-1]) for web in named.webs)


def _in_each_graph(
    variable: str, pattern: Pattern, context: Context, lowering: Lowering
) -> PlanNode:
    """The pattern in each named graph, and the variable bound to the graph's name.

    Inside, the variable is one like any other: it is joined with the name at the end.
    """
    columns = lowering.columns
    column = columns.column(variable)
    if variable not in free_variables(pattern):
        return lowering.pattern(pattern, _each_graph(column, context, lowering))
    graph = columns.fresh(f"_:{variable}")
    node = lowering.pattern(pattern, _each_graph(graph, context, lowering))
    bound = unified(node, column, graph)
    return Project(tuple(name for name in bound.variables if name != graph), bound)


def _each_graph(graph: str, context: Context, lowering: Lowering) -> Context:
    """The context of a pattern in each named graph that has a triple; `graph` carries its name."""
    if graph not in lowering.graph_names:
        lowering.graph_names[graph] = graph_names(lowering.columns, lowering.named, graph)
    return context.in_each_graph(lowering.named, graph, lowering.graph_names[graph])
