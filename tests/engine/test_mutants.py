"""Every mutant applies to the current code; `python -m tests.mutants` reports which are killed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants.definitions import MUTANTS
from tests.mutants.mutant import Mutant
from tests.mutants.protocol import PROTOCOL_MUTANTS

PROJECT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_the_current_code(mutant: Mutant) -> None:
    source = (PROJECT / mutant.path).read_text()
    broken = mutant.apply(source)
    assert ast.dump(ast.parse(broken)) != ast.dump(ast.parse(source))


@pytest.mark.parametrize("mutant", PROTOCOL_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_of_the_protocol_names_the_tests_that_kill_it(mutant: Mutant) -> None:
    assert mutant.tests
    assert all((PROJECT / test.partition("::")[0]).is_file() for test in mutant.tests)


def test_there_are_many_mutants_with_unique_names() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 69
