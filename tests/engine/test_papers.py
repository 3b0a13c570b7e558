"""The worked examples of the papers 000 and 001: deltas after each update, and the class of each
part.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.support.harness import Memory, run_in_cuts
from tests.support.papers import Fixture, Row, read_fixture
from weir.plan.decompose import classify, decompose, partition
from weir.plan.lower import lower
from weir.plan.plan import Plan
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import Bgp, Distinct, Filter, Project, TriplePattern
from weir.sparql.frontend.translate import translate

GRAPHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 11)
ALGEBRA = range(1, 20)
"""001-20 and 001-21 have no graph."""
BAGS = (2, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14)
"""Those with a query without DISTINCT."""
NUMBERED = [*(f"000-{number}" for number in GRAPHS), *(f"001-{number}" for number in ALGEBRA)]


def fixture(shared: Path, name: str) -> Fixture:
    """The fixture whose folder begins with `name`."""
    (folder,) = (shared / "papers" / "examples").glob(f"{name}-*")
    return read_fixture(folder)


def deltas_of(memory: Memory, epochs: int) -> list[Counter[Row]]:
    """Per epoch the signed answers, with variables by name."""
    names = [name for name, _ in memory.plan.columns]
    by_epoch: list[Counter[Row]] = [Counter() for _ in range(epochs)]
    for epoch, weight, row in memory.log():
        bound = ((n, term) for n, term in zip(names, row, strict=True) if term is not None)
        by_epoch[epoch - 1][tuple(sorted(bound))] += weight
    return by_epoch


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("name", NUMBERED)
def test_every_update_gives_the_deltas_of_the_paper(shared: Path, name: str) -> None:
    golden = fixture(shared, name)
    assert maintained(golden, golden.query, one_by_one=True) == golden.deltas


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("name", NUMBERED)
def test_one_run_over_all_updates_gives_the_same_deltas(shared: Path, name: str) -> None:
    golden = fixture(shared, name)
    assert maintained(golden, golden.query, one_by_one=False) == golden.deltas


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("one_by_one", [True, False])
@pytest.mark.parametrize("number", BAGS)
def test_without_distinct_the_deltas_are_those_of_the_bag(
    shared: Path, number: int, *, one_by_one: bool
) -> None:
    golden = fixture(shared, f"001-{number}")
    assert golden.bag_query is not None
    assert maintained(golden, golden.bag_query, one_by_one=one_by_one) == golden.bag_deltas


def test_every_fixture_with_a_bag_is_tested(shared: Path) -> None:
    with_bag = [n for n in ALGEBRA if fixture(shared, f"001-{n}").bag_query is not None]
    assert with_bag == list(BAGS)


def maintained(golden: Fixture, query: str, *, one_by_one: bool) -> list[Counter[Row]]:
    """The deltas on DuckDB."""
    memory = Memory(plan_for(query), golden.history)
    last = len(golden.history)
    run_in_cuts(memory, last, range(1, last) if one_by_one else ())
    return deltas_of(memory, last)


def plan_for(query: str) -> Plan:
    """The plan of a fixture's query; its default graph is the unnamed one."""
    return lower(translate(query, "default"), allow_product=True)


@pytest.mark.parametrize("number", GRAPHS)
def test_a_query_decomposes_into_the_segments_of_the_paper(shared: Path, number: int) -> None:
    golden = fixture(shared, f"000-{number}")
    expected = {
        frozenset(patterns) for patterns in golden.expected.get("decomposition", {}).values()
    }
    bgp = _bgp_of(golden)
    assert {frozenset(_texts(s.patterns)) for s in decompose(bgp)} == expected
    blocks = {frozenset(block) for block in golden.expected["partition"]}
    assert set(partition(bgp.patterns)) == blocks


def test_queries_have_the_classes_of_the_definitions(shared: Path) -> None:
    """000-9; a self loop is not a simple star by Definition 6, but counts as one here (000-10)."""
    (folder,) = (shared / "papers" / "examples").glob("000-9-*")
    for query in json.loads((folder / "expected.json").read_text())["queries"]:
        patterns = tuple(_pattern(text) for text in query["patterns"])
        bgp, name = Bgp(patterns), query["name"]
        segments = decompose(bgp)
        self_loop = any(p.subject == p.object for p in patterns)
        assert {frozenset(b) for b in query["partition"]} == set(partition(patterns)), name
        # Definition 11: every block is a single variable.
        loosely_connected = all(len(block) == 1 for block in partition(patterns))
        assert loosely_connected == query["loosely_connected"], name
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
        assert isinstance(pattern, Project | Distinct | Filter), (
            "the fixtures are basic graph patterns"
        )
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
