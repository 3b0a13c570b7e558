"""The evaluator of SPARQL expressions.

An expression is compiled once, to nested functions of a row of typed values. In a row, None is an
unbound variable; as a result, None is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import assert_never

from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable
from weir.sparql.functions.internal import INTERNAL_FORMS, INTERNAL_FUNCTIONS
from weir.sparql.functions.library import FUNCTIONS
from weir.sparql.functions.special_forms import SPECIAL_FORMS, Compiled, Row, SpecialForm
from weir.sparql.functions.values import Value, parse

_FUNCTIONS = FUNCTIONS | INTERNAL_FUNCTIONS
_SPECIAL_FORMS = SPECIAL_FORMS | INTERNAL_FORMS


@lru_cache(maxsize=4096)
def compiled(expression: Expression, names: Sequence[str]) -> Compiled:
    """`expression` as a function of a row, which has the values of the variables `names` in order.

    Raises:
        ValueError: a call of a function that does not exist, or with a wrong number of arguments,
            or EXISTS.
        weir.rdf.terms.TermError: a constant is not an RDF term.
    """
    match expression:
        case Variable(name):
            return _variable(names.index(name))
        case Constant(term):
            return _constant(parse(term))
        case Call(function, arguments):
            parts = tuple(compiled(argument, names) for argument in arguments)
            return _call(function, arguments, parts)
        case Exists():
            raise ValueError("EXISTS is decided by a plan, not by an expression")
        case _:
            assert_never(expression)


def row_of(terms: Sequence[str | None]) -> list[Value | None]:
    """The typed values of a row of terms.

    Raises:
        weir.rdf.terms.TermError: one is not an RDF term.
    """
    return [None if term is None else parse(term) for term in terms]


def _variable(slot: int) -> Compiled:
    return lambda row: row[slot]


def _constant(value: Value) -> Compiled:
    return lambda _: value


def _call(
    function: str, arguments: tuple[Expression, ...], parts: tuple[Compiled, ...]
) -> Compiled:
    definition = _SPECIAL_FORMS.get(function) or _FUNCTIONS.get(function)
    if definition is None or not definition.arity.accepts(len(parts)):
        raise ValueError(f"no function {function} of {len(parts)} arguments")
    if function == "BOUND" and not isinstance(arguments[0], Variable):
        raise ValueError("BOUND takes a variable")
    if isinstance(definition, SpecialForm):
        return definition.make(*parts)
    implementation = definition.implementation

    def run(row: Row) -> Value | None:
        values = [part(row) for part in parts]
        return None if any(value is None for value in values) else implementation(*values)

    return run
