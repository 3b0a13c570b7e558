"""Pages over HTTP: robots.txt is obeyed, and what it takes is paid like everything else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.counting_server import answer_of
from tests.support.keeping_server import KeepingServer, Request, Sent
from weir.remotes.budget import Amount
from weir.traversals.declarations import Traversal
from weir.traversals.evaluation import Ask, Came
from weir.traversals.fetching import PageFetcher, page_fetcher
from weir.traversals.known import UNKNOWN, Content, Failed
from weir.traversals.reading import ReadingOptions
from weir.traversals.rules import Rules

DOCUMENT = b"<http://e/s> <http://e/p> <http://e/o> ."
MOST = Amount(10, 10, 1_000_000, 60.0)


@contextmanager
def fetching(
    server: KeepingServer,
    *,
    robots: bool = True,
    kept: Path | None = None,
    later: timedelta = timedelta(0),
) -> Iterator[PageFetcher]:
    traversal = Traversal(
        name="nose",
        seeds=(f"{server.origin}/0",),
        follow="all",
        contact="tests@example.org",
        allow=("127.0.0.1/32",),
        ports=(server.port,),
        pause="PT0S",
        robots=robots,
    )
    options = ReadingOptions("nose", Rules(every=True))
    clock = lambda: datetime.now(UTC) + later  # noqa: E731
    seeds = traversal.own_seeds
    with page_fetcher(traversal, options, seeds, None, clock, robots=kept) as fetch:
        yield fetch


def asks(server: KeepingServer, *paths: str) -> list[Ask]:
    return [Ask(f"{server.origin}/{path}", UNKNOWN) for path in paths]


def served(robots: bytes) -> KeepingServer:
    def answer(request: Request) -> Sent:
        if request.path == "/robots.txt":
            return Sent(answer_of(robots, "Content-Type: text/plain"))
        return Sent(answer_of(DOCUMENT, "Content-Type: text/turtle"))

    return KeepingServer(answer)


def requests(came: list[Came]) -> int:
    return sum(one.took.requests for one in came)


def test_pages_that_robots_txt_does_not_allow_are_not_asked_for() -> None:
    with served(b"User-agent: *\nDisallow: /private\n") as server, fetching(server) as fetch:
        wanted = asks(server, "0", "private/1")
        came = {one.iri: one.answer for one in fetch(wanted, MOST)}
        paths = [request.path for request in server.requests]
    assert paths == ["/robots.txt", "/0"]
    assert isinstance(came[wanted[0].iri], Content)
    assert isinstance(came[wanted[1].iri], Failed)


@pytest.mark.parametrize("robots", [b"", b"User-agent: *\nDisallow: /\n"])
def test_every_request_is_paid_also_where_no_page_may_be_asked_for(robots: bytes) -> None:
    with served(robots) as server, fetching(server) as fetch:
        came = [*fetch(asks(server, "0", "1"), MOST)]
        assert requests(came) == len(server.requests)
        assert sum(one.took.bytes for one in came) == server.sent + server.received


def test_robots_txt_is_asked_for_once() -> None:
    with served(b"") as server, fetching(server) as fetch:
        for path in ("0", "1", "2"):
            assert [*fetch(asks(server, path), MOST)]
        assert [request.path for request in server.requests].count("/robots.txt") == 1


def asked_of_robots(server: KeepingServer, kept: Path, later: timedelta = timedelta(0)) -> int:
    """How often a new process asks for robots.txt, which allows nothing."""
    before = len(server.requests)
    with fetching(server, kept=kept, later=later) as fetch:
        (came,) = [one for one in fetch(asks(server, "0"), MOST) if one.iri.endswith("/0")]
    assert isinstance(came.answer, Failed)
    assert came.answer.fault == "robots"
    return len(server.requests) - before


def test_robots_txt_is_not_asked_for_again_by_the_next_process_of_a_day(tmp_path: Path) -> None:
    with served(b"User-agent: *\nDisallow: /\n") as server:
        hours = [timedelta(hours=hours) for hours in (0, 0, 23, 25, 26, 0)]
        # The last is a clock that was set back.
        asked = [asked_of_robots(server, tmp_path / "robots", later) for later in hours]
    assert asked == [1, 0, 0, 1, 0, 1]


@pytest.mark.parametrize("content", [b"", b"{}\n", b'{"origin": "http://other", "read_at": "x"}\n'])
def test_robots_txt_is_asked_for_again_if_what_was_kept_is_broken(
    tmp_path: Path, content: bytes
) -> None:
    with served(b"User-agent: *\nDisallow: /\n") as server:
        assert asked_of_robots(server, tmp_path) == 1
        (file,) = tmp_path.iterdir()
        file.write_bytes(content)
        assert asked_of_robots(server, tmp_path) == 1


def test_robots_txt_that_cannot_be_kept_is_obeyed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with served(b"User-agent: *\nDisallow: /\n") as server:
        assert [asked_of_robots(server, tmp_path / "file") for _ in range(2)] == [1, 1]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_no_more_requests_are_sent_than_there_are(number: int) -> None:
    most = Amount(number, number, 1_000_000, 60.0)
    with served(b"") as server, fetching(server) as fetch:
        came = [*fetch(asks(server, "0", "1", "2", "3"), most)]
        assert len(server.requests) == requests(came) == number
    assert [one.answer is None for one in came] == [True] + [False] * (number - 1)


def test_robots_txt_is_not_asked_for_where_it_is_not_to_be_obeyed() -> None:
    with served(b"User-agent: *\nDisallow: /\n") as server, fetching(server, robots=False) as fetch:
        came = [*fetch(asks(server, "0"), MOST)]
        assert [request.path for request in server.requests] == ["/0"]
    assert isinstance(came[0].answer, Content)
