"""Every mutant applies to the code of today; `python -m tests.mutants` reports which are killed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants.texts import MUTANTS, Mutant

JOBS = Path(__file__).parent.parent.parent / "jobs"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_differs_from_the_code_of_today(mutant: Mutant) -> None:
    source = (JOBS / f"{mutant.module}.py").read_text()
    broken = mutant.applied(source)
    assert ast.dump(ast.parse(broken)) != ast.dump(ast.parse(source))


def test_there_are_many_mutants_and_no_two_have_one_name() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 69
