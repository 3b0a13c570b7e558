"""A pool gives every document once, politely; one document does no lasting harm to others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.certificates import Certificates, make_certificates
from tests.support.counting_server import answer_of
from tests.support.hostile_server import BEHAVIOURS, GOOD, Behaviour, HostileServer
from tests.support.keeping_server import KeepingServer, Request, Sent
from tests.support.page_outcomes import expected_outcome, outcome_of
from tests.traversals import slow_worker
from weir.remotes.http.outcomes import Failure
from weir.remotes.http.pages import Credential, Manner, Page
from weir.remotes.http.request import Secret
from weir.sandbox.frames import LENGTH
from weir.traversals import pool as pools
from weir.traversals.messages import FetchTask, PoolOptions
from weir.traversals.pool import Fetched, Pool
from weir.traversals.reading import ReadingOptions, options_text
from weir.traversals.rules import Rules

BEHAVING = "tests.traversals.worker_of_behaviours"
DOCUMENT = b"<http://e/s> <http://e/p> <http://e/o> ."
TURTLE = "Content-Type: text/turtle"


def document(_: Request) -> Sent:
    return Sent(answer_of(DOCUMENT, TURTLE))


def says(request: Request) -> Sent:
    """A document with the words in its path."""
    return Sent(answer_of(request.path[1:].replace("-", " ").encode(), TURTLE))


Servers = Callable[..., list[KeepingServer]]


@pytest.fixture
def serve() -> Iterator[Servers]:
    """Starts servers on addresses of their own, which are hosts of their own."""
    with ExitStack() as stack:

        def start(
            answer: Callable[[Request], Sent] = document, count: int = 1
        ) -> list[KeepingServer]:
            return [
                stack.enter_context(KeepingServer(answer, address=f"127.0.1.{number + 1}"))
                for number in range(count)
            ]

        yield start


def options(servers: Sequence[KeepingServer], **changes: Any) -> PoolOptions:
    ports = tuple(server.port for server in servers)
    manner = Manner("tests@example.org", ("127.0.0.0/8",), ports)
    return replace(PoolOptions(manner, options_text(ReadingOptions("web", Rules()))), **changes)


def task(id: int, server: KeepingServer, path: str = "", **changes: Any) -> FetchTask:
    url = f"{server.origin}/{path or id}"
    return replace(FetchTask(id, url, url, "text/turtle", 100_000, 15.0), **changes)


def by_id(fetched: Iterable[Fetched]) -> dict[int, Fetched]:
    ends = list(fetched)
    assert len({end.task.id for end in ends}) == len(ends)
    return {end.task.id: end for end in ends}


def outcomes(ends: dict[int, Fetched]) -> dict[int, str]:
    return {id: outcome_of(ends[id].outcome) for id in sorted(ends)}


def test_each_document_is_fetched_and_read_in_the_child(serve: Servers) -> None:
    servers = serve(count=3)
    with Pool(options(servers)) as pool:
        ends = by_id(pool.fetch([task(id, servers[id % 3]) for id in range(30)]))
    assert ends.keys() == set(range(30))
    for end in ends.values():
        assert end.value is not None
        assert end.value["lines"].encode() == DOCUMENT + b"\n"
        assert isinstance(end.outcome, Page)
        assert (end.outcome.status, end.outcome.body) == (200, b"")
        assert end.outcome.headers["content-type"] == "text/turtle"
        assert end.asked_at is not None
        assert end.answered_at is not None
        assert end.asked_at <= end.answered_at
        assert end.usage.measured
        assert end.usage.peer == end.task.url.split("/")[2].split(":")[0]
    assert sum(end.usage.sent for end in ends.values()) == sum(s.received for s in servers)
    assert sum(end.usage.received for end in ends.values()) == sum(s.sent for s in servers)


def test_a_host_has_one_connection_and_one_request_at_a_time(serve: Servers) -> None:
    def slow(request: Request) -> Sent:
        time.sleep(0.02)
        return document(request)

    servers = serve(slow, 2)
    with Pool(options(servers)) as pool:
        by_id(pool.fetch([task(id, servers[id % 2]) for id in range(20)]))
    assert [server.busiest for server in servers] == [1, 1]
    assert [server.connections for server in servers] == [1, 1]


def test_a_server_that_closes_every_other_time_is_asked_until_the_end(serve: Servers) -> None:
    def answer(request: Request) -> Sent:
        return Sent(document(request).content, "close" if request.number % 2 else "keep")

    servers = serve(answer)
    with Pool(options(servers)) as pool:
        ends = by_id(pool.fetch([task(id, servers[0]) for id in range(20)]))
    assert set(outcomes(ends).values()) == {"page 200"}
    assert (servers[0].connections, len(servers[0].requests)) == (10, 20)


def test_connections_and_child_are_kept_between_waves(serve: Servers) -> None:
    servers = serve()
    with Pool(options(servers)) as pool:
        children = set()
        for wave in range(3):
            by_id(pool.fetch([task(wave, servers[0])]))
            assert pool._child is not None
            children.add(id(pool._child))
    assert (servers[0].connections, len(children)) == (1, 1)


def test_hosts_are_asked_beside_each_other(serve: Servers) -> None:
    all_at_once = threading.Barrier(8, timeout=10)

    def together(request: Request) -> Sent:
        all_at_once.wait()
        return document(request)

    servers = serve(together, 8)
    with Pool(options(servers)) as pool:
        ends = by_id(pool.fetch([task(id, server) for id, server in enumerate(servers)]))
    assert set(outcomes(ends).values()) == {"page 200"}


def test_a_document_is_there_before_those_that_take_longer(serve: Servers) -> None:
    def by_path(request: Request) -> Sent:
        time.sleep(1.0 if request.path == "/0" else 0.0)
        return document(request)

    servers = serve(by_path, 2)
    with Pool(options(servers)) as pool:
        ends = [end.task.id for end in pool.fetch([task(id, servers[id]) for id in range(2)])]
    assert ends == [1, 0]


def test_a_host_is_left_alone_between_two_requests(serve: Servers) -> None:
    servers = serve()
    with Pool(options(servers)) as pool:
        ends = by_id(pool.fetch([task(id, servers[0], pause=0.3) for id in range(4)]))
    for id in range(1, 4):
        asked, answered = ends[id].asked_at, ends[id - 1].answered_at
        assert asked is not None
        assert answered is not None
        assert (asked - answered).total_seconds() > 0.28


def test_conditions_and_credentials_are_sent(serve: Servers) -> None:
    def answer(request: Request) -> Sent:
        matches = request.header("if-none-match") == '"1"'
        return Sent(b"HTTP/1.1 304 Not Modified\r\n\r\n") if matches else document(request)

    servers = serve(answer, 2)
    credential = Credential(servers[0].origin, Secret("Bearer t0ken"))
    tasks = [
        task(id, servers[id], conditions=(("If-None-Match", '"1"'),), credential=credential)
        for id in range(2)
    ]
    with Pool(options(servers)) as pool:
        ends = by_id(pool.fetch(tasks))
    assert outcomes(ends) == {0: "page 304", 1: "page 304"}
    assert [end.value for end in ends.values()] == [None, None]
    sent = [server.requests[0].header("authorization") for server in servers]
    assert sent == ["Bearer t0ken", None]


def test_a_redirect_is_given_back(serve: Servers) -> None:
    servers = serve(lambda _: Sent(answer_of(b"", "Location: /b", status="303 See Other")))
    with Pool(options(servers)) as pool:
        end = by_id(pool.fetch([task(0, servers[0])]))[0]
    assert isinstance(end.outcome, Page)
    assert (end.outcome.status, end.outcome.headers["location"]) == (303, "/b")


def test_the_body_itself_is_given_where_it_is_wanted(serve: Servers) -> None:
    servers = serve()
    with Pool(options(servers)) as pool:
        end = by_id(pool.fetch([task(0, servers[0], "robots.txt", unread=True)]))[0]
    assert isinstance(end.outcome, Page)
    assert (end.outcome.body, end.value) == (DOCUMENT, None)


def test_a_url_that_is_refused_reaches_no_child() -> None:
    urls = ["file:///etc/passwd", "http://u:p@e/", "http://e:9/"]
    tasks = [FetchTask(id, url, url, "*/*", 1000, 5.0) for id, url in enumerate(urls)]
    with Pool(PoolOptions(Manner("c"))) as pool:
        ends = by_id(pool.fetch(tasks))
        assert pool._child is None
    assert set(outcomes(ends).values()) == {"url_refused"}
    assert {end.asked_at for end in ends.values()} == {None}


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://[::1]/", "http://169.254.169.254/"])
def test_an_address_that_is_not_public_is_refused(url: str) -> None:
    with Pool(PoolOptions(Manner("c"))) as pool:
        end = by_id(pool.fetch([FetchTask(0, url, url, "*/*", 1000, 5.0)]))[0]
    assert outcome_of(end.outcome) == "address_refused"
    assert end.usage.sent + end.usage.received == 0


def test_a_host_that_asks_to_be_left_alone_is(serve: Servers) -> None:
    def answer(request: Request) -> Sent:
        busy = request.path == "/2"
        return (
            Sent(answer_of(b"", "Retry-After: 7", status="429 No")) if busy else document(request)
        )

    servers = serve(answer, 2)
    tasks = [*[task(id, servers[0]) for id in range(5)], task(5, servers[1])]
    with Pool(options(servers)) as pool:
        ends = by_id(pool.fetch(tasks))
    throttled = dict.fromkeys((2, 3, 4), "throttled")
    assert outcomes(ends) == {0: "page 200", 1: "page 200", **throttled, 5: "page 200"}
    assert [end.asked_at is None for _, end in sorted(ends.items())] == [False] * 3 + [True] * 2 + [
        False
    ]
    for id in throttled:
        outcome = ends[id].outcome
        assert isinstance(outcome, Failure)
        assert outcome.retry_after == 7.0
    assert len(servers[0].requests) == 3


def test_a_host_that_fails_five_times_in_a_row_is_asked_no_more(serve: Servers) -> None:
    servers = serve(lambda _: Sent(answer_of(b"", status="500 No")))
    with Pool(options(servers)) as pool:
        ends = by_id(pool.fetch([task(id, servers[0]) for id in range(50)]))
    assert set(outcomes(ends).values()) == {"server_error"}
    assert len(servers[0].requests) == 5


def test_all_tasks_together_take_no_more_than_the_budget(serve: Servers) -> None:
    servers = serve(lambda _: Sent(answer_of(b"x" * 900)), 4)
    tasks = [task(id, servers[id % 4], most_bytes=5000) for id in range(40)]
    with Pool(options(servers)) as pool:
        ends = by_id(pool.fetch(tasks, most_bytes=20_000))
    assert ends.keys() == set(range(40))
    assert sum(end.usage.sent + end.usage.received for end in ends.values()) <= 20_000
    good = [id for id, outcome in outcomes(ends).items() if outcome == "page 200"]
    assert len(good) >= 14
    rest = [outcomes(ends)[id] for id in ends if id not in good]
    assert set(rest) == {"too_many_bytes"}


def test_no_document_is_longer_than_allowed(serve: Servers) -> None:
    servers = serve(lambda _: Sent(answer_of(b"x" * 5000)))
    with Pool(options(servers)) as pool:
        end = by_id(pool.fetch([task(0, servers[0], document_bytes=4999)]))[0]
    assert outcome_of(end.outcome) == "too_much_decoded"


def test_a_fetch_that_nobody_waits_for_leaves_nothing_behind(serve: Servers) -> None:
    servers = serve(count=2)
    with Pool(options(servers)) as pool:
        first = pool.fetch([task(id, servers[id % 2]) for id in range(10)])
        next(first)
        first.close()
        assert outcomes(by_id(pool.fetch([task(3, servers[0])]))) == {3: "page 200"}


@pytest.mark.usefixtures("slow")
def test_the_seconds_of_a_task_do_not_count_the_start_of_the_child(
    serve: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "WORKER", slow_worker.__name__)
    servers = serve()
    with Pool(options(servers)) as pool:
        end = by_id(pool.fetch([task(0, servers[0], seconds=slow_worker.SECONDS - 1)]))[0]
    assert outcome_of(end.outcome) == "page 200"


@pytest.fixture
def behaving(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child reads documents as their content says."""
    monkeypatch.setattr(pools, "WORKER", BEHAVING)


