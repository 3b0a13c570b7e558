"""Which columns of a plan have quotients: AVG, `/`, and what is computed from these.

As `xsd:decimal` they have as many digits as the engine gives them, and each later one may have
more: no decimal with a fixed number of them fits.
"""

from __future__ import annotations

from weir.plan import operators
from weir.plan.operators import PlanNode
from weir.plan.plan import Plan
from weir.sparql.algebra.expressions import Call, Expression, Variable
from weir.sparql.recursion import deep_recursion

_OF_VALUES = frozenset({"SUM", "MIN", "MAX", "SAMPLE"})
_ARITHMETIC = frozenset({"+", "-", "*", "NEG", "POS", "COALESCE", "IF", "ABS"})


@deep_recursion()
def quotients(plan: Plan) -> frozenset[str]:
    """The published columns that have quotients."""
    own = _of(plan.root, {})
    return frozenset(name for name, column in plan.columns if column in own)


def _of(node: PlanNode, known: dict[PlanNode, frozenset[str]]) -> frozenset[str]:
    """The columns of a node that have quotients; each node once, however many read it."""
    if node not in known:
        below = frozenset[str]().union(*(_of(child, known) for child in node.children))
        made = frozenset[str]()
        match node:
            case operators.Extend(variable, expression, _) if _is_quotient(expression, below):
                made = frozenset({variable})
            case operators.Group(_, aggregates, _):
                made = frozenset(name for name, one in aggregates if _has_quotients(one, below))
            case _:
                pass
        known[node] = (below | made).intersection(node.variables)
    return known[node]


def _has_quotients(aggregate: operators.Aggregate, below: frozenset[str]) -> bool:
    is_of_some = aggregate.argument in below
    return aggregate.function == "AVG" or (aggregate.function in _OF_VALUES and is_of_some)


def _is_quotient(expression: Expression, own: frozenset[str]) -> bool:
    match expression:
        case Variable(name):
            return name in own
        case Call("/"):
            return True
        case Call(function, arguments) if function in _ARITHMETIC:
            return any(_is_quotient(argument, own) for argument in arguments)
        case _:
            return False
