"""The mutations apply to the present text; `python -m tests.mutants` runs them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants.texts import MUTATIONS, Mutation

JOBS = Path(__file__).parent.parent.parent / "jobs"


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutation_breaks_the_present_text(mutation: Mutation) -> None:
    source = (JOBS / f"{mutation.module}.py").read_text()
    broken = mutation.applied(source)
    assert ast.dump(ast.parse(broken)) != ast.dump(ast.parse(source))


def test_there_are_many_mutations_and_no_two_are_the_same() -> None:
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS) >= 25