@pytest.mark.usefixtures("behaving")
def test_content_type_url_and_options_reach_the_reader(serve: Servers) -> None:
    servers = serve(says)
    with Pool(options(servers, reading={"ignore": ["http://e/p"]})) as pool:
        end = by_id(pool.fetch([task(0, servers[0], "a-b")]))[0]
    assert end.value == {
        "content": b"a b",
        "type": "text/turtle",
        "url": f"{servers[0].origin}/a-b",
        "options": {"ignore": ["http://e/p"]},
    }


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("raise", "worker_failed"),
        ("recurse", "worker_failed"),
        ("memory", "too_much_memory"),
        ("no-JSON", "worker_failed"),
        ("die", "worker_failed"),
        ("exit", "worker_failed"),
        ("out-of-memory", "too_much_memory"),
        ("hang", "deadline_passed"),
    ],
)
@pytest.mark.usefixtures("behaving")
def test_a_document_that_cannot_be_read_fails_alone(serve: Servers, words: str, kind: str) -> None:
    servers = serve(says, 2)
    bad = task(0, servers[0], words, seconds=1.0)
    with Pool(options(servers)) as pool:
        assert outcomes(by_id(pool.fetch([bad]))) == {0: kind}
        good = [task(id, servers[id % 2], "good") for id in range(1, 11)]
        ends = by_id(pool.fetch([good[0], bad, *good[1:]]))
    assert outcomes(ends)[0] == kind
    failed = {id for id, outcome in outcomes(ends).items() if outcome != "page 200"} - {0}
    # Of the others, only one that the child had at that moment can have failed.
    assert len(failed) <= 1
    assert {outcomes(ends)[id] for id in failed} <= {"interrupted"}


