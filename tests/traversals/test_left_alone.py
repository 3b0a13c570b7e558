"""Over HTTP: what was not asked for is no answer, and no evaluation spends more than its budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.counting_server import answer_of
from tests.support.keeping_server import KeepingServer, Request, Sent
from tests.support.projects.project import Project
from tests.traversals import killed_worker
from weir.lake.lake import Lake
from weir.lake.tables import REQUESTS
from weir.project import Project as OpenProject
from weir.refresh.stage import Surroundings, refresh_remotes
from weir.remotes.evaluation import Clock
from weir.remotes.fetching import sleep_for
from weir.traversals import pool as pools
from weir.traversals.inbox import DocumentMark, Page, pages_of

pytestmark = pytest.mark.usefixtures("sampled")

START = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
PAGES = 12
TURTLE = "Content-Type: text/turtle"
LINKS = "".join(f"<> <http://e/p> </{number}> .\n" for number in range(1, PAGES))
THROTTLED = Sent(answer_of(b"", "Retry-After: 3600", status="429 No"))
BROKEN = Sent(answer_of(b"", status="500 No"))


class Web:
    """A project with a traversal of a server's pages: a seed, and those that it links to."""

    def __init__(
        self,
        folder: Path,
        server: KeepingServer,
        budget: str,
        more: str,
        others: Sequence[KeepingServer],
    ) -> None:
        self.server, self.project = server, Project(folder)
        self.project.write("sources.yml", "sources: []\n")
        self.project.write(
            "traversals.yml",
            f"traversals: [{{name: nose, seeds: ['{server.origin}/0'], follow: all, pause: PT0S,"
            f" contact: a@b.example, allow: [127.0.0.0/24],"
            f" ports: {[one.port for one in (server, *others)]},"
            f" budget: {{{budget}}}, {more}}}]\n",
        )

    def evaluate(self, at: timedelta) -> DocumentMark:
        """Evaluate it so long after the start."""
        began = time.monotonic()

        def now() -> datetime:
            return START + at + timedelta(seconds=time.monotonic() - began)

        around = Surroundings(clock=Clock(now, sleep_for))
        with OpenProject(self.project.settings) as project:
            (made,) = refresh_remotes(project, "run", surroundings=around).traversals
        assert made.error is None
        assert made.mark is not None
        return made.mark

    @property
    def known(self) -> dict[str, Page]:
        """What is known, by the path of the page."""
        pages = pages_of(Lake(self.project.settings.lake), "nose")
        return {iri.removeprefix(self.server.origin): page for iri, page in pages.items()}

    @property
    def asked(self) -> list[str]:
        """The paths that were asked for so far."""
        return [request.path for request in self.server.requests]


def document(request: Request) -> Sent:
    """A seed that links to the other pages, which have a text."""
    text = LINKS if request.path == "/0" else f'<> <http://e/text> "{request.path}" .'
    return Sent(answer_of(text.encode(), TURTLE))


@contextmanager
def web(
    folder: Path,
    answer: Callable[[Request], Sent],
    budget: str = "",
    more: str = "robots: false",
    *others: KeepingServer,
) -> Iterator[Web]:
    """A project with the pages of a server, budget and other keys; others may be asked, too."""
    with KeepingServer(answer) as server:
        yield Web(folder, server, budget, more, others)


def test_pages_of_a_host_that_asks_to_be_left_alone_are_not_answered(tmp_path: Path) -> None:
    is_busy = [True]

    def answer(request: Request) -> Sent:
        return THROTTLED if is_busy[0] and request.path != "/0" else document(request)

    with web(tmp_path, answer) as own:
        mark = own.evaluate(timedelta())
        assert len(own.asked) == 2
        assert len(own.known) == 2
        assert mark.not_fetched == {"left_alone": PAGES - 2}
        is_busy[0] = False
        # Of the host nothing is asked before its time, also not what was never asked for.
        own.evaluate(timedelta(minutes=59))
        assert len(own.asked) == 2
        own.evaluate(timedelta(hours=2))
        assert {path for path, page in own.known.items() if page.member} == {
            f"/{number}" for number in range(PAGES)
        }


def test_pages_of_a_host_that_fails_are_not_answered_and_it_is_tried_by_one_page(
    tmp_path: Path,
) -> None:
    def answer(request: Request) -> Sent:
        return BROKEN if request.path != "/0" else document(request)

    with web(tmp_path, answer) as own:
        mark = own.evaluate(timedelta())
        failed = [path for path, page in own.known.items() if page.known.failures]
        assert len(failed) == 5
        assert mark.not_fetched == {"left_alone": PAGES - 6}
        own.evaluate(timedelta(hours=1))
        # The page on trial is the seed, whose answer opens the host; then five fail again.
        assert len(own.asked) == 6 + 6


