"""Which definitions `--select` and `--exclude` name."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
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