@pytest.mark.usefixtures("behaving")
def test_a_document_that_waits_too_long_for_another_one_ends_without_a_kill(
    serve: Servers,
) -> None:
    def answer(request: Request) -> Sent:
        time.sleep(0.3 if request.path == "/late" else 0.0)
        return says(request)

    servers = serve(answer, 2)
    with Pool(options(servers)) as pool:
        by_id(pool.fetch([task(9, servers[0], "good")]))
        child = pool._child
        slow, late = task(0, servers[0], "slow"), task(1, servers[1], "late", seconds=0.9)
        ends = by_id(pool.fetch([slow, late]))
        assert pool._child is child
    assert outcomes(ends) == {0: "page 200", 1: "interrupted"}


@pytest.mark.usefixtures("behaving")
def test_what_a_document_prints_is_no_frame(serve: Servers) -> None:
    servers = serve(says)
    with Pool(options(servers)) as pool:
        ends = by_id(pool.fetch([task(0, servers[0], "print"), task(1, servers[0], "good")]))
    assert set(outcomes(ends).values()) == {"page 200"}


@pytest.mark.usefixtures("behaving")
def test_text_with_half_of_a_surrogate_pair_arrives(serve: Servers) -> None:
    servers = serve(says)
    with Pool(options(servers)) as pool:
        end = by_id(pool.fetch([task(0, servers[0], "surrogate")]))[0]
    assert end.value == {"text": "\ud800"}


