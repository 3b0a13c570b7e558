"""What an evaluation makes of answers: documents that are gone, suspect, moved, out of reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.traversals.served import until
from weir.traversals.frontier import Frontier, Traversal, hosts_of
from weir.traversals.known import Answer, Content, Failed, Missing, NotModified, Redirect
from weir.traversals.rules import Link, Rules
from weir.traversals.search import SearchLimits

HOST = "https://a.example"
SEED = f"{HOST}/0"
DAY = 86_400.0


def traversal(**changes: Any) -> Traversal:
    hosts = hosts_of("any", ())
    return replace(Traversal((SEED,), Rules(every=True), SearchLimits(), hosts), **changes)


def content(digest: str, *targets: int, expires_at: float = 0.0) -> Content:
    links = tuple(Link(f"{HOST}/{target}") for target in targets)
    return Content(digest, links, until(expires_at))


def evaluated(
    frontier: Frontier, answers: Mapping[int, Answer], now: float, **changes: Any
) -> Frontier:
    """The next evaluation, in which pages answer so; others have an empty document."""
    own = replace(frontier.traversal, **changes)
    made = Frontier(own, frontier.known, frontier.members, frontier.suspects)
    while wave := made.wave(now):
        for iri in wave:
            number = int(iri.rpartition("/")[2])
            made.take(iri, answers.get(number, content(f"empty {number}")), now)
        made.grow()
    made.finish(now)
    return made


def numbers(frontier: Frontier) -> set[int]:
    return {int(iri.rpartition("/")[2]) for iri in frontier.members}


def a_star(size: int) -> Frontier:
    """A seed with so many documents that it links to."""
    links = content("star", *range(1, size + 1))
    return evaluated(Frontier(traversal()), {0: links}, 0.0)


def test_documents_are_those_that_links_lead_to() -> None:
    assert numbers(a_star(3)) == {0, 1, 2, 3}


def test_a_page_with_a_lifetime_is_not_asked_for_before_its_end() -> None:
    frontier = evaluated(Frontier(traversal()), {0: content("d", expires_at=50.0)}, 0.0)
    again = Frontier(traversal(), frontier.known, frontier.members)
    assert again.wave(49.0) == []
    assert again.wave(50.0) == [SEED]


def test_an_answer_that_cannot_be_used_keeps_the_content_and_its_links() -> None:
    star = {0: content("star", 1, 2)}
    frontier = evaluated(Frontier(traversal()), star, 0.0)
    frontier = evaluated(frontier, {0: Failed("503")}, 1.0)
    assert numbers(frontier) == {0, 1, 2}
    assert frontier.known[SEED].reason == "503"


def test_a_page_that_failed_is_left_alone_for_longer_each_time() -> None:
    frontier = evaluated(Frontier(traversal()), {0: Failed("503")}, 0.0)
    first = frontier.known[SEED].due_at
    frontier = evaluated(frontier, {0: Failed("503")}, first)
    assert frontier.known[SEED].due_at - first == 2 * first
    frontier = evaluated(frontier, {0: Failed("429", retry_after=DAY * 2)}, 10 * first)
    assert frontier.known[SEED].due_at == 10 * first + 2 * DAY


def test_a_404_is_believed_once_it_was_repeated() -> None:
    star = {0: content("star", 1), 1: content("one")}
    frontier = evaluated(Frontier(traversal()), star, 0.0)
    frontier = evaluated(frontier, {**star, 1: Missing(False, DAY)}, 1.0)
    assert numbers(frontier) == {0, 1}
    frontier = evaluated(frontier, {**star, 1: Missing(False, DAY)}, 2.0)
    assert numbers(frontier) == {0}


def test_a_410_is_believed_at_once() -> None:
    star = {0: content("star", 1)}
    frontier = evaluated(Frontier(traversal()), star, 0.0)
    assert numbers(evaluated(frontier, {**star, 1: Missing(True, DAY)}, 1.0)) == {0}


def test_most_documents_of_a_host_at_once_are_gone_the_second_time() -> None:
    links = content("star", *range(1, 12))
    frontier = a_star(11)
    gone: Mapping[int, Answer] = {number: Missing(True, 0.0) for number in range(1, 9)}
    frontier = evaluated(frontier, {0: links, **gone}, 1.0)
    assert numbers(frontier) == set(range(12))
    assert len(frontier.suspects) == 8
    frontier = evaluated(frontier, {0: links, **gone}, 2.0)
    assert numbers(frontier) == {0, 9, 10, 11}
    assert frontier.suspects == frozenset()


def test_few_documents_of_a_host_are_gone_at_once() -> None:
    frontier = a_star(11)
    gone: Mapping[int, Answer] = {number: Missing(True, 0.0) for number in range(1, 6)}
    frontier = evaluated(frontier, {0: content("star", *range(1, 12)), **gone}, 1.0)
    assert numbers(frontier) == {0, *range(6, 12)}


def test_a_document_without_a_link_to_it_stays_for_a_while_and_leads_nowhere() -> None:
    star = {0: content("star", 1), 1: content("one", 2)}
    frontier = evaluated(Frontier(traversal(keep_unreachable=10.0)), star, 0.0)
    cut = {**star, 0: content("cut")}
    frontier = evaluated(frontier, cut, 1.0)
    assert numbers(frontier) == {0, 1, 2}
    assert {member.unreachable_since for member in frontier.members.values()} == {None, 1.0}
    assert numbers(evaluated(frontier, cut, 10.5)) == {0, 1, 2}
    assert numbers(evaluated(frontier, cut, 11.0)) == {0}


def test_a_cycle_that_no_seed_leads_to_is_gone() -> None:
    cycle = {0: content("star", 1), 1: content("one", 2), 2: content("two", 1)}
    frontier = evaluated(Frontier(traversal(keep_unreachable=0.0)), cycle, 0.0)
    assert numbers(frontier) == {0, 1, 2}
    assert numbers(evaluated(frontier, {**cycle, 0: content("cut")}, 1.0)) == {0}


def test_a_document_that_moves_is_known_by_its_new_iri() -> None:
    frontier = evaluated(Frontier(traversal(keep_unreachable=0.0)), {0: content("d")}, 0.0)
    frontier = evaluated(frontier, {0: Redirect(f"{HOST}/9#it", DAY)}, 1.0)
    assert numbers(frontier) == {9}
    assert frontier.members[f"{HOST}/9"].aliases == {SEED}


def test_no_redirect_leads_from_https_to_http() -> None:
    frontier = evaluated(Frontier(traversal()), {0: Redirect("http://a.example/1", DAY)}, 0.0)
    assert numbers(frontier) == set()


def test_a_304_to_a_page_without_content_is_a_failure() -> None:
    frontier = evaluated(Frontier(traversal()), {0: NotModified(until(DAY))}, 0.0)
    assert frontier.known[SEED].failures == 1
    assert numbers(frontier) == set()


def test_equal_content_is_no_change_and_other_content_is_one() -> None:
    frontier = evaluated(Frontier(traversal()), {0: content("d")}, 0.0)
    frontier = evaluated(frontier, {0: content("d")}, 1.0)
    assert frontier.known[SEED].changes == 0
    frontier = evaluated(frontier, {0: content("e")}, 2.0)
    assert (frontier.known[SEED].changes, frontier.known[SEED].answers) == (1, 3)


def test_a_page_that_was_passed_over_is_still_due() -> None:
    frontier = Frontier(traversal())
    assert frontier.wave(1.0) == [SEED]
    frontier.pass_over(SEED)
    assert frontier.wave(1.0) == []
    frontier.finish(1.0)
    assert SEED not in frontier.known
    assert Frontier(traversal(), frontier.known).wave(1.0) == [SEED]


def test_pages_of_a_host_that_is_left_alone_are_not_asked_for() -> None:
    frontier = Frontier(traversal(), a_star(3).known)
    frontier.hosts.leave_alone("a.example", 0.0, 1.0)
    until = frontier.hosts.states["a.example"].until
    assert frontier.wave(until - 1) == []
    assert frontier.wave(until) == [SEED]


def test_content_that_is_another_one_nearly_each_time_is_said_to_be_so() -> None:
    frontier = Frontier(traversal())
    for number in range(8):
        assert not (number and frontier.known[SEED].reason)
        frontier = evaluated(frontier, {0: content(f"d{number}")}, float(number))
    assert "7 of 8 answers were other content" in frontier.known[SEED].reason
    for number in range(8, 12):
        frontier = evaluated(frontier, {0: content("same")}, float(number))
    assert frontier.known[SEED].reason == ""


def test_before_the_end_of_an_evaluation_documents_and_their_aliases_are_only_added() -> None:
    """What another link would lead to may not be known yet."""
    first = content("a", 1, 2, expires_at=50.0)
    before = evaluated(Frontier(traversal()), {0: first, 1: Redirect(f"{HOST}/2", DAY)}, 0.0)
    assert before.members[f"{HOST}/2"].aliases == {f"{HOST}/1", f"{HOST}/2"}
    made = Frontier(before.traversal, before.known, before.members)
    assert made.wave(60.0) == [SEED, f"{HOST}/2"]
    made.take(SEED, content("b", 2, 3), 60.0)
    made.grow()
    assert made.members[f"{HOST}/2"].aliases == {f"{HOST}/1", f"{HOST}/2"}
    made.take(SEED, content("c"), 60.0)
    made.grow()
    assert numbers(made) == {0, 2}
