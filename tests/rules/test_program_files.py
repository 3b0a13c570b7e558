"""Whole program files, front matter and all: the log at every epoch and point, by the definitions.

The programs are of another generator than those of `tests/rules/test_laws.py`, with points of many
units, a declared start, and atoms of several triples.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.lars.cases import LarsCase, lars_case
from tests.support.lars.programs import Value
from tests.support.lars.terms import NAMESPACE
from tests.support.laws import Seeds
from tests.support.rules.memory import ProgramMemory, state
from weir.definitions.kinds import PROGRAM
from weir.definitions.names import Declaration
from weir.definitions.program import ProgramBody, read
from weir.errors import ConfigurationError
from weir.rules.points import PointAxis


@pytest.mark.law("program files")
def test_the_log_of_a_program_file_is_the_output_of_the_definitions(seeds: Seeds) -> None:
    seeds.check(lambda seed: differences(lars_case(seed)))


def differences(case: LarsCase) -> Iterator[str]:
    """Where the log is not the output; nothing if the program is refused."""
    declaration = Declaration("p", PROGRAM, Path("p.lars"))
    try:
        body = read(declaration, case.text.encode()).body
    except ConfigurationError:
        return
    assert isinstance(body, ProgramBody)
    axis = PointAxis(case.axis.unit, case.axis.origin)
    memory = ProgramMemory(body.program, case.epochs, axis, case.corrects_back, starts=case.starts)
    last = len(case.epochs)
    rng = random.Random(case.seed)
    cuts = sorted(rng.sample(range(1, last), min(last - 1, rng.choice((0, 1, 2)))))
    for after, until in pairwise((0, *cuts, last)):
        memory.run(after, until)
    log, meaning = memory.log(), case.meaning()
    if meaning.first is None:
        if log:
            yield f"seed {case.seed}: rows before every stream has an event"
        return
    for epoch in range(1, last + 1):
        final = meaning.finals[epoch]
        for point in range(meaning.first - 1, (meaning.first - 2 if final is None else final) + 1):
            atoms = state(log, epoch, axis.instant(point), _value)
            expected = Counter(meaning.state(epoch, point))
            if atoms != expected:
                yield (
                    f"seed {case.seed}, epoch {epoch}, point {point}: {atoms - expected} too many,"
                    f" {expected - atoms} missing"
                )
                return


def _value(term: str) -> Value:
    if term.startswith("<"):
        return term.removeprefix(f"<{NAMESPACE}").removesuffix(">")
    return int(term.split('"')[1])
