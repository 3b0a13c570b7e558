"""Parameterized plans: with parameters in the place of constants, so that plans can be compared.

There is one per distinct constant, numbered by first occurrence in the walk of the plan. So two
nodes are equal with parameters just if they are equal with constants, and a plan and its
parameterized form have the same ids and store the same nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

from weir.plan.parameters import is_parameter, number_of, parameter
from weir.plan.plan import Plan
from weir.sparql.recursion import deep_recursion


@deep_recursion()
def parameterized(plan: Plan) -> tuple[Plan, tuple[str, ...]]:
    """A plan with parameters, and the constants that they are in it, in order."""
    numbers: dict[str, int] = {}

    def numbered(term: str) -> str:
        return parameter(numbers.setdefault(term, len(numbers)), term)

    for node in plan.ids:
        node.with_terms(numbered)
    return plan.map_nodes(lambda node: node.with_terms(numbered)), tuple(numbers)


@deep_recursion()
def with_constants(plan: Plan, constants: Sequence[str | None]) -> Plan:
    """A parameterized plan with constants in the place of its parameters.

    Args:
        plan: the parameterized plan.
        constants: the constant of each parameter; None for one that stays a parameter.
    """

    def constant(term: str) -> str:
        known = constants[number_of(term)] if is_parameter(term) else term
        return term if known is None else known

    return plan.map_nodes(lambda node: node.with_terms(constant))
