"""Which columns of a plan have quotients: AVG, `/`, and what is computed from these.

As `xsd:decimal` they have as many digits as the engine gives them, and each later one may have
more: no decimal with a fixed number of them fits.
"""

from __future__ import annotations

from weir.plan import operators
from weir.plan.operators import walk
from weir.plan.plan import Plan
from weir.sparql.algebra.expressions import Call, Expression, Variable
from weir.sparql.recursion import deep_recursion

_ARITHMETIC = frozenset({"+", "-", "*", "NEG", "POS", "COALESCE", "IF", "ABS"})


@deep_recursion()
def quotients(plan: Plan) -> frozenset[str]:
    """The published columns that have quotients."""
    own = set[str]()
    # Nodes come before those that they read.
    for node in reversed([*walk(plan.root)]):
        match node:
            case operators.Extend(variable, expression, _):
                if _is_quotient(expression, own):
                    own.add(variable)
            case operators.Group(_, aggregates, _):
                own |= {
                    name
                    for name, one in aggregates
                    if one.function == "AVG"
                    or (one.function in ("SUM", "MIN", "MAX", "SAMPLE") and one.argument in own)
                }
            case _:
                pass
    return frozenset(name for name, column in plan.columns if column in own)


def _is_quotient(expression: Expression, own: set[str]) -> bool:
    match expression:
        case Variable(name):
            return name in own
        case Call("/"):
            return True
        case Call(function, arguments) if function in _ARITHMETIC:
            return any(_is_quotient(argument, own) for argument in arguments)
        case _:
            return False
