"""Flags for the variables that a pattern binds itself, where EXISTS gives them values as well.

MINUS asks whether two solutions share a variable. One that is only carried, because the solution
around an EXISTS has it, is not shared: https://www.w3.org/TR/sparql11-query/#defn_algMinus.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from weir.sparql.algebra import patterns as algebra
from weir.sparql.algebra.expressions import Call, Constant, Expression, Variable

_BOUND = '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'


def with_binding_flags(pattern: algebra.Pattern, flags: Mapping[str, str]) -> algebra.Pattern:
    """`pattern` with one more variable for each in `flags`: bound where the pattern binds that."""
    if not flags:
        return pattern
    match pattern:
        case algebra.Bgp() | algebra.PathPattern():
            return _raised(pattern, tuple(flags[n] for n in pattern.in_scope if n in flags))
        case algebra.Values(variables, rows):
            places = [i for i, name in enumerate(variables) if name in flags]
            own = tuple(flags[variables[i]] for i in places)
            raised = [tuple(None if row[i] is None else _BOUND for i in places) for row in rows]
            both = tuple((*row, *more) for row, more in zip(rows, raised, strict=True))
            return algebra.Values((*variables, *own), both)
        case algebra.Service(variables=variables):
            raised_by = tuple((name, flags[name]) for name in variables if name in flags)
            return replace(pattern, flags=(*pattern.flags, *raised_by))
        case algebra.Minus(left, right):
            return algebra.Minus(with_binding_flags(left, flags), right)
        case algebra.Graph(name, inner):
            own = (name.name,) if isinstance(name, Variable) else ()
            outer = {n: flags[n] for n in own if n in flags}
            inside = {n: flag for n, flag in flags.items() if n not in outer}
            inner = with_binding_flags(inner, inside)
            return _raised(algebra.Graph(name, inner), tuple(outer.values()))
        case algebra.Extend(inner, variable, expression):
            bound = algebra.Extend(with_binding_flags(inner, flags), variable, expression)
            if variable not in flags:
                return bound
            return algebra.Extend(bound, flags[variable], _true_if_no_error(expression))
        case algebra.Project(variables, inner):
            shown = {name: flags[name] for name in variables if name in flags}
            inner = with_binding_flags(inner, shown)
            return algebra.Project((*variables, *shown.values()), inner)
        case algebra.Group(variables, aggregates, inner):
            keys = {name: flags[name] for name in variables if name in flags}
            inner = with_binding_flags(inner, keys)
            return algebra.Group((*variables, *keys.values()), aggregates, inner)
        case algebra.Unary() | algebra.Binary():
            return pattern.map_children(lambda child: with_binding_flags(child, flags))
        case _:
            assert_never(pattern)


def _raised(pattern: algebra.Pattern, flags: tuple[str, ...]) -> algebra.Pattern:
    for name in flags:
        pattern = algebra.Extend(pattern, name, Constant(_BOUND))
    return pattern


def _true_if_no_error(expression: Expression) -> Expression:
    return Call("SAMETERM", (expression, expression))
