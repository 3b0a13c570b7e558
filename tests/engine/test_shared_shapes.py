"""Queries of one shape that are maintained together store what each stores by itself."""

from __future__ import annotations

import os

import pytest

from tests.support.shared_shapes import broken_laws, group_case

GROUPS = int(os.environ.get("WEIR_GROUP_LAWS", "300"))
PARTS = 10
"""Into which the groups are split, so that pytest's workers share them."""


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_group_stores_the_rows_that_its_members_store_one_by_one(part: int) -> None:
    """Of all nodes: from nothing, in small runs, and registered late."""
    broken = [line for seed in range(part, GROUPS, PARTS) for line in broken_laws(group_case(seed))]
    assert not broken, f"{len(broken)} broken laws:\n" + "\n".join(broken[:20])
