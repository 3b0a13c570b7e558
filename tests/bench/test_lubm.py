"""The scenario lubm: what follows of universities, beside owlrl and beside deriving it again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bench import lubm
from bench.lubm import Lubm, ontology
from bench.universities import TYPE, Universities, name
from tests.rules.test_epochs import body_of_text
from tests.support.generators.basic_cases import Quad, Triple
from tests.support.harness import run_in_cuts, state
from tests.support.oracles.owl_closure import owl_closure, without_trivial
from tests.support.rules.graph_memory import ProgramMemory
from weir.rules import held_atoms

_DEPARTMENT = Universities(1, (1, 1))


def _few_people() -> list[Triple]:
    """A chair, some who teach and learn, and what they are about."""
    triples = [*_DEPARTMENT.triples()]
    chairs = {s for s, p, _ in triples if p == name("headOf")}
    others: list[str] = []
    for kind in ("Lecturer", "GraduateStudent", "UndergraduateStudent", "Publication"):
        others += [s for s, p, o in triples if p == TYPE and o == name(kind)][:3]
    people = {*chairs, *others}
    about = {o for s, _, o in triples if s in people}
    return [t for t in triples if t[0] in people or (t[0] in about and t[1] != name("member"))]


@pytest.mark.parametrize("least", [0, 1_000_000], ids=["looked up", "read whole"])
def test_what_follows_is_what_owlrl_derives_before_and_after_deletions(
    monkeypatch: pytest.MonkeyPatch, least: int
) -> None:
    monkeypatch.setattr(held_atoms, "LEAST", least)
    monkeypatch.setattr(held_atoms, "FEW", 50)
    present = {*_few_people(), *ontology()}
    nothing = frozenset[Quad]()
    history: list[tuple[frozenset[Quad], frozenset[Quad]]] = [
        (nothing, frozenset(("", *triple) for triple in present))
    ]
    for gone in (name("headOf"), name("takesCourse")):
        triple = next(t for t in sorted(present) if t[1] == gone)
        history.append((frozenset({("", *triple)}), nothing))
        present.discard(triple)
    log = run_in_cuts(
        ProgramMemory(body_of_text("%+ graph: urn:d:rules\n%+ rules: owl-rl\n"), history), 3, (1, 2)
    ).log()
    for epoch in (1, 3):
        graph = {*_few_people(), *ontology()}
        for vanish, _ in history[1:epoch]:
            graph -= {(s, p, o) for _, s, p, o in vanish}
        derived = {(str(s), str(p), str(o)) for s, p, o in state(log, epoch)}
        assert without_trivial(derived) == owl_closure(graph)


def test_a_department_has_as_many_people_as_the_benchmark_says() -> None:
    kinds = Counter(o for _, p, o in {*_DEPARTMENT.triples()} if p == TYPE)
    professors = [name(f"{rank}Professor") for rank in ("Full", "Associate", "Assistant")]
    faculty = sum(kinds[own] for own in (*professors, name("Lecturer")))
    assert 30 <= faculty <= 42
    assert 8 <= kinds[name("UndergraduateStudent")] / faculty <= 14
    assert 3 <= kinds[name("GraduateStudent")] / faculty <= 4


def test_change_sets_give_what_a_fresh_lake_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lubm, "WORK", tmp_path)
    monkeypatch.setattr(lubm, "REPEATS", 1)
    monkeypatch.setattr(held_atoms, "LEAST", 0)
    scenario = Lubm(1, lambda _: None, (1, 1)).run()
    assert all(rows.agree for rows in scenario.rows)
    assert len(scenario.summary[1]) == len(scenario.summary[0])
    assert not scenario.full
