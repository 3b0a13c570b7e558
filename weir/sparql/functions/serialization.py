"""Expressions as compact text, the first argument of the SQL function `SPARQL_EVAL(text, terms)`.

The text is JSON. A number is a variable, by its slot in `terms`; a string is a constant; an array
is a call, beginning with the name of the function: `["&&",["BOUND",0],["=",0,"\\"x\\""]]`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import assert_never

from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable
from weir.sparql.algebra.scoping import variables_of
from weir.sparql.functions.evaluate import compiled, row_of
from weir.sparql.functions.special_forms import Compiled
from weir.sparql.functions.values import to_text

_Json = int | str | list["_Json"]


def encode(expression: Expression, variables: Sequence[str]) -> str:
    """`expression` as text; `variables[i]` becomes slot i.

    Raises:
        ValueError: the expression has a variable that is not among `variables`, or EXISTS, whose
            value does not depend on terms alone.
    """
    slots = {name: slot for slot, name in enumerate(variables)}
    missing = sorted(variables_of(expression) - slots.keys())
    if missing:
        raise ValueError(f"variables without a slot: {', '.join(missing)}")

    def json_of(part: Expression) -> _Json:
        match part:
            case Variable(name):
                return slots[name]
            case Constant(term):
                return term
            case Call(function, arguments):
                return [function, *map(json_of, arguments)]
            case Exists():
                raise ValueError("EXISTS is decided by a plan, not by an expression")
            case _:
                assert_never(part)

    return json.dumps(json_of(expression), ensure_ascii=False, separators=(",", ":"))


def decode(text: str) -> Expression:
    """The expression that `encode` wrote; slot i is the variable named `str(i)`.

    Raises:
        ValueError: the text is not one that `encode` writes.
    """

    def expression_of(part: object) -> Expression:
        match part:
            case bool():
                raise ValueError(f"no expression: {part}")
            case int():
                return Variable(str(part))
            case str():
                return Constant(part)
            case [str(function), *arguments]:
                return Call(function, tuple(map(expression_of, arguments)))
            case _:
                raise ValueError(f"no expression: {part}")

    return expression_of(json.loads(text))


def evaluate_row(text: str, terms: Sequence[str | None]) -> str | None:
    """The value of an encoded expression where slot i holds `terms[i]` (null = unbound).

    Terms and value are in N-Triples form; a null value is a SPARQL error.
    """
    value = _compiled(text, len(terms))(row_of(terms))
    return None if value is None else to_text(value)


@lru_cache(maxsize=1024)
def _compiled(text: str, width: int) -> Compiled:
    return compiled(decode(text), tuple(map(str, range(width))))
