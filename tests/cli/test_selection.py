"""Which definitions `--select` and `--exclude` name."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis.strategies import integers, sets, tuples

from weir.errors import ConfigurationError
from weir.selection import Candidate, selected

CANDIDATES = [
    Candidate("alarms", "program", "bea", ("rooms",), frozenset({"current"})),
    Candidate("exhibits", "query", "ana", ("rooms", "museum"), frozenset({"behind", "modified"})),
    Candidate("room_names", "query", "ana", ("rooms",), frozenset({"current"})),
    Candidate("room_sizes", "query", "", (), frozenset({"held"})),
]


@pytest.mark.parametrize(
    ("select", "exclude", "names"),
    [
        ([], [], "alarms exhibits room_names room_sizes"),
        (["exhibits"], [], "exhibits"),
        (["room_*"], [], "room_names room_sizes"),
        (["tag:rooms"], [], "alarms exhibits room_names"),
        (["tag:mus*"], [], "exhibits"),
        (["owner:ana"], [], "exhibits room_names"),
        (["kind:program"], [], "alarms"),
        (["state:modified"], [], "exhibits"),
        (["name:alarms"], [], "alarms"),
        # Options and words are alternatives, commas join.
        (["alarms room_sizes"], [], "alarms room_sizes"),
        (["alarms", "room_sizes"], [], "alarms room_sizes"),
        (["tag:rooms,owner:ana"], [], "exhibits room_names"),
        (["tag:rooms,owner:ana,state:current alarms"], [], "alarms room_names"),
        ([], ["tag:rooms"], "room_sizes"),
        (["tag:rooms"], ["owner:ana"], "alarms"),
        # A state that nothing is in, and criteria that do not meet, are no mistakes.
        (["state:broken"], [], ""),
        (["state:removed"], [], ""),
        (["alarms,exhibits"], [], ""),
    ],
)
def test_a_selection_names_what_meets_its_criteria(
    select: list[str], exclude: list[str], names: str
) -> None:
    assert selected(CANDIDATES, select, exclude) == names.split()


CHAIN = [
    Candidate("alone", "query", sources=("museum",)),
    Candidate("hot", "query", tags=("x",), sources=("readings",)),
    Candidate("often", "query", sources=("museum",), upstreams=("hot",)),
    Candidate("rooms", "query", tags=("x",), sources=("doors", "museum")),
    Candidate("seldom", "query", upstreams=("often", "rooms")),
]
"""`seldom` reads the streams of `often` and `rooms`, `often` that of `hot`."""


@pytest.mark.parametrize(
    ("criterion", "names"),
    [
        ("source:readings", "hot"),
        ("source:museum", "alone often rooms"),
        ("source:*s", "hot rooms"),
        ("+often", "hot often"),
        ("often+", "often seldom"),
        ("+often+", "hot often seldom"),
        ("+alone+", "alone"),
        ("+seldom", "hot often rooms seldom"),
        ("source:readings+", "hot often seldom"),
        ("tag:x+", "hot often rooms seldom"),
        ("+seldom,source:museum", "often rooms"),
        ("+seldom,+often", "hot often"),
    ],
)
def test_sources_and_the_readers_of_streams_can_be_selected(criterion: str, names: str) -> None:
    assert selected(CHAIN, [criterion]) == names.split()
    left = [c.name for c in CHAIN if c.name not in names.split()]
    assert selected(CHAIN, (), [criterion]) == left


@given(
    edges=sets(tuples(integers(0, 7), integers(0, 7))).map(
        lambda pairs: {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    ),
    name=integers(0, 7),
)
def test_upstream_and_downstream_are_the_ancestors_and_descendants_of_a_graph(
    edges: set[tuple[int, int]], name: int
) -> None:
    leads = [[(i, j) in edges for j in range(8)] for i in range(8)]
    for k, i, j in product(range(8), repeat=3):  # Warshall
        leads[i][j] = leads[i][j] or (leads[i][k] and leads[k][j])
    candidates = [
        Candidate(f"q{j}", "query", upstreams=tuple(f"q{i}" for i in range(8) if (i, j) in edges))
        for j in range(8)
    ]
    for criterion, related in (
        (f"+q{name}", {i for i in range(8) if leads[i][name]}),
        (f"q{name}+", {j for j in range(8) if leads[name][j]}),
    ):
        expected = [f"q{i}" for i in range(8) if i in {name, *related}]
        assert selected(candidates, [criterion]) == expected


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        ("+", ": nothing is selected"),
        ("+exhibit+", "exhibit: nothing is selected"),
        ("source:museum", "source:museum: nothing is selected"),
        ("exhibit", "exhibit: nothing is selected"),
        ("tag:room", "tag:room: nothing is selected"),
        ("state:curent", "state:curent: nothing is selected"),
        ("tags:rooms", "tags:rooms: there is no method tags"),
        ("alarms,", ": nothing is selected"),
        (" ", "nothing is named"),
    ],
)
@pytest.mark.parametrize("option", ["--select", "--exclude"])
def test_a_criterion_that_nothing_is_like_is_refused_with_the_option(
    criterion: str, message: str, option: str
) -> None:
    select, exclude = ([criterion], []) if option == "--select" else ([], [criterion])
    with pytest.raises(ConfigurationError) as refused:
        selected(CANDIDATES, select, exclude)
    assert (refused.value.what, refused.value.where) == (message, option)


@pytest.mark.parametrize(
    ("criterion", "near"),
    [
        ("exhibit", "exhibits"),
        ("tag:room", "rooms"),
        ("state:curent", "current"),
        ("tags:x", "tag"),
    ],
)
def test_what_may_be_meant_is_said(criterion: str, near: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        selected(CANDIDATES, [criterion])
    assert refused.value.hint.startswith(f"Did you mean {near}?")
