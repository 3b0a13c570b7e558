"""A web in which each host misbehaves in one way and one is good: what is good arrives, within the
budget, and the rows say what happened.
"""

from __future__ import annotations

import gzip
import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.certificates import make_certificates
from tests.support.counting_server import answer_of
from tests.support.keeping_server import KeepingServer, Request, Sent
from tests.support.projects.project import Project
from weir.lake.tables import DOCUMENTS, REQUESTS
from weir.project import Project as OpenProject
from weir.refresh.stage import Surroundings, refresh_remotes
from weir.remotes.evaluation import Clock
from weir.remotes.fetching import sleep_for
from weir.remotes.http.request import Secret
from weir.traversals import fetching
from weir.traversals.declarations import load_traversals
from weir.traversals.fetching import page_fetcher
from weir.traversals.reading import ReadingOptions

pytestmark = pytest.mark.usefixtures("slow")
TURTLE = "Content-Type: text/turtle"
GOOD_PAGES = 20
REFUSED = "http://127.0.0.99:1/metadata"
LIMITS = {"requests": 600, "bytes": 80_000_000, "seconds": 120}
PER_HOST = 30
SECRET = "c4n4ry"
START = datetime.now(UTC)
Answer = Callable[[Request], Sent]


@dataclass(frozen=True, slots=True)
class Expected:
    """What is known of a page after two evaluations: how its newest row ends.

    path: of the page. outcome, reason: of the row; the reason has this text.
    """

    outcome: str
    reason: str = ""
    path: str = "/0"


def turtle(text: str, *lines: str) -> Sent:
    return Sent(answer_of(text.encode(), TURTLE, *lines))


def links(*targets: object) -> str:
    return "".join(f"<> <http://e/p> <{target}> .\n" for target in targets)


def redirect(to: str) -> Answer:
    return lambda _: Sent(answer_of(b"", f"Location: {to}", status="302 Found"))


def loop(request: Request) -> Sent:
    return redirect("/1" if request.path == "/0" else "/0")(request)


def calendar(request: Request) -> Sent:
    """Each page leads to three later ones."""
    number = int(request.path[1:])
    return turtle(links(*(f"/{3 * number + more}" for more in (1, 2, 3))))


def many_links(request: Request) -> Sent:
    return turtle(links(*range(60_000)) if request.path == "/0" else '<> <http://e/p> "page" .')


def long_links(_: Request) -> Sent:
    return turtle(links(*range(400_000)))


def bomb_of_links(_: Request) -> Sent:
    content = gzip.compress(links(*range(400_000)).encode())
    return Sent(answer_of(content, TURTLE, "Content-Encoding: gzip"))


def not_modified(_: Request) -> Sent:
    return Sent(b"HTTP/1.1 304 Not Modified\r\n\r\n")


def alternating() -> Answer:
    number = itertools.count()
    return lambda _: turtle(f'<> <http://e/now> "{next(number)}" .')


def other_etags() -> Answer:
    """Content that stays, with an ETag of its own each time, as of a proxy that compresses."""
    number = itertools.count()
    return lambda _: turtle(links("http://e/x"), f'ETag: "{next(number)}-gzip"')


def equal_etags() -> Answer:
    """Content that changes under an ETag that stays; it is never compared."""
    number = itertools.count()
    return lambda _: turtle(f'<> <http://e/now> "{next(number)}" .', 'ETag: "same"')


def broken_etag(_: Request) -> Sent:
    return turtle(links("http://e/x"), 'ETag: "a\x01b", W/', "Last-Modified: yesterday")


def bomb_of_blank_nodes(_: Request) -> Sent:
    """A circle of nodes between which there is no difference: to label them takes long."""
    size = 25_000
    neighbours = "_:a{0} <http://e/p> _:a{1} .\n_:a{1} <http://e/p> _:a{0} .\n"
    return turtle("".join(neighbours.format(a, (a + 1) % size) for a in range(size)))


def hanging(_: Request) -> Sent:
    time.sleep(15)
    return Sent(b"")


def reset(_: Request) -> Sent:
    return Sent(b"HTTP/1.1 200 OK\r\nContent-Le", "reset")


def page_of_html(_: Request) -> Sent:
    return Sent(answer_of(b"<!DOCTYPE html><p>Moved", "Content-Type: text/html"))


def throttled(_: Request) -> Sent:
    return Sent(answer_of(b"", "Retry-After: 100000", status="429 No"))


def broken(_: Request) -> Sent:
    return turtle("<> <http://e/p> <unfinished")


