"""SERVICE: the answer over the mappings that the replicas have."""

from __future__ import annotations

import gc
import os

import pytest

from tests.support.services.cases import service_case
from tests.support.services.laws import broken_laws

CASES, PARTS = int(os.environ.get("WEIR_SERVICE_QUERIES", "40")), 20
"""Queries, each with 20 histories."""


@pytest.mark.parametrize("part", range(PARTS))
def test_the_answer_is_that_over_the_mappings_of_the_replicas(part: int) -> None:
    broken: list[str] = []
    # Trees of SQL are cycles: they are collected at the end only.
    gc.disable()
    try:
        for seed in range(part, CASES, PARTS):
            broken += broken_laws(service_case(seed))
    finally:
        gc.enable()
        gc.collect()
    assert not broken
