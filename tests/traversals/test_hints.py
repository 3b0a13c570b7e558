"""Hints: a document is not asked for while another one of its origin states the same of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.counting_server import answer_of
from tests.support.keeping_server import Request, Sent
from tests.traversals.served import until
from tests.traversals.test_left_alone import TURTLE, Web, web
from weir.errors import ConfigurationError
from weir.traversals.declarations import load_traversals
from weir.traversals.frontier import Frontier, Traversal
from weir.traversals.hints import statements_of
from weir.traversals.known import Answer, Content, Failed, Missing
from weir.traversals.rules import Link, Rules
from weir.traversals.search import SearchLimits

MODIFIED = "<http://purl.org/dc/terms/modified>"
HINTS = "robots: false, hints: ['<http://purl.org/dc/terms/modified>']"
POSTS = 50
HOUR = 3600.0
BOX, POST = "https://a.example/box/", "https://a.example/box/post"


class Container:
    """A server with a container of posts, which says when each was modified."""

    def __init__(self) -> None:
        self.modified = dict.fromkeys(range(POSTS), 0)

    def change(self, post: int) -> None:
        self.modified[post] += 1

    def __call__(self, request: Request) -> Sent:
        if request.path == "/0":
            text = "".join(
                f'<> <http://e/contains> </post{n}> . </post{n}> {MODIFIED} "{time}" .\n'
                for n, time in self.modified.items()
            )
        else:
            number = int(request.path.removeprefix("/post"))
            text = f'<> <http://e/text> "text {self.modified[number]}" .'
        return Sent(answer_of(text.encode(), TURTLE))


def asked(own: Web, hours: float) -> list[str]:
    """What an evaluation asks for."""
    before = len(own.asked)
    own.evaluate(timedelta(hours=hours))
    return own.asked[before:]


def test_the_times_of_answers_are_by_the_clock_of_the_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two hours later is when everything is due again, regardless of the hour on this machine."""
    monkeypatch.setattr("tests.traversals.test_left_alone.START", datetime(2020, 1, 1, tzinfo=UTC))
    with web(tmp_path, Container(), "requests: 200") as own:
        assert len(asked(own, 0)) == 1 + POSTS
        assert len(asked(own, 2)) == 1 + POSTS


@pytest.mark.usefixtures("slow")
def test_a_changed_post_costs_two_requests(tmp_path: Path) -> None:
    server = Container()
    with web(tmp_path, server, "requests: 200", HINTS) as own:
        assert len(asked(own, 0)) == 1 + POSTS
        assert asked(own, 1) == ["/0"]
        server.change(7)
        assert asked(own, 2) == ["/0", "/post7"]
        assert asked(own, 3) == ["/0"]
        # A hint counts for as long as `recheck_after`, here a week.
        assert len(asked(own, 24 * 8)) == 1 + POSTS


@pytest.mark.usefixtures("slow")
def test_hints_that_are_switched_on_count_for_what_is_known(tmp_path: Path) -> None:
    server = Container()
    with web(tmp_path, server, "requests: 200") as own:
        assert len(asked(own, 0)) == 1 + POSTS
        assert len(asked(own, 1)) == 1 + POSTS
        declared = own.project.folder / "traversals.yml"
        declared.write_text(declared.read_text().replace("robots: false", HINTS))
        assert len(asked(own, 2)) == 1 + POSTS
        assert asked(own, 3) == ["/0"]


def test_what_is_not_asked_for_because_of_a_hint_is_not_counted_as_left(tmp_path: Path) -> None:
    with web(tmp_path, Container(), "requests: 200", HINTS) as own:
        asked(own, 0)
        mark = own.evaluate(timedelta(hours=1))
        assert mark.stop == "done"
        assert sum(row["not_asked"] for row in mark.rows) == 0


def box(modified: str, *, lifetime: float = 0.0) -> Content:
    """A container that leads to a post and states a time of it."""
    digest = hashlib.sha256(modified.encode()).hexdigest()
    return Content(digest, (Link(POST),), until(lifetime), ((POST, modified),))


def post(text: str = "text", *statements: tuple[str, str]) -> Content:
    return Content(text, (), until(0.0), statements)


def evaluated(before: Frontier | None, answers: Mapping[str, Answer], now: float) -> list[str]:
    """What an evaluation asks for, in order; it goes on with what `before` knows."""
    assert before is not None
    wanted = []
    while wave := before.wave(now):
        for iri in wave:
            wanted.append(iri)
            before.take(iri, answers[iri], now)
        before.grow()
    before.finish(now)
    return wanted


