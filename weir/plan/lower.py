"""Lowering: from the algebra of a query to its plan."""

from __future__ import annotations

from typing import assert_never

from weir.plan.context import Context
from weir.plan.lowering import Lowering
from weir.plan.operators import Ask, Distinct, Instantiate, Project
from weir.plan.patterns import lower_pattern
from weir.plan.plan import Plan
from weir.plan.scope import Scope
from weir.rdf.reserved_graphs import traversal_of
from weir.sparql.algebra import patterns as algebra
from weir.sparql.algebra import queries
from weir.sparql.algebra.scoping import is_hidden
from weir.sparql.algebra.services import pattern_id
from weir.sparql.recursion import deep_recursion

PLAN_FORMAT = 5
"""Part of every fingerprint. Raised when a repair of the engine gives equal plan nodes other
solutions, so that all stored embeddings are rebuilt. A change that lowers a query to other nodes
needs no new format: the fingerprint is made of the nodes.
"""

ANSWER_VARIABLE = "answer"
CONSTRUCT_COLUMNS = ("subject", "predicate", "object")


@deep_recursion()
def lower(query: queries.Query, *, allow_product: bool = False) -> Plan:
    """The plan of `query`.

    SELECT keeps the pattern's own projection; ASK is the existence of an empty solution; CONSTRUCT
    is the set of the triples that its template makes.
    """
    named = _named(query.dataset)
    windows = frozenset(window.name for window in query.windows)
    lowering = Lowering(lower_pattern, named, windows)
    columns = lowering.columns
    context = Context(_scope(query.dataset))
    match query.form:
        case queries.Select(pattern, variables):
            root = lowering.pattern(pattern, context)
            published = tuple((name, columns.column(name)) for name in variables)
            is_set = isinstance(pattern, algebra.Distinct)
        case queries.Ask(pattern):
            solutions = lowering.pattern(pattern, context)
            column = columns.fresh(ANSWER_VARIABLE)
            root = Ask(column, Distinct(Project((), solutions)))
            published, is_set = ((ANSWER_VARIABLE, column),), True
        case queries.Construct(template, pattern):
            solutions = lowering.pattern(pattern, context)
            targets = tuple(columns.fresh(name) for name in CONSTRUCT_COLUMNS)
            subject, predicate, object_ = targets
            bound = set(solutions.variables)
            renamed = tuple(columns.pattern(pattern) for pattern in template)
            blank = frozenset(
                columns.column(name)
                for pattern in template
                for name in pattern.variables
                if is_hidden(name) and columns.column(name) not in bound
            )
            root = Distinct(Instantiate(renamed, (subject, predicate, object_), blank, solutions))
            published, is_set = tuple(zip(CONSTRUCT_COLUMNS, targets, strict=True)), True
        case _:
            assert_never(query.form)
    asked = tuple(
        (pattern_id(asked_block.service), lowering.pattern(asked_block.keys, context))
        for asked_block in query.asked
        if asked_block.keys is not None
    )
    return Plan(root, columns.names, published, is_set, allow_product, asked)


def _named(dataset: queries.Dataset) -> Scope:
    """The named graphs; of a traversal that is named, its documents."""
    if dataset.named_graphs is None:
        return Scope(each=True)
    webs = {graph: traversal_of(graph) for graph in dataset.named_graphs}
    graphs = tuple(graph for graph, web in webs.items() if web is None)
    return Scope(graphs, each=True, webs=tuple(web for web in webs.values() if web is not None))


def _scope(dataset: queries.Dataset) -> Scope:
    derived = tuple(sorted(set(dataset.derived)))
    if dataset.from_graphs is not None:
        return Scope(tuple(sorted(set(dataset.from_graphs))), derived=derived)
    return Scope(("",) if dataset.default_graph == "default" else None, derived=derived)
