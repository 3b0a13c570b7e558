"""Correlation: which variables of the solution around an EXISTS its pattern depends on.

EXISTS substitutes the values of the solution in its pattern. For most variables, joining the
pattern's solutions with the solution is the same:
https://www.w3.org/TR/sparql11-query/#defn_substitute. The others are correlated.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from weir.sparql.algebra import patterns as algebra
from weir.sparql.algebra.paths import may_have_length_zero
from weir.sparql.algebra.scoping import free_variables, free_variables_of, is_hidden

_Names = frozenset[str]


def correlated_variables(pattern: algebra.Pattern, terms: _Names = frozenset()) -> _Names:
    """Variables whose values from outside decide which solutions parts of `pattern` have.

    For the others, joining with the outside at the end is the same. It comes too late

    - where an expression sees a variable that the pattern below it does not certainly bind,
    - where the right side of an OPTIONAL or MINUS has a variable that the left does not,
    - where solutions are counted or cut off,
    - where a path may have length zero: a value connects with itself, in the graph or not.

    `terms`: variables whose values are, where this is joined, subjects or objects of the graph.
    """
    own = _union(map(free_variables_of, pattern.expressions))
    match pattern:
        case algebra.PathPattern(_, path) if may_have_length_zero(path, both_ends=True):
            ends = frozenset(pattern.in_scope)
            return frozenset() if ends & terms else ends
        case algebra.Leaf():
            return frozenset()
        case algebra.Join(left, right):
            of_left = correlated_variables(left, terms | right.graph_terms)
            return of_left | correlated_variables(right, terms | left.graph_terms)
        case algebra.LeftJoin(left, right) | algebra.Minus(left, right):
            late = (own | free_variables(right)) - left.certain
            of_right = correlated_variables(right, terms | left.graph_terms)
            return late | correlated_variables(left, terms) | of_right
        case algebra.Group(variables, _, inner):
            # The values of a key make no other groups; what they decide below, they decide still.
            keys = frozenset(variables)
            counted = (own | free_variables(inner)) - keys
            return counted | correlated_variables(inner, terms & keys)
        case algebra.Slice(inner):
            return own | free_variables(inner)
        case algebra.Project(variables, inner):
            shown = frozenset(variables)
            return correlated_variables(inner, terms & shown) & shown
        case algebra.Selection():
            inner = pattern.pattern
            return (own - inner.certain) | correlated_variables(inner, terms)
        case algebra.Graph(_, inner):
            # Inside are the terms of another graph.
            return correlated_variables(inner)
        case algebra.Union(left, right):
            return correlated_variables(left, terms) | correlated_variables(right, terms)
        case _:
            assert_never(pattern)


def independent_variables(pattern: algebra.Pattern, terms: _Names = frozenset()) -> _Names:
    """Variables of solutions of `pattern` whose values decide nothing inside of it.

    Joining with their values is the same at any place inside where they are bound, and at the end.
    """
    visible = frozenset(name for name in pattern.in_scope if not is_hidden(name))
    return visible - correlated_variables(pattern, terms)


def _union(sets: Iterable[_Names]) -> _Names:
    return frozenset[str]().union(*sets)
