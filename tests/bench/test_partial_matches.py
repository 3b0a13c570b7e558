"""The store of all partial matches: the deltas of the fixtures of paper 000, and of random ones."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from bench.partial_matches import (
    Connected,
    Delta,
    Pattern,
    Solution,
    Star,
    Store,
    Triple,
    patterns_of,
    store_of,
)
from tests.support.papers import Row, read_fixture
from weir.sparql.algebra.patterns import Bgp, Distinct, Project
from weir.sparql.frontend.translate import translate

NUMBERS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 11)


def bgp_of(query: str) -> Bgp:
    pattern = translate(query, "default").form.pattern
    while not isinstance(pattern, Bgp):
        assert isinstance(pattern, Project | Distinct)
        pattern = pattern.pattern
    return pattern


def netted(deltas: Iterable[Delta]) -> Counter[Row]:
    """By solution, how often it came less how often it went."""
    signed: Counter[Row] = Counter()
    for sign, solution in deltas:
        signed[tuple(sorted((name[1:], term) for name, term in solution.items()))] += sign
    return Counter({row: sign for row, sign in signed.items() if sign})


@pytest.mark.parametrize("number", NUMBERS)
def test_every_update_gives_the_deltas_of_the_paper(shared: Path, number: int) -> None:
    (folder,) = (shared / "papers" / "examples").glob(f"000-{number}-*")
    golden = read_fixture(folder)
    store = store_of(patterns_of(bgp_of(golden.query)))
    for (gone, new), expected in zip(golden.history, golden.deltas, strict=True):
        messages = [(-1, quad[1:]) for quad in sorted(gone)] + [
            (1, quad[1:]) for quad in sorted(new)
        ]
        assert netted(d for sign, triple in messages for d in store.apply(sign, triple)) == expected


def test_what_is_kept_is_the_state_of_algorithms_1_to_3(shared: Path) -> None:
    (folder,) = (shared / "papers" / "examples").glob("000-2-*")
    golden = read_fixture(folder)
    store = store_of(patterns_of(bgp_of(golden.query)))
    states = [golden.expected["initial_state"], *(s["state"] for s in golden.expected["steps"])]
    for (gone, new), state in zip(golden.history, states, strict=True):
        for sign, quads in ((-1, gone), (1, new)):
            for quad in quads:
                store.apply(sign, quad[1:])
        kept = Counter(what for what, *_ in store.kept())
        stars = state["stars"]
        assert kept["bit"] == len(state["ground"]["M"])
        assert kept["value"] == sum(len(star["L"]) for star in stars)
        answers = state["ground"]["T_G"] + sum(len(star["T_S"]) for star in stars)
        assert kept["answer"] == answers


QUERIES: dict[str, Sequence[Triple]] = {
    "ground": (("a", "p", "b"), ("b", "q", "a")),
    "star": (("?x", "p", "a"), ("b", "q", "?x"), ("?x", "p", "b")),
    "self loop": (("?x", "p", "?x"), ("?x", "q", "a")),
    "loose": (("a", "p", "b"), ("?x", "p", "a"), ("?x", "q", "b"), ("?y", "p", "a")),
    "chain": (("?x", "p", "?y"), ("?y", "q", "?z")),
    "long chain": (("?x", "p", "?y"), ("?y", "p", "?z"), ("?z", "q", "?w")),
    "triangle": (("?x", "p", "?y"), ("?y", "p", "?z"), ("?z", "p", "?x")),
    "fork and star": (("?x", "p", "?y"), ("?x", "q", "?z"), ("?z", "p", "a"), ("?u", "q", "b")),
}


def solutions(patterns: Sequence[Pattern], graph: set[Triple]) -> list[Solution]:
    """The answer, by trying every triple for every pattern."""
    joined: list[Solution] = [{}]
    for pattern in patterns:
        joined = [
            {**solution, **more}
            for solution in joined
            for triple in graph
            if (more := pattern.bound(solution).match(triple)) is not None
        ]
    return joined


@pytest.mark.parametrize("name", QUERIES)
def test_after_every_message_the_deltas_add_up_to_the_answer(name: str) -> None:
    patterns = [Pattern(places) for places in QUERIES[name]]
    rng = random.Random(name)
    for _ in range(15):
        store: Store = store_of(patterns)
        graph: set[Triple] = set()
        state: Counter[Row] = Counter()
        for _ in range(40):
            triple = (rng.choice("abc"), rng.choice("pq"), rng.choice("abc"))
            sign = -1 if triple in graph else 1
            graph ^= {triple}
            state.update(netted(store.apply(sign, triple)))
            expected = netted((1, solution) for solution in solutions(patterns, graph))
            assert Counter({row: number for row, number in state.items() if number}) == expected
            assert netted((1, solution) for solution in store.answers()) == expected


def test_a_star_keeps_every_value_that_matches_any_pattern() -> None:
    star = Star([Pattern(("?x", "p", "a")), Pattern(("?x", "q", "b"))])
    for triple in (("c", "p", "a"), ("d", "q", "b"), ("d", "p", "a"), ("e", "p", "b")):
        star.apply(1, triple)
    assert {*star.kept()} == {("value", "c", "1"), ("value", "d", "11")}
    assert [*star.answers()] == [{"?x": "d"}]


def test_a_connected_query_keeps_the_triples_of_the_other_patterns() -> None:
    chain = store_of([Pattern(("?x", "p", "?y")), Pattern(("?y", "q", "?z"))])
    assert isinstance(chain, Connected)
    for triple in (("a", "q", "b"), ("c", "q", "b"), ("d", "p", "a")):
        chain.apply(1, triple)
    assert Counter(what for what, *_ in chain.kept()) == {"edge": 2, "instance": 1, "value": 1}
