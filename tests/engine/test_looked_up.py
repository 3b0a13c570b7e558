"""Looked-up sides: nothing of them is stored, and a change reads what is beside it."""

from __future__ import annotations

import pytest

from tests.support.harness import Memory
from tests.support.notation import deltas, epoch_by_epoch, history, plan_of
from weir.plan.plan import ANSWER

MANY = "; ".join(f"+s{i} p {i % 7}; +s{i} q v{i}; +s{i} q w{i}; +v{i} r k" for i in range(300))
QUERIES = {
    "exists": ("SELECT * { ?x :p ?y FILTER EXISTS { ?x :q ?z . ?z :r :k } }", "-s5 q v5"),
    "not exists": ("SELECT * { ?x :p ?y FILTER NOT EXISTS { ?x :q ?z } }", "-s5 q v5; -s6 p 6"),
    "minus": ("SELECT * { ?x :p ?y MINUS { ?x :q ?z } }", "-s5 q v5; -s5 q w5"),
    "optional": ("SELECT * { ?x :p ?y OPTIONAL { ?x :q ?z } }", "-s5 q v5; -s5 q w5"),
    "a flag": ("SELECT * { ?x :p ?y BIND(EXISTS { ?x :q ?z } AS ?f) }", "-s5 q v5; -s5 q w5"),
    "groups": ("SELECT ?x (COUNT(*) AS ?n) { ?x :q ?z } GROUP BY ?x", "-s5 q v5"),
    "distinct": ("SELECT DISTINCT ?x { ?x :q ?z }", "-s5 q v5"),
}


def changed(query: str, change: str) -> tuple[Memory, int]:
    """The memory before a change of a large graph, and how many rows of it the change reads."""
    memory = epoch_by_epoch(plan_of(query), history(MANY, change), but=1)
    with memory.running(1, 2):
        return memory, memory.engine.count("scope0_graph")


@pytest.mark.parametrize("name", QUERIES)
def test_a_change_reads_only_the_triples_beside_it(name: str) -> None:
    _, read = changed(*QUERIES[name])
    assert 2 <= read <= 8


@pytest.mark.parametrize("name", QUERIES)
def test_nothing_but_the_answer_is_stored(name: str) -> None:
    memory, _ = changed(*QUERIES[name])
    assert {row[0] for row in memory.stored()} <= {ANSWER}


def test_a_match_that_no_change_is_next_to_counts() -> None:
    assert deltas(
        "SELECT ?x { ?x :p ?y FILTER NOT EXISTS { ?x :q ?z . ?z :r ?w } }",
        "+a p 1; +a q b; +b r 1; +a q c; +c r 1",
        "-a q b",
        "-c r 1; +b r 2",
        "+a q b; -a q c; +c r 1",
        "-b r 1; -b r 2",
    ) == [[], [], ["+a"], ["-a"], ["+a"]]


def test_sides_that_change_together_are_those_of_each_epoch() -> None:
    assert deltas(
        "SELECT ?x ?z { ?x :p ?y OPTIONAL { ?y :q ?z } }",
        "+a p b",
        "-a p b; +a p c; +c q 1; +b q 2",
        "-a p c; +a p b; -b q 2",
    ) == [["+a _"], ["+a 1", "-a _"], ["+a _", "-a 1"]]