def later(frontier: Frontier | None = None, *, hinted_for: float = 10 * HOUR) -> Frontier:
    """The next evaluation of a traversal from the container."""
    traversal = Traversal(
        (BOX,), Rules(every=True), SearchLimits(), lambda _: True, hinted_for=hinted_for
    )
    if frontier is None:
        return Frontier(traversal)
    return Frontier(traversal, frontier.known, frontier.members, frontier.suspects)


@pytest.mark.parametrize(
    ("second", "wanted"),
    [
        (box('"1"'), [BOX]),
        (box('"2"'), [BOX, POST]),
        # It says nothing of the post any more, or is not there to say it.
        (Content("other", (Link(POST),), until(0.0)), [BOX, POST]),
        (Failed("busy"), [BOX, POST]),
        (Missing(True, 10 * HOUR), [BOX, POST]),
    ],
    ids=["same", "other", "nothing", "failed", "gone"],
)
def test_a_post_is_asked_for_unless_the_same_is_stated(second: Answer, wanted: list[str]) -> None:
    frontier = later()
    evaluated(frontier, {BOX: box('"1"'), POST: post()}, 1.0)
    assert evaluated(later(frontier), {BOX: second, POST: post()}, HOUR) == wanted


def test_a_container_with_a_lifetime_is_up_to_date_until_its_end() -> None:
    frontier = later()
    evaluated(frontier, {BOX: box('"1"', lifetime=2 * HOUR), POST: post()}, 1.0)
    assert evaluated(later(frontier), {}, HOUR) == []
    answers = {BOX: box('"2"'), POST: post("new")}
    assert evaluated(later(frontier), answers, 3 * HOUR) == [BOX, POST]


def test_a_container_that_failed_is_not_up_to_date_while_it_is_left_alone() -> None:
    frontier = later()
    answers: dict[str, Answer] = {BOX: box('"1"'), POST: post()}
    evaluated(frontier, answers, 1.0)
    evaluated(later(frontier), answers | {BOX: Failed("busy", retry_after=5 * HOUR)}, HOUR)
    assert evaluated(later(frontier), answers, 2 * HOUR) == [POST]


def test_a_hint_counts_for_no_longer_than_it_may() -> None:
    frontier = later(hinted_for=HOUR)
    answers = {BOX: box('"1"'), POST: post()}
    evaluated(frontier, answers, 1.0)
    assert evaluated(later(frontier, hinted_for=HOUR), answers, HOUR / 2) == [BOX]
    assert evaluated(later(frontier, hinted_for=HOUR), answers, HOUR + 2) == [BOX, POST]


def test_documents_that_state_the_same_of_each_other_are_both_asked_for() -> None:
    frontier = later()
    answers = {
        BOX: Content("box", (Link(POST),), until(0.0), ((POST, '"1"'),)),
        POST: Content("post", (Link(BOX),), until(0.0), ((BOX, '"1"'),)),
    }
    for hour in range(4):
        wanted = evaluated(later(frontier), answers, 1.0 + hour * HOUR)
        assert BOX in wanted


def test_two_documents_that_state_different_things_are_no_hint() -> None:
    other = "https://a.example/other"
    frontier = later()
    answers: dict[str, Answer] = {
        BOX: Content("box", (Link(POST), Link(other)), until(0.0), ((POST, '"1"'),)),
        other: Content("other", (), until(0.0), ((POST, '"2"'),)),
        POST: post(),
    }
    for hour in range(3):
        wanted = evaluated(later(frontier), answers, 1.0 + hour * HOUR)
        assert POST in wanted


@pytest.mark.parametrize(
    ("subject", "count"),
    [
        (POST, 1),
        ("https://a.example/", 1),
        (BOX, 0),
        ("http://a.example/box/post", 0),
        ("https://a.example:8443/box/post", 0),
        ("https://b.example/box/post", 0),
        ("https://[", 0),
    ],
)
def test_a_document_speaks_for_others_of_its_origin_only(subject: str, count: int) -> None:
    triples = [(f"<{subject}>", MODIFIED, '"1"'), (f"<{POST}>", "<http://e/p>", '"2"')]
    assert len(statements_of(triples, BOX, frozenset([MODIFIED]))) == count


def test_a_hint_is_a_predicate(tmp_path: Path) -> None:
    file = tmp_path / "traversals.yml"
    head = "prefixes: {dct: 'http://purl.org/dc/terms/'}\ntraversals:\n  - name: nose\n"
    keys = "    seeds: ['https://a.example/']\n    contact: a@b.example\n    follow: all\n"
    file.write_text(f"{head}{keys}    hints: [dct:modified]\n")
    assert load_traversals(file)["nose"].hints() == {MODIFIED}
    file.write_text(f"{head}{keys}    hints: [dct:modified/dct:title]\n")
    with pytest.raises(ConfigurationError, match="hints: 'dct:modified/dct:title'") as error:
        load_traversals(file)
    assert error.value.where.endswith("traversals.yml:7:5")