@pytest.mark.parametrize("status", ["503 No", "429 No", "500 No"])
def test_pages_are_still_due_where_robots_txt_cannot_be_read(tmp_path: Path, status: str) -> None:
    is_broken = [True]

    def answer(request: Request) -> Sent:
        if request.path == "/robots.txt":
            return Sent(answer_of(b"", status=status if is_broken[0] else "404 No"))
        return document(request)

    with web(tmp_path, answer, more="robots: true") as own:
        mark = own.evaluate(timedelta())
        assert own.asked == ["/robots.txt"]
        assert own.known == {}
        assert mark.not_fetched == {"left_alone": 1}
        is_broken[0] = False
        own.evaluate(timedelta(hours=1))
        assert len(own.known) == PAGES


def test_requests_take_no_more_seconds_than_the_budget(tmp_path: Path) -> None:
    def answer(request: Request) -> Sent:
        time.sleep(0.0 if request.path == "/0" else 0.4)
        return document(request)

    with web(tmp_path, answer, "seconds: 2") as own:
        mark = own.evaluate(timedelta())
        rows = [row for row in own.project.table(REQUESTS.name) if row["phase"] == "settled"]
        assert sum(row["seconds"] for row in rows) <= 2
        assert mark.stop == "budget"
        # What was not sent, or not given the time that it may take, is no failure.
        assert [path for path, page in own.known.items() if page.known.failures] == []
        assert mark.not_fetched == {"budget": PAGES - len(own.known)}


@pytest.mark.usefixtures("slow")
def test_what_gets_fewer_bytes_than_it_may_take_is_no_failure(tmp_path: Path) -> None:
    def answer(request: Request) -> Sent:
        if request.path == "/0":
            return document(request)
        text = f'<> <http://e/text> "{"x" * 15_000}" .'
        return Sent(answer_of(text.encode(), TURTLE))

    with web(tmp_path, answer, "bytes: 110000") as own:
        mark = own.evaluate(timedelta())
        assert mark.stop == "budget"
        assert [path for path, page in own.known.items() if page.known.failures] == []
        assert 1 <= len(own.known) < PAGES
        assert mark.not_fetched == {"budget": PAGES - len(own.known)}
        for hour in range(1, 4):
            own.evaluate(timedelta(hours=hour))
        assert len(own.known) == PAGES


def test_a_host_with_many_pages_keeps_no_other_one_waiting(tmp_path: Path) -> None:
    with ExitStack() as stack:
        few = stack.enter_context(KeepingServer(document, "127.0.0.9"))

        def answer(request: Request) -> Sent:
            if request.path != "/0":
                return document(request)
            many = "".join(f"<> <http://e/p> </{number}> .\n" for number in range(1000, 2000))
            return Sent(answer_of((many + f"<> <http://e/p> <{few.origin}/0> .").encode(), TURTLE))

        more = "robots: false, hosts: any"
        own = stack.enter_context(web(tmp_path, answer, "requests: 50", more, few))
        own.evaluate(timedelta())
        assert len(few.requests) == PAGES


def test_pauses_that_a_host_wants_make_an_evaluation_no_longer(tmp_path: Path) -> None:
    def answer(request: Request) -> Sent:
        if request.path == "/robots.txt":
            return Sent(answer_of(b"User-agent: *\nCrawl-delay: 60"))
        return document(request)

    with web(tmp_path, answer, "seconds: 3", "robots: true") as own:
        mark = own.evaluate(timedelta())
        assert mark.stop == "budget"
        assert own.asked == ["/robots.txt"]
        assert mark.not_fetched == {"budget": 1}


def test_what_another_document_interrupted_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "WORKER", killed_worker.__name__)

    def slow(request: Request) -> Sent:
        time.sleep(0.0 if request.path == "/0" else 0.3)
        return document(request)

    with ExitStack() as stack:
        killing = stack.enter_context(KeepingServer(document, "127.0.0.9"))

        def answer(request: Request) -> Sent:
            if request.path != "/0":
                return slow(request)
            bad = f"<> <http://e/p> <{killing.origin}/{killed_worker.PATH}> .\n"
            return Sent(answer_of(bad.encode() + LINKS.encode(), TURTLE))

        own = stack.enter_context(web(tmp_path, answer, "", "robots: false, hosts: any", killing))
        own.evaluate(timedelta())
        failed = [path for path, page in own.known.items() if page.known.failures]
        assert [path.rpartition("/")[2] for path in failed] == [killed_worker.PATH]
        assert own.asked.count("/1") == 2
        assert len(own.known) == PAGES + 1
