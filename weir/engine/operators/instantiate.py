"""Instantiate: the triples that a CONSTRUCT template makes of each solution, as a bag.

    delta Instantiate(C) = Instantiate(delta C)

A triple with an unbound part, a literal subject or a predicate that is no IRI is left out.
https://www.w3.org/TR/sparql11-query/#construct
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from weir.compute.sql import (
    alias,
    any_of,
    as_text,
    coalesce,
    column,
    columns,
    concatenated,
    is_not_null,
    select,
    subquery,
    text,
    union_all,
)
from weir.engine.relations import CHANGE
from weir.engine.run import Run
from weir.engine.terms import begins
from weir.plan.leaves import MEMBER
from weir.plan.operators import Instantiate
from weir.plan.parameters import column_of, is_parameter
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import Node, TriplePattern


def delta(node: Instantiate, run: Run) -> exp.Query:
    """The triples of each row of the child."""
    template = (part for pattern in node.template for part in pattern.nodes)
    names = (*node.child.variables, *CHANGE)
    solutions = run.with_parameters(run.child(node.child), names, *template)
    return union_all([_triples(node, pattern, solutions.copy()) for pattern in node.template])


def _triples(node: Instantiate, pattern: TriplePattern, solutions: exp.Query) -> exp.Select:
    terms = [_template_term(node, part) for part in pattern.nodes]
    member = tuple(name for name in node.variables if name == MEMBER)
    made = select(
        *columns(member),
        *(alias(term, name) for term, name in zip(terms, node.targets, strict=True)),
        *columns(CHANGE),
        from_=subquery(solutions, "child"),
    )
    subject, predicate, object_ = (column(name) for name in node.targets)
    return select(
        *columns((*node.variables, *CHANGE)),
        from_=subquery(made, "made"),
        where=[
            any_of([begins(subject, "<"), begins(subject, "_")]),
            begins(predicate, "<"),
            is_not_null(object_),
        ],
    )


def _template_term(node: Instantiate, part: Node) -> exp.Expr:
    match part:
        case Constant(term):
            return column(column_of(term)) if is_parameter(term) else text(term)
        case Variable(name) if name in node.blank_nodes:
            return _blank_node(name, node.child.variables)
        case Variable(name):
            return column(name) if name in node.child.variables else as_text(exp.null())
        case _:
            assert_never(part)


def _blank_node(name: str, solution: tuple[str, ...]) -> exp.Expr:
    """A label from the template's blank node and the solution's terms, each with its length."""
    described = [text(name)]
    # Labels are those of the member's own plan.
    for variable in (column_name for column_name in solution if column_name != MEMBER):
        length = as_text(exp.Length(this=column(variable)))
        term = concatenated(text(" "), length, text(":"), column(variable))
        described.append(coalesce(term, text(" -")))
    return concatenated(text("_:b"), exp.MD5(this=concatenated(*described)))
