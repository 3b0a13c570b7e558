"""What EXISTS has to tell its pattern of the solution around it.

EXISTS puts the values of the solution into its pattern. For most variables joining with the
solution at the end is the same: https://www.w3.org/TR/sparql11-query/#defn_substitute.
"""

from __future__ import annotations

from typing import assert_never

from jobs.plan.context import Context
from jobs.plan.expressions import mentioned, mentioned_in, own_expressions
from jobs.plan.leaves import Component
from jobs.plan.operators import (
    AntiJoin,
    Distinct,
    Extend,
    Filter,
    Join,
    LeftJoin,
    MarkJoin,
    PlanNode,
    Product,
    Project,
    SemiJoin,
    Slice,
)
from jobs.sparql.algebra import patterns as algebra
from jobs.sparql.algebra.expressions import Variable
from jobs.sparql.algebra.paths import may_take_no_step
from jobs.sparql.algebra.scoping import in_scope

_Names = frozenset[str]


def seen_inside(pattern: algebra.Pattern, terms: _Names = frozenset()) -> _Names:
    """Variables whose values from outside a pattern decide what happens inside it.

    For the others, joining with the outside at the end is the same. It comes too late where a
    variable is not surely bound by the pattern that an expression is about, or on the left of an
    OPTIONAL or MINUS whose right side has it, where solutions are counted or cut off, and where a
    path may take no step: a value connects with itself though the graph may not have it.

    `terms`: variables whose values are, where this is joined, subjects or objects of the graph.
    """
    own = frozenset[str]().union(*(mentioned(e) for e in own_expressions(pattern)))
    match pattern:
        case algebra.PathPattern(_, path) if may_take_no_step(path, both_ends=True):
            ends = frozenset(in_scope(pattern))
            return frozenset() if ends & terms else ends
        case algebra.Bgp() | algebra.PathPattern() | algebra.Values():
            return frozenset()
        case algebra.Join(left, right):
            of_left = seen_inside(left, terms | _surely_terms(right))
            return of_left | seen_inside(right, terms | _surely_terms(left))
        case algebra.Union(left, right):
            return seen_inside(left, terms) | seen_inside(right, terms)
        case algebra.LeftJoin(left, right) | algebra.Minus(left, right):
            late = (own | mentioned_in(right)) - surely_bound(left)
            inside = seen_inside(right, terms | _surely_terms(left))
            return late | seen_inside(left, terms) | inside
        case algebra.Group(variables, _, inner):
            # The values of a key make no other groups; what they decide below, they decide still.
            keys = frozenset(variables)
            return ((own | mentioned_in(inner)) - keys) | seen_inside(inner, terms & keys)
        case algebra.Slice(inner):
            return own | mentioned_in(inner)
        case algebra.Project(variables, inner):
            shown = frozenset(variables)
            return seen_inside(inner, terms & shown) & shown
        case algebra.Filter(_, inner) | algebra.Extend(inner):
            return (own - surely_bound(inner)) | seen_inside(inner, terms)
        case algebra.Graph(_, inner):
            return seen_inside(inner)
        case algebra.Distinct(inner) | algebra.Reduced(inner):
            return seen_inside(inner, terms)
        case _:
            assert_never(pattern)


def terms_of_graph(node: PlanNode, context: Context) -> _Names:
    """Columns of `node` whose values are subjects or objects of the graph of `context`.

    As `_surely_terms`, for the outside, which has been lowered when its EXISTS is.
    """
    match node:
        case Component(patterns):
            here = (node.scope, node.graph) == (context.scope, context.graph)
            return _ends(patterns) if here else frozenset()
        case Join(left, right):
            return terms_of_graph(left, context) | terms_of_graph(right, context)
        case Product(parts):
            return frozenset[str]().union(*(terms_of_graph(part, context) for part in parts))
        case LeftJoin() | SemiJoin() | AntiJoin() | MarkJoin():
            return terms_of_graph(node.left, context)
        case Filter() | Extend() | Distinct() | Slice():
            return terms_of_graph(node.child, context)
        case Project(variables, child):
            return terms_of_graph(child, context) & frozenset(variables)
        case _:
            return frozenset()


def _surely_terms(pattern: algebra.Pattern) -> _Names:
    """Variables that the triple patterns of a pattern bind to subjects or objects of its graph."""
    match pattern:
        case algebra.Bgp(patterns):
            return _ends(patterns)
        case algebra.Join(left, right):
            return _surely_terms(left) | _surely_terms(right)
        case algebra.LeftJoin() | algebra.Minus():
            return _surely_terms(pattern.left)
        case algebra.Filter() | algebra.Extend() | algebra.Distinct():
            return _surely_terms(pattern.pattern)
        case _:
            return frozenset()


def _ends(patterns: tuple[algebra.TriplePattern, ...]) -> _Names:
    ends = (end for triple in patterns for end in (triple.subject, triple.object))
    return frozenset(end.name for end in ends if isinstance(end, Variable))


def surely_bound(pattern: algebra.Pattern) -> _Names:
    """Variables that the triple patterns right below an expression bind."""
    match pattern:
        case algebra.Bgp() | algebra.PathPattern():
            return frozenset(in_scope(pattern))
        case algebra.Join():
            return surely_bound(pattern.left) | surely_bound(pattern.right)
        case algebra.LeftJoin():
            return surely_bound(pattern.left)
        case algebra.Filter() | algebra.Extend() | algebra.Distinct() | algebra.Slice():
            return surely_bound(pattern.pattern)
        case algebra.Group():
            # Its expressions are about the solutions that are grouped.
            return surely_bound(pattern.pattern)
        case _:
            return frozenset()
