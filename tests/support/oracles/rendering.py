"""Expressions as SPARQL text, and their values by pyoxigraph, the oracle of the evaluator."""

from __future__ import annotations

from typing import assert_never

import pyoxigraph

from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable

_INFIX = frozenset(["||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/"])
_PREFIX = {"!": "!", "NEG": "-", "POS": "+"}


def to_sparql(expression: Expression) -> str:
    """The SPARQL text of an expression, fully parenthesised."""
    match expression:
        case Variable(name):
            return f"?{name}"
        case Constant(term):
            return term
        case Call(function, arguments):
            parts = [to_sparql(argument) for argument in arguments]
            if function in _INFIX:
                return "(" + f" {function} ".join(parts) + ")"
            if function in _PREFIX:
                return f"({_PREFIX[function]} ({parts[0]}))"
            if function in ("IN", "NOT IN"):
                return f"({parts[0]} {function} ({', '.join(parts[1:])}))"
            return f"{function}({', '.join(parts)})"
        case Exists():
            raise ValueError("a pattern is not rendered")
        case _:
            assert_never(expression)


def pyoxigraph_value(expression: Expression, solution: dict[str, str | None]) -> str | None:
    """What pyoxigraph gives for `expression` under `solution`; None for an error."""
    names = sorted(solution)
    row = " ".join(solution[name] or "UNDEF" for name in names)
    values = f"VALUES ({' '.join(f'?{name}' for name in names)}) {{ ({row}) }}" if names else ""
    text = f"SELECT ?result {{ {values} BIND({to_sparql(expression)} AS ?result) }}"
    results = pyoxigraph.Store().query(text)
    assert isinstance(results, pyoxigraph.QuerySolutions)
    (answer,) = results
    value = answer["result"]
    return None if value is None else str(value)
