"""Programs over random histories: the log is right at every epoch and point, in any runs."""

from __future__ import annotations

import pytest

from tests.support.laws import Seeds
from tests.support.rules.cases import rule_case
from tests.support.rules.given import GIVEN, given_case
from tests.support.rules.laws import broken_laws


@pytest.mark.parametrize("name", GIVEN)
def test_the_log_of_a_written_program_is_the_output_of_the_definitions(name: str) -> None:
    assert not broken_laws(given_case(name))


@pytest.mark.law("programs")
def test_the_log_is_the_output_of_the_definitions_in_any_runs(seeds: Seeds) -> None:
    seeds.check(lambda seed: broken_laws(rule_case(seed)))
