"""Every mutant applies to the current code.

`python -m tests.mutants` runs all.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants.areas import AREAS
from tests.mutants.mutant import Mutant

PROJECT = Path(__file__).parents[2]
MUTANTS = [mutant for mutants in AREAS.values() for mutant in mutants]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_the_current_code(mutant: Mutant) -> None:
    source = (PROJECT / mutant.path).read_text()
    broken = mutant.apply(source)
    assert ast.dump(ast.parse(broken)) != ast.dump(ast.parse(source))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_tests_that_must_kill_a_mutant_exist(mutant: Mutant) -> None:
    assert mutant.tests
    assert all((PROJECT / test.partition("::")[0]).is_file() for test in mutant.tests)


def test_names_of_mutants_are_unique() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
