"""Expressions over columns, with EXISTS taken out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from jobs.sparql.algebra import patterns as algebra
from jobs.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable
from jobs.sparql.algebra.scoping import in_scope


def mentioned(expression: Expression) -> frozenset[str]:
    """The variables of an expression, and those anywhere in a pattern of an EXISTS in it."""
    match expression:
        case Variable(name):
            return frozenset({name})
        case Constant():
            return frozenset()
        case Call(_, arguments):
            return frozenset().union(*map(mentioned, arguments))
        case Exists(pattern):
            return mentioned_in(pattern)
        case _:
            assert_never(expression)


def mentioned_in(pattern: algebra.Pattern) -> frozenset[str]:
    """Every variable that occurs in a pattern, but those that its subqueries do not project."""
    names: set[str] = set()
    for part in _parts(pattern):
        match part:
            case algebra.Bgp() | algebra.PathPattern() | algebra.Values() | algebra.Project():
                names.update(in_scope(part))
            case algebra.Graph(Variable(name)):
                names.add(name)
            case algebra.Extend():
                names.add(part.variable)
            case algebra.Group():
                names.update(part.variables)
            case _:
                pass
        for expression in own_expressions(part):
            names |= mentioned(expression)
    return frozenset(names)


def _parts(pattern: algebra.Pattern) -> Iterator[algebra.Pattern]:
    """A pattern and all patterns below it; not those of EXISTS, nor what is below a projection."""
    yield pattern
    match pattern:
        case algebra.Bgp() | algebra.PathPattern() | algebra.Values() | algebra.Project():
            pass
        case algebra.Join() | algebra.LeftJoin() | algebra.Union() | algebra.Minus():
            yield from _parts(pattern.left)
            yield from _parts(pattern.right)
        case (
            algebra.Graph()
            | algebra.Extend()
            | algebra.Group()
            | algebra.Slice()
            | algebra.Filter()
            | algebra.Distinct()
            | algebra.Reduced()
        ):
            yield from _parts(pattern.pattern)
        case _:
            assert_never(pattern)


def own_expressions(pattern: algebra.Pattern) -> tuple[Expression, ...]:
    """The expressions of one algebra node."""
    match pattern:
        case algebra.LeftJoin():
            return () if pattern.condition is None else (pattern.condition,)
        case algebra.Filter():
            return (pattern.condition,)
        case algebra.Extend():
            return (pattern.expression,)
        case algebra.Group():
            arguments = (aggregate.argument for _, aggregate in pattern.aggregates)
            return tuple(argument for argument in arguments if argument is not None)
        case algebra.Slice():
            return tuple(key.expression for key in pattern.keys)
        case _:
            return ()


def has_exists(expression: Expression) -> bool:
    """Whether EXISTS occurs in it."""
    match expression:
        case Exists():
            return True
        case Call(_, arguments):
            return any(map(has_exists, arguments))
        case _:
            return False


def conjuncts(expression: Expression) -> tuple[Expression, ...]:
    """The parts of a conjunction, none of which is one."""
    if isinstance(expression, Call) and expression.function == "&&":
        return tuple(part for each in expression.arguments for part in conjuncts(each))
    return (expression,)


def with_seeds(expression: Expression, solution: tuple[str, ...], call: str) -> Expression:
    """`expression` with the solution as the first argument of each BNODE: its label stays the same.

    `call` tells this place of the query from others: two BNODE() of one solution differ.
    """
    if not isinstance(expression, Call):
        return expression
    arguments = tuple(
        with_seeds(argument, solution, f"{call}.{i}")
        for i, argument in enumerate(expression.arguments)
    )
    if expression.function == "BNODE":
        # BNODE(label) is the same node wherever a solution has it.
        place = Constant(f'"{call if not arguments else "label"}"')
        seed = Call("SOLUTION", (place, *map(Variable, solution)))
        return Call("BNODE", (seed, *arguments))
    return replace(expression, arguments=arguments)
