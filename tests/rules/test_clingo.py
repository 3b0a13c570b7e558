"""Answers of programs are those of clingo, a solver of answer sets, by Ticker's encoding."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.lars.ticker import output_by_clingo
from tests.support.laws import Seeds
from tests.support.rules.cases import RuleCase, rule_case
from tests.support.rules.given import GIVEN, given_case
from tests.support.rules.laws import ProgramMeaning, different_states
from tests.support.rules.memory import memory_of


@pytest.mark.parametrize("name", GIVEN)
def test_the_log_of_a_written_program_is_the_answer_of_clingo(name: str) -> None:
    assert not [*_different_from_clingo(given_case(name))]


@pytest.mark.law("programs by clingo")
def test_the_log_is_the_answer_of_clingo_at_every_epoch_and_point(seeds: Seeds) -> None:
    seeds.check(lambda seed: _different_from_clingo(rule_case(seed)))


def _different_from_clingo(case: RuleCase) -> Iterator[str]:
    memory = memory_of(case)
    memory.run(0, len(case.epochs))
    meaning = ProgramMeaning(case, output_by_clingo)
    for difference in different_states(case, meaning, memory.log()):
        yield f"seed {case.seed}: {difference}"
