"""Queries of one shape that are maintained together store what each stores by itself."""

from __future__ import annotations

from typing import get_args

import pytest

from tests.support.harness import run_in_cuts
from tests.support.laws import Seeds
from tests.support.shared_shapes import (
    GIVEN,
    GroupMemory,
    broken_laws,
    given_case,
    group_cases,
)
from weir.plan.leaves import Component, MemberComponent, MemberValues, Values
from weir.plan.operators import PlanNode, walk


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("name", GIVEN)
def test_members_of_a_given_group_store_what_they_store_alone(name: str) -> None:
    assert broken_laws(given_case(name)) == []


def test_the_ids_of_a_group_are_those_of_each_member() -> None:
    for case in map(given_case, GIVEN):
        group = GroupMemory(case.members, ()).group.plan
        for plan in case.members.values():
            assert [*group.ids.values()] == [*plan.ids.values()]
            stored = [[made.ids[node] for node in made.stored] for made in (group, plan)]
            assert stored[0] == stored[1]


@pytest.mark.usefixtures("sampled")
def test_the_given_groups_have_every_operator_and_members_with_different_rows() -> None:
    operators: set[type] = set()
    different = 0
    for case in map(given_case, GIVEN):
        memory = GroupMemory(case.members, case.history)
        run_in_cuts(memory, len(case.history), ())
        operators |= {type(node) for node in walk(memory.plan.root)}
        different += len({str(memory.stored_by(name)) for name in case.members}) > 1
    leaves = {MemberComponent: Component, MemberValues: Values}
    assert {leaves.get(operator, operator) for operator in operators} == {*get_args(PlanNode)}
    # Of four, no member meets a row that another does not.
    assert different >= len(GIVEN) - 4


@pytest.mark.law("groups")
def test_a_group_stores_the_rows_that_its_members_store_one_by_one(seeds: Seeds) -> None:
    """Of all nodes: from nothing, in small runs, and registered late."""
    seeds.check(lambda seed: [law for case in group_cases(seed) for law in broken_laws(case)])
