"""The plan of a group: queries of one shape as one plan, whose solutions say whose they are.

The members of a group are queries with equal parameterized plans. In the group's plan every node
has the column `member`: the leaves make it, one solution for each member and its parameters, and
every operator has it in its key. So the rows of a member are those of its own plan, and its nodes
have the ids that they have there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weir.plan.parameterized import with_constants
from weir.plan.plan import Plan
from weir.sparql.recursion import deep_recursion


@dataclass(frozen=True, slots=True)
class MembersPlan:
    """The plan of a group, and the parameters of its members.

    Attributes:
        plan: the plan; it reads the relation of the members.
        columns: of that relation, beside `member`: one for each parameter in which members differ.
        rows: per member the constants in these columns.
    """

    plan: Plan
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def plan_of_members(general: Plan, constants: Sequence[tuple[str, ...]]) -> MembersPlan:
    """The plan of a group.

    Args:
        general: the parameterized plan of all members.
        constants: per member its constants, one for each parameter.
    """
    # Who has the same constant everywhere needs no join, and an optimizer would make it first.
    first, *others = constants
    differs = [any(theirs[i] != term for theirs in others) for i, term in enumerate(first)]
    fixed = [None if own else term for own, term in zip(differs, first, strict=True)]
    own = [i for i, differ in enumerate(differs) if differ]
    return MembersPlan(
        for_members(with_constants(general, fixed)),
        tuple(f"p{i}" for i in own),
        tuple(tuple(terms[i] for i in own) for terms in constants),
    )


@deep_recursion()
def for_members(general: Plan) -> Plan:
    """A plan with the column `member` in every node."""
    return general.map_nodes(lambda node: node.with_member())
