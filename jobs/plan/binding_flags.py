"""Which variables a pattern binds itself, where EXISTS gives them values as well.

MINUS asks whether two solutions share a variable. One that is only carried, because the solution
around an EXISTS has it, is not shared: https://www.w3.org/TR/sparql11-query/#defn_algMinus.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from jobs.sparql.algebra import patterns as algebra
from jobs.sparql.algebra.expressions import Call, Constant, Expression, Variable
from jobs.sparql.algebra.scoping import in_scope

_BOUND = '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'


def marked(pattern: algebra.Pattern, marks: Mapping[str, str]) -> algebra.Pattern:
    """`pattern` with one more variable for each in `marks`: bound where the pattern binds that."""
    if not marks:
        return pattern
    match pattern:
        case algebra.Bgp() | algebra.PathPattern():
            return _with(pattern, tuple(marks[n] for n in in_scope(pattern) if n in marks))
        case algebra.Values(variables, rows):
            places = [i for i, name in enumerate(variables) if name in marks]
            own = tuple(marks[variables[i]] for i in places)
            flags = [tuple(None if row[i] is None else _BOUND for i in places) for row in rows]
            both = tuple((*row, *flag) for row, flag in zip(rows, flags, strict=True))
            return algebra.Values((*variables, *own), both)
        case algebra.Join() | algebra.LeftJoin() | algebra.Union():
            left, right = marked(pattern.left, marks), marked(pattern.right, marks)
            return replace(pattern, left=left, right=right)
        case algebra.Minus():
            return replace(pattern, left=marked(pattern.left, marks))
        case algebra.Graph(name, inner):
            own = (name.name,) if isinstance(name, Variable) else ()
            outer = {n: marks[n] for n in own if n in marks}
            inside = {n: mark for n, mark in marks.items() if n not in outer}
            return _with(algebra.Graph(name, marked(inner, inside)), tuple(outer.values()))
        case algebra.Extend(inner, variable, expression):
            bound = algebra.Extend(marked(inner, marks), variable, expression)
            if variable not in marks:
                return bound
            return algebra.Extend(bound, marks[variable], _true_if_no_error(expression))
        case algebra.Project(variables, inner):
            shown = {name: marks[name] for name in variables if name in marks}
            return algebra.Project((*variables, *shown.values()), marked(inner, shown))
        case algebra.Group(variables, aggregates, inner):
            keys = {name: marks[name] for name in variables if name in marks}
            return algebra.Group((*variables, *keys.values()), aggregates, marked(inner, keys))
        case algebra.Slice() | algebra.Filter() | algebra.Distinct() | algebra.Reduced():
            return replace(pattern, pattern=marked(pattern.pattern, marks))
        case _:
            assert_never(pattern)


def _with(pattern: algebra.Pattern, names: tuple[str, ...]) -> algebra.Pattern:
    for name in names:
        pattern = algebra.Extend(pattern, name, Constant(_BOUND))
    return pattern


def _true_if_no_error(expression: Expression) -> Expression:
    return Call("SAMETERM", (expression, expression))