@pytest.mark.usefixtures("behaving")
def test_the_child_has_no_variable_of_its_parent(
    serve: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_X", "http://u:c4n4ry@e/")
    servers = serve(says)
    with Pool(options(servers)) as pool:
        end = by_id(pool.fetch([task(0, servers[0], "environment")]))[0]
    assert end.value is not None
    assert "PYTHONPATH" in end.value["variables"]
    assert not {"AIRFLOW_CONN_X", "HOME", "PATH"} & set(end.value["variables"])


def test_a_secret_is_in_no_argument_and_no_variable_of_the_child(serve: Servers) -> None:
    servers = serve()
    credential = Credential(servers[0].origin, Secret("Bearer c4n4ry"))
    with Pool(options(servers)) as pool:
        by_id(pool.fetch([task(0, servers[0], credential=credential)]))
        assert pool._child is not None
        process = Path(f"/proc/{pool._child._process.pid}")
        for name in ("cmdline", "environ"):
            assert b"c4n4ry" not in (process / name).read_bytes()


def test_a_child_that_was_killed_is_replaced(serve: Servers) -> None:
    servers = serve()
    with Pool(options(servers)) as pool:
        by_id(pool.fetch([task(0, servers[0])]))
        assert pool._child is not None
        pool._child._process.kill()
        ends = by_id(pool.fetch([task(id, servers[0]) for id in range(3)]))
    assert outcomes(ends) == {0: "worker_failed", 1: "page 200", 2: "page 200"}
    assert not ends[0].usage.measured
    assert ends[0].usage.received == ends[0].task.most_bytes


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("sent", [b"no frame", b'{"reading":99}', LENGTH.pack(1 << 60)])
def test_a_child_that_speaks_otherwise_is_ended(serve: Servers, sent: bytes) -> None:
    servers = serve()
    with Pool(options(servers)) as pool:
        by_id(pool.fetch([task(0, servers[0])]))
        assert pool._child is not None
        framed = sent if len(sent) == LENGTH.size else LENGTH.pack(len(sent)) + sent
        pool._child._received.add(framed)
        ends = by_id(pool.fetch([task(0, servers[0]), task(1, servers[0])]))
    assert outcomes(ends) == {0: "worker_failed", 1: "page 200"}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates of a test authority."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def hostile(certificates: Certificates) -> Iterator[HostileServer]:
    """The hostile server."""
    with HostileServer(certificates) as server:
        yield server


@pytest.fixture(scope="module")
def among_the_hostile(hostile: HostileServer) -> Iterator[Pool]:
    """One pool for all behaviours, one after another."""
    ports = tuple(hostile.port(behaviour) for behaviour in (GOOD, *BEHAVIOURS))
    authority = str(hostile.certificates.authority)
    manner = Manner("tests@example.org", ("127.0.0.1/32", "::1/128"), ports, authority)
    with Pool(PoolOptions(manner, options_text(ReadingOptions("web", Rules())))) as pool:
        yield pool


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
def test_a_hostile_server_ends_within_its_budget_and_holds_up_no_other_host(
    hostile: HostileServer, among_the_hostile: Pool, behaviour: Behaviour
) -> None:
    seconds = 1.5 if behaviour.expected == "deadline_passed" else 15.0
    most, url = 1 << 20, hostile.url(behaviour)
    bad = FetchTask(0, url, url, "*/*", most, seconds)
    good_url = hostile.url(GOOD).replace("127.0.0.1", "localhost")
    good = [FetchTask(id, good_url, good_url, "*/*", most, 15.0) for id in range(1, 11)]
    began = time.monotonic()
    ends: dict[int, Fetched] = {}
    for end in among_the_hostile.fetch([bad, *good]):
        ends[end.task.id] = end
        if end.task.id == 0:
            assert time.monotonic() - began <= seconds + 10  # a busy machine
    assert outcomes(ends) == {
        0: expected_outcome(behaviour),
        **dict.fromkeys(range(1, 11), "page 200"),
    }
    assert ends[0].usage.measured
    assert ends[0].usage.sent + ends[0].usage.received <= most
    if behaviour.expected == "deadline_passed":
        assert max(ends[id].usage.seconds for id in range(1, 11)) < 1.0
