"""Parameters: what stands where a plan has a constant, so that plans can be compared.

A parameter begins with `$`, which no term does, then has the kind of its values, `<` for IRIs and
`"` for literals, and its number: `$<0`, `$"1`.

The constants of triple patterns, of inline data, of templates, and those at which a path starts are
parameters; those of an expression are if they are compared, computed with or given as a value.
Others stay: with another language range or regular expression the SQL of a condition is another,
and a long list is looked up as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, assert_never

from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable
from weir.sparql.algebra.patterns import Node, TriplePattern
from weir.sparql.algebra.traversal import arguments_of, map_arguments

_MARK = "$"
_IRI, _LITERAL = "<", '"'

_COMPARED = frozenset({"=", "!=", "<", ">", "<=", ">="})
_OVER_VALUES = _COMPARED | {
    *("IN", "NOT IN", "SAMETERM", "+", "-", "*", "/", "IF", "COALESCE"),
    *("CONTAINS", "STRSTARTS", "STRENDS"),
}
"""Calls whose constants are parameters: the evaluator treats them as it does a variable's value."""

MOST_OPTIONS = 64
"""Longer lists of IN, and longer inline data, stay: a parameter is a column of a relation."""

Change = Callable[[str], str]
"""From a term or parameter to the one in its place."""

Parameterizable: TypeAlias = "Expression | TriplePattern | tuple[Parameterizable, ...] | None"
"""What the fields of nodes hold constants in."""


def parameter(number: int, constant: str) -> str:
    """The parameter of this number in the place of `constant`."""
    kind = _IRI if constant.startswith(_IRI) else _LITERAL
    return f"{_MARK}{kind}{number}"


def is_parameter(term: str) -> bool:
    """Whether what stands for a term is a parameter."""
    return term.startswith(_MARK)


def is_iri(term: str) -> bool:
    """Whether a term is an IRI, or each value of a parameter is one."""
    return term.removeprefix(_MARK).startswith(_IRI)


def column_of(term: str) -> str:
    """The column of a parameter's values: `p<number>`."""
    return f"p{number_of(term)}"


def number_of(term: str) -> int:
    """The number of a parameter."""
    return int(term[2:])


def parameters_of(expressions: Iterable[Expression]) -> tuple[str, ...]:
    """The columns of the parameters that occur in `expressions`, each once, in order of names.

    Wherever they stand: an operator may have put a condition into calls around it.
    """
    terms = (term for expression in expressions for term in _constants(expression))
    return tuple(sorted({column_of(term) for term in terms if is_parameter(term)}))


def _constants(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Constant):
        yield expression.term
    for argument in arguments_of(expression):
        yield from _constants(argument)


def parameters_as_variables(expression: Expression) -> Expression:
    """`expression` with the column of each parameter as a variable in its place."""
    match expression:
        case Constant(term):
            return Variable(column_of(term)) if is_parameter(term) else expression
        case Variable() | Call() | Exists():
            return map_arguments(expression, parameters_as_variables)
        case _:
            assert_never(expression)


def with_terms(value: Parameterizable, change: Change) -> Parameterizable:
    """What the field of a node holds, with other terms in the place of parameters and constants."""
    match value:
        case None:
            return None
        case tuple():
            return tuple(with_terms(item, change) for item in value)
        case TriplePattern(subject, predicate, object_):
            return TriplePattern(
                _with_term(subject, change),
                _with_term(predicate, change),
                _with_term(object_, change),
            )
        case Variable() | Constant() | Call() | Exists():
            return _with_values(value, change)
        case _:
            assert_never(value)


def _with_term(node: Node, change: Change) -> Node:
    return Constant(change(node.term)) if isinstance(node, Constant) else node


def _with_values(expression: Expression, change: Change) -> Expression:
    """An expression with other constants, where those are parameters."""
    match expression:
        case Constant(term):
            return Constant(change(term))
        case Call(function, arguments) if _is_over_values(function, arguments):
            return Call(function, tuple(_with_values(part, change) for part in arguments))
        case Call(function, arguments):
            # Inside of an argument there may be values again.
            inner = (
                part if isinstance(part, Constant) else _with_values(part, change)
                for part in arguments
            )
            return Call(function, tuple(inner))
        case Variable() | Exists():
            return expression
        case _:
            assert_never(expression)


def _is_over_values(function: str, arguments: tuple[Expression, ...]) -> bool:
    """Whether constants among the arguments of a call are parameters."""
    if function.upper() not in _OVER_VALUES or len(arguments) > MOST_OPTIONS + 1:
        return False
    # The language in a comparison decides its SQL.
    is_language = any(isinstance(part, Call) and part.function == "LANG" for part in arguments)
    return not (function in _COMPARED and is_language)