HOSTS: Mapping[str, tuple[Answer, Expected]] = {
    "redirect loop": (loop, Expected("redirect")),
    "redirect to a network that is not allowed": (redirect(REFUSED), Expected("redirect")),
    "redirect to file:": (
        redirect("file:///etc/passwd"),
        Expected("failed", "without a usable Location"),
    ),
    "endless calendar": (calendar, Expected("unchanged")),
    "60,000 links": (many_links, Expected("unchanged")),
    "10 MB of links": (long_links, Expected("too_large", "has more than 2,000,000")),
    "10 MB of links, compressed": (bomb_of_links, Expected("too_large", "2,000,000")),
    "304 that nobody asked for": (not_modified, Expected("failed", "304")),
    "content that alternates": (alternating(), Expected("changed")),
    "an ETag each time": (other_etags(), Expected("unchanged")),
    "the same ETag of other content": (equal_etags(), Expected("changed")),
    "a broken ETag": (broken_etag, Expected("unchanged")),
    "bomb of blank nodes": (bomb_of_blank_nodes, Expected("failed", "in time")),
    "hangs": (hanging, Expected("failed", "in time")),
    "resets": (reset, Expected("failed", "onnection")),
    "HTML": (page_of_html, Expected("not_rdf", "no RDF format")),
    "asks to be left alone": (throttled, Expected("failed", "429")),
    "broken": (broken, Expected("broken", "line 1")),
}
ROBOTS: Mapping[str, Answer] = {
    "robots.txt fails": lambda _: Sent(answer_of(b"", status="500 No")),
    "robots.txt hangs": hanging,
    "robots.txt leads in a loop": redirect("/robots.txt"),
    "robots.txt is too large": lambda _: Sent(answer_of(b"#" * 3_000_000)),
}


def with_robots(answer: Answer, robots: Answer | None = None) -> Answer:
    def answered(request: Request) -> Sent:
        if request.path == "/robots.txt":
            return robots(request) if robots else Sent(answer_of(b"", status="404 No"))
        return answer(request)

    return answered


@dataclass(slots=True)
class HostileWeb:
    """The servers by what they do; `good` is the good one.

    rows: those of `documents/web`, in order. requests: those of `requests` that were settled.
    """

    servers: dict[str, KeepingServer]
    not_fetched: list[Mapping[str, int]]
    rows: list[dict[str, Any]]
    requests: list[dict[str, Any]]
    members: list[int]

    def newest(self, name: str, path: str = "/0") -> dict[str, Any] | None:
        """The newest row of a page."""
        iri = self.servers[name].origin + path
        return next((row for row in reversed(self.rows) if row["iri"] == iri), None)


def good_host(others: list[KeepingServer]) -> Answer:
    """A seed that leads to its own pages, and to the other hosts."""
    entries = links(*(f"{other.origin}/0" for other in others))
    seed = entries + links(*range(1, GOOD_PAGES), REFUSED, "file:///etc/passwd", "ftp://e/x")

    def answer(request: Request) -> Sent:
        return turtle(seed if request.path == "/0" else '<> <http://e/p> "good" .')

    return answer


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileWeb]:
    """All hosts, after two evaluations an hour apart."""
    folder = tmp_path_factory.mktemp("web")
    certificates = make_certificates(folder)
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patched:
        patched.setattr(fetching, "_MOST_SECONDS", 3.0)
        servers: dict[str, KeepingServer] = {}

        def serve(name: str, answer: Answer, pair: tuple[Path, Path] | None = None) -> None:
            address = f"127.0.1.{len(servers) + 1}" if pair is None else "127.0.0.1"
            servers[name] = stack.enter_context(KeepingServer(answer, address, pair))

        for name, (answer, _) in HOSTS.items():
            serve(name, with_robots(answer))
        for name, robots in ROBOTS.items():
            serve(name, with_robots(lambda _: turtle(links("http://e/x")), robots))
        plain = redirect(f"{servers['an ETag each time'].origin}/plain")
        serve("https to http", with_robots(plain), certificates.good)
        serve("good", with_robots(good_host([*servers.values()])))
        yield evaluated(Project(folder / "project"), servers, certificates.authority)


