"""Programs over random histories: the log is right at every epoch and point, in any runs."""

from __future__ import annotations

import gc
import os

import pytest

from tests.support.rules.cases import rule_case
from tests.support.rules.given import GIVEN, given_case
from tests.support.rules.laws import broken_laws

CASES = int(os.environ.get("WEIR_RULE_CASES", "1000"))
PARTS = 40


@pytest.mark.parametrize("name", GIVEN)
def test_the_log_of_a_written_program_is_the_output_of_the_definitions(name: str) -> None:
    assert not broken_laws(given_case(name))


@pytest.mark.parametrize("part", range(PARTS))
def test_the_log_is_the_output_of_the_definitions_in_any_runs(part: int) -> None:
    broken: list[str] = []
    # Trees of SQL are cycles: they are collected at the end only.
    gc.disable()
    try:
        for seed in range(part, CASES, PARTS):
            broken += broken_laws(rule_case(seed))
    finally:
        gc.enable()
        gc.collect()
    assert not broken
