"""Programs over so many atoms that DuckDB sorts only those with several intervals."""

from __future__ import annotations

import random
from collections import Counter

from tests.support.rules.memory import ProgramMemory
from tests.support.rules.papers import atom_of, program_of, triple_of
from tests.support.streams.histories import StreamBatch

_ATOMS, _POINTS = 12_000, 40
_TEXT = "d(X) <- win^2 diamond p(X,Y).\nq(X,Z) <- win^1 diamond p(X,Y), win^1 diamond p(Y,Z)."


def test_atoms_with_one_interval_and_with_several_hold_when_they_should() -> None:
    rng = random.Random("many atoms")
    # Some names are rare and others frequent, so that intervals are alone, overlap, meet or do not.
    names = [f"x{i}" for i in range(4_000)]
    often = [f"y{i}" for i in range(40)]
    events = sorted(
        (rng.randrange(_POINTS), rng.choice(names if rng.random() < 0.9 else often), name)
        for name in rng.choices(names, k=_ATOMS)
    )
    triples = tuple((triple_of(f"p({x},{y})"), point) for point, x, y in events)
    memory = ProgramMemory(program_of(_TEXT, set()), (StreamBatch("s", triples, _POINTS),))
    memory.run(0, 1)
    expected = Counter[tuple[int, str]]()
    held = _held(events)
    for point in range(_POINTS):
        before = held[point - 1] if point else set()
        expected.update({(point, atom): 1 for atom in held[point] - before})
        expected.update({(point, atom): -1 for atom in before - held[point]})
    assert {(at, atom_of(row)): weight for _, at, weight, row in memory.log()} == expected


def _held(events: list[tuple[int, str, str]]) -> list[set[str]]:
    """By point, the atoms that hold."""
    held: list[set[str]] = []
    for point in range(_POINTS):
        atoms = {f"d({x})" for at, x, _ in events if point - 2 <= at <= point}
        recent = [(x, y) for at, x, y in events if point - 1 <= at <= point]
        following: dict[str, set[str]] = {}
        for x, y in recent:
            following.setdefault(x, set()).add(y)
        atoms |= {f"q({x},{z})" for x, y in recent for z in following.get(y, ())}
        held.append(atoms)
    return held
