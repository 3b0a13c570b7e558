"""The worked examples of paper 000: deltas after each update, and the class of each part."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from jobs.plan.decompose import classify, decompose, is_loosely_connected, partition
from jobs.plan.lower import lower
from jobs.sparql.algebra import Bgp, TriplePattern
from jobs.sparql.expressions import Constant, Variable
from jobs.sparql.translate import translate
from tests.engine.memory import Memory
from tests.fixtures import Fixture, Row, read_fixture

GRAPHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 11)


def fixture(shared: Path, number: int) -> Fixture:
    """The fixture 000-<number>."""
    (folder,) = (shared / "papers" / "examples").glob(f"000-{number}-*")
    return read_fixture(folder)


def deltas_of(memory: Memory, epochs: int) -> list[Counter[Row]]:
    """Per epoch the signed answers, with variables by name."""
    names = [name for name, _ in memory.plan.columns]
    found: list[Counter[Row]] = [Counter() for _ in range(epochs)]
    for epoch, weight, row in memory.log():
        bound = ((n, term) for n, term in zip(names, row, strict=True) if term is not None)
        found[epoch - 1][tuple(sorted(bound))] += weight
    return found


@pytest.mark.parametrize("number", GRAPHS)
def test_every_update_gives_the_deltas_of_the_paper(shared: Path, number: int) -> None:
    golden = fixture(shared, number)
    memory = Memory(lower(translate(golden.query, "default")), golden.history)
    memory.run(0, 1)
    for epoch in range(2, len(golden.history) + 1):
        memory.run(epoch - 1, epoch)
    assert deltas_of(memory, len(golden.history)) == golden.deltas


@pytest.mark.parametrize("number", GRAPHS)
def test_one_run_over_all_updates_gives_the_same_deltas(shared: Path, number: int) -> None:
    golden = fixture(shared, number)
    memory = Memory(lower(translate(golden.query, "default")), golden.history)
    memory.run(0, len(golden.history))
    assert deltas_of(memory, len(golden.history)) == golden.deltas


@pytest.mark.parametrize("number", GRAPHS)
def test_a_query_decomposes_into_the_segments_of_the_paper(shared: Path, number: int) -> None:
    golden = fixture(shared, number)
    expected = {
        frozenset(patterns) for patterns in golden.expected.get("decomposition", {}).values()
    }
    bgp = _bgp_of(golden)
    assert {frozenset(_texts(s.patterns)) for s in decompose(bgp)} == expected
    blocks = {frozenset(block) for block in golden.expected["partition"]}
    assert set(partition(bgp.patterns)) == blocks


def test_queries_have_the_classes_of_the_definitions(shared: Path) -> None:
    """000-9; a self loop is not a simple star by Definition 6, and is one of ours (000-10)."""
    (folder,) = (shared / "papers" / "examples").glob("000-9-*")
    for query in json.loads((folder / "expected.json").read_text())["queries"]:
        patterns = tuple(_pattern(text) for text in query["patterns"])
        bgp, name = Bgp(patterns), query["name"]
        segments = decompose(bgp)
        self_loop = any(p.subject == p.object for p in patterns)
        assert {frozenset(b) for b in query["partition"]} == set(partition(patterns)), name
        assert is_loosely_connected(bgp) == query["loosely_connected"], name
        assert (classify(patterns) == "ground") == query["ground"], name
        kinds = [segment.kind for segment in segments if segment.kind != "ground"]
        connected = kinds == ["connected-variable"]
        assert connected == query["connected_variable"], name
        if query["simple_var_centric_star"] or not self_loop:
            star = len(segments) == 1 and segments[0].kind == "simple var-centric star"
            assert star == query["simple_var_centric_star"], name


def _bgp_of(golden: Fixture) -> Bgp:
    form = translate(golden.query, "default").form
    pattern = form.pattern
    while not isinstance(pattern, Bgp):
        pattern = pattern.pattern
    return pattern


def _texts(patterns: tuple[TriplePattern, ...]) -> list[str]:
    return [
        " ".join(f"?{n.name}" if isinstance(n, Variable) else n.term for n in pattern.nodes)
        for pattern in patterns
    ]


def _pattern(text: str) -> TriplePattern:
    nodes = (
        Variable(part[1:]) if part.startswith("?") else Constant(part)
        for part in text.split(" ", 2)
    )
    return TriplePattern(*nodes)