def evaluated(project: Project, servers: dict[str, KeepingServer], authority: Path) -> HostileWeb:
    ports = [server.port for server in servers.values()]
    allowed = [f"{server.address}/32" for server in servers.values()]
    project.write("sources.yml", "sources: []\n")
    project.write(
        "traversals.yml",
        f"traversals: [{{name: web, seeds: ['{servers['good'].origin}/0'], follow: all, hosts: any,"
        f" pause: PT0S, contact: a@b.example, allow: {allowed}, ports: {[*ports, 1]},"
        f" limits: {{depth: 4, per_host: {PER_HOST}}}, budget: {LIMITS}}}]\n",
    )
    declared = load_traversals(project.settings.traversals)["web"]
    not_fetched, members = [], []
    for hours in range(2):

        def now(hours: int = hours) -> datetime:
            return datetime.now(UTC) + timedelta(hours=hours)

        options = ReadingOptions("web", declared.rules())
        seeds, secret = declared.traversal.own_seeds, Secret(f"Bearer {SECRET}")
        with (
            page_fetcher(declared.traversal, options, seeds, secret, now, str(authority)) as fetch,
            OpenProject(project.settings) as opened,
        ):
            around = Surroundings(clock=Clock(now, sleep_for), fetch=fetch)
            (made,) = refresh_remotes(opened, "run", surroundings=around).traversals
        assert made.mark is not None, made.error
        not_fetched.append(made.mark.not_fetched)
        members.append(made.mark.documents)
    rows = project.table(DOCUMENTS.name("web"))
    rows.sort(key=lambda row: (row["round"], row["ordinal"]))
    requests = [row for row in project.table(REQUESTS.name) if row["phase"] == "settled"]
    return HostileWeb(servers, not_fetched, rows, requests, members)


def test_all_documents_of_the_good_host_arrive(web: HostileWeb) -> None:
    first = min(row["evaluation"] for row in web.rows)
    origin = web.servers["good"].origin
    arrived = {
        row["iri"]
        for row in web.rows
        if row["evaluation"] == first and row["outcome"] == "new" and row["is_member"]
    }
    assert {f"{origin}/{number}" for number in range(GOOD_PAGES)} <= arrived


@pytest.mark.parametrize("name", HOSTS)
def test_the_row_says_what_happened(web: HostileWeb, name: str) -> None:
    expected = HOSTS[name][1]
    row = web.newest(name, expected.path)
    assert row is not None
    assert (row["outcome"], row["is_member"]) == (
        expected.outcome,
        expected.outcome in ("changed", "unchanged"),
    )
    assert expected.reason in (row["reason"] or "")
    assert row["fault"] == (expected.outcome if row["reason"] else None)


@pytest.mark.parametrize("name", ROBOTS)
def test_nothing_is_asked_where_robots_txt_cannot_be_read(web: HostileWeb, name: str) -> None:
    if name == "robots.txt leads in a loop":
        # It is as if there were none (RFC 9309, 2.3.1.2).
        assert web.newest(name) is not None
        return
    assert {request.path for request in web.servers[name].requests} == {"/robots.txt"}
    assert web.newest(name) is None


def test_no_redirect_leads_from_https_to_http(web: HostileWeb) -> None:
    row = web.newest("https to http")
    assert row is not None
    assert row["outcome"] == "failed"
    assert "without a usable Location" in row["reason"]
    assert web.newest("an ETag each time", "/plain") is None


def test_what_is_not_public_is_not_asked(web: HostileWeb) -> None:
    rows = [row for row in web.rows if row["iri"] == REFUSED]
    assert {row["outcome"] for row in rows} == {"refused"}
    assert "127.0.0.99" in rows[0]["reason"]
    assert {row["iri"].partition(":")[0] for row in web.rows} == {"http", "https"}


def test_what_was_left_out_is_counted(web: HostileWeb) -> None:
    for not_fetched in web.not_fetched:
        assert not_fetched["redirects"] >= 1
        assert not_fetched["per_host"] >= 1
        assert not_fetched["left_alone"] >= 1


def test_each_evaluation_keeps_to_its_budget(web: HostileWeb) -> None:
    for evaluation in {row["evaluation"] for row in web.requests}:
        own = [row for row in web.requests if row["evaluation"] == evaluation]
        for unit, most in LIMITS.items():
            assert sum(row[unit] for row in own) <= most
    sent = sum(len(server.requests) for server in web.servers.values())
    assert sent <= sum(row["requests"] for row in web.requests)


def test_no_host_has_more_documents_than_the_limit(web: HostileWeb) -> None:
    newest = {row["iri"]: row for row in web.rows}
    for server in web.servers.values():
        own = [row for iri, row in newest.items() if iri.startswith(f"{server.origin}/")]
        assert sum(row["is_member"] for row in own) <= PER_HOST


def test_the_secret_is_sent_to_the_origin_of_the_seed_only(web: HostileWeb) -> None:
    for name, server in web.servers.items():
        with_secret = [request for request in server.requests if SECRET in str(request.head)]
        assert bool(with_secret) == (name == "good")
    assert SECRET not in str(web.rows) + str(web.requests)
