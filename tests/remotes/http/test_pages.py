"""Pages come over kept connections, each within its own limits; nothing crosses origins."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.certificates import Certificates
from tests.support.counting_server import answer_of
from tests.support.keeping_server import KeepingServer, Request, Sent
from weir.remotes.http import pages
from weir.remotes.http.decoding import DecodingLimits
from weir.remotes.http.iri_urls import redirect_url
from weir.remotes.http.metering import Deadline, Meter
from weir.remotes.http.outcomes import Failure
from weir.remotes.http.pages import Connections, Credential, Manner, Page, PageRequest
from weir.remotes.http.request import FetchLimits, Secret
from weir.remotes.http.urls import UrlError

LIMITS = FetchLimits(bytes=1 << 20, seconds=20.0)
OK = answer_of(b"page", "Content-Type: text/turtle")
LOOPBACK = ("127.0.0.0/8",)
SECRET = Secret("Bearer c4n4ry-token")


def keeping(answer: bytes | Callable[[Request], Sent], **settings: Any) -> KeepingServer:
    return KeepingServer(
        (lambda _: Sent(answer)) if isinstance(answer, bytes) else answer, **settings
    )


def connections(*servers: KeepingServer, **changes: Any) -> Connections:
    ports = tuple(server.port for server in servers)
    return Connections(replace(Manner("tests@example.org", LOOPBACK, ports), **changes))


def get(
    kept: Connections, server: KeepingServer, path: str = "/", **changes: Any
) -> tuple[Page | Failure, Meter]:
    request = replace(PageRequest(f"{server.origin}{path}", "text/turtle", LIMITS), **changes)
    meter = Meter(request.limits.bytes)
    return kept.get(request, meter, Deadline.after(request.limits.seconds)), meter


def page(outcome: Page | Failure) -> Page:
    assert isinstance(outcome, Page), outcome
    return outcome


def kind(outcome: Page | Failure) -> str | int:
    return outcome.kind if isinstance(outcome, Failure) else outcome.status


def test_requests_of_an_origin_follow_each_other_on_one_connection() -> None:
    with keeping(OK) as server, connections(server) as kept:
        assert [page(get(kept, server)[0]).body for _ in range(5)] == [b"page"] * 5
        assert (server.connections, len(server.requests)) == (1, 5)


def test_a_request_says_what_is_understood_and_that_more_may_follow() -> None:
    with keeping(OK) as server, connections(server) as kept:
        get(kept, server, "/a?b", conditions=(("If-None-Match", '"1"'),))
        sent, port = server.requests[0].head.decode(), server.port
    assert sent == (
        "GET /a?b HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{port}\r\n"
        "User-Agent: Weir (tests@example.org)\r\n"
        "Accept: text/turtle\r\n"
        "Accept-Encoding: gzip\r\n"
        "Connection: keep-alive\r\n"
        'If-None-Match: "1"\r\n\r\n'
    )


@given(bodies=st.lists(st.binary(max_size=100_000), min_size=1, max_size=5), zipped=st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_meter_of_each_request_counts_its_own_bytes(bodies: list[bytes], zipped: bool) -> None:
    def answer(request: Request) -> Sent:
        body = bodies[request.number]
        coded = gzip.compress(body) if zipped else body
        return Sent(answer_of(coded, *(["Content-Encoding: gzip"] if zipped else [])))

    with keeping(answer) as server, connections(server) as kept:
        for body in bodies:
            before = server.sent, server.received
            outcome, meter = get(kept, server)
            assert page(outcome).body == body
            assert (meter.sent, meter.peer) == (server.received - before[1], "127.0.0.1")
            assert meter.received <= len(answer_of(body)) + 200
        assert server.connections == 1


@pytest.mark.parametrize("body", [b"", b"x" * 3000], ids=["short", "long"])
def test_no_byte_beyond_its_limit_is_received_on_a_connection_that_is_kept(body: bytes) -> None:
    with keeping(answer_of(body)) as server, connections(server) as kept:
        page(get(kept, server)[0])
        outcome, meter = get(kept, server, limits=replace(LIMITS, bytes=1000))
        assert kind(outcome) == ("too_many_bytes" if body else 200)
        assert meter.total <= 1000
        page(get(kept, server)[0])


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        ("301 Moved", ["Location: http://b.example/#x"]),
        ("302 Found", ["Location: file:///etc/passwd"]),
        ("303 See Other", ["Location: /é"]),
        ("307 Temporary", ["Location: http://127.0.0.1:1/"]),
        ("308 Permanent", []),
        ("300 Choices", []),
        ("401 No", ["WWW-Authenticate: Basic"]),
        ("403 No", []),
        ("404 No", []),
        ("410 Gone", []),
    ],
)
@pytest.mark.parametrize(
    "body", [b"", b"<html>" * 100, b"x" * 200_000], ids=["none", "short", "long"]
)
def test_a_status_that_says_what_is_at_a_url_is_a_page(
    status: str, headers: list[str], body: bytes
) -> None:
    with keeping(answer_of(body, *headers, status=status)) as server, connections(server) as kept:
        for _ in range(2):
            answer = page(get(kept, server)[0])
            assert (answer.status, answer.body) == (int(status[:3]), b"")
            for header in headers:
                name, value = header.split(": ")
                assert answer.headers[name.lower()] == value.encode("latin-1").decode("latin-1")
        # A long body that nobody wants is not worth a connection.
        assert server.connections == (2 if len(body) > 100_000 else 1)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (answer_of(b"", status="204 No Content"), "unusable_status"),
        (answer_of(b"x", status="206 Part"), "incomplete"),
        (answer_of(b"x", "X-SQL-State: S1TAT"), "incomplete"),
        (answer_of(b"x", status="400 No"), "client_error"),
        (answer_of(b"x", status="406 No"), "client_error"),
        (answer_of(b"x", status="429 No"), "throttled"),
        (answer_of(b"x", "Retry-After: 7", status="503 No"), "throttled"),
        (answer_of(b"x", status="503 No"), "server_error"),
        (answer_of(b"x", "Content-Encoding: br"), "malformed_encoding"),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", "unusable_status"),
        (b"SSH-2.0\r\n\r\n", "malformed_http"),
    ],
)
def test_another_status_is_a_failure_and_the_next_request_is_none(
    answer: bytes, expected: str
) -> None:
    def answers(request: Request) -> Sent:
        return Sent(OK if request.path == "/good" else answer)

    with keeping(answers) as server, connections(server) as kept:
        assert kind(get(kept, server)[0]) == expected
        assert kind(get(kept, server, "/good")[0]) == 200


def test_a_304_is_an_answer_to_a_condition() -> None:
    answer = b'HTTP/1.1 304 Not Modified\r\nETag: "2"\r\nCache-Control: max-age=5\r\n\r\n'
    with keeping(answer) as server, connections(server) as kept:
        for _ in range(2):
            outcome, _ = get(kept, server, conditions=(("If-None-Match", '"1"'),))
            assert page(outcome) == Page(304, {"etag": '"2"', "cache-control": "max-age=5"}, b"")
        assert server.connections == 1


def test_a_wait_that_the_server_asks_for_is_given_back() -> None:
    answer = answer_of(b"", "Retry-After: 7", status="503 Later")
    with keeping(answer) as server, connections(server) as kept:
        outcome, _ = get(kept, server)
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.retry_after) == ("throttled", 7.0)


def test_headers_have_lower_case_names_and_the_list_of_their_values() -> None:
    answer = answer_of(b"", "LINK: <a>; rel=x", "Link: <b>; rel=y")
    with keeping(answer) as server, connections(server) as kept:
        headers = page(get(kept, server)[0]).headers
    assert headers == {"content-length": "0", "link": "<a>; rel=x, <b>; rel=y"}


def test_a_location_in_utf_8_is_read_as_such() -> None:
    answer = (
        b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /\xc3\xa9\r\nX-Old: \xe9\r\n\r\n"
    )
    with keeping(answer) as server, connections(server) as kept:
        headers = page(get(kept, server)[0]).headers
    assert (headers["location"], headers["x-old"]) == ("/é", "é")


@pytest.mark.parametrize("after", ["close", "reset"])
@pytest.mark.parametrize("secured", [False, True], ids=["http", "https"])
@pytest.mark.parametrize("noticed", [False, True], ids=["at once", "later"])
def test_a_kept_connection_that_the_server_closed_is_replaced(
    after: Any, secured: bool, noticed: bool, certificates: Certificates
) -> None:
    pair = certificates.good if secured else None
    with (
        keeping(lambda request: Sent(OK, after if request.number else "keep"), pair=pair) as server,
        connections(server, ca_file=str(certificates.authority)) as kept,
    ):
        for _ in range(8):
            assert page(get(kept, server)[0]).body == b"page"
            if noticed:
                time.sleep(0.02)
        assert server.connections == 4
        assert len(server.requests) == 8


def test_a_request_that_a_kept_connection_lost_is_sent_once_more() -> None:
    """The server closes only when the request is there, so that nothing shows it before."""

    def answer(request: Request) -> Sent:
        return Sent(b"" if request.number else OK, "close" if request.number else "keep")

    with keeping(answer) as server, connections(server) as kept:
        page(get(kept, server)[0])
        outcome, meter = get(kept, server)
        assert page(outcome).body == b"page"
        assert [(request.connection, request.number) for request in server.requests] == [
            (0, 0),
            (0, 1),
            (1, 0),
        ]
        assert meter.sent == len(server.requests[1].head) + len(server.requests[2].head)


@pytest.mark.parametrize("part", [b"H", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"])
def test_a_request_whose_answer_had_begun_is_not_sent_again(part: bytes) -> None:
    def answer(request: Request) -> Sent:
        return Sent(part, "close") if request.number else Sent(OK)

    with keeping(answer) as server, connections(server) as kept:
        page(get(kept, server)[0])
        assert kind(get(kept, server)[0]) == "connection_lost"
        assert len(server.requests) == 2


def test_a_request_on_a_new_connection_is_not_sent_again() -> None:
    with keeping(lambda _: Sent(b"", "close")) as server, connections(server) as kept:
        assert kind(get(kept, server)[0]) == "connection_lost"
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "extra", [b"\r\n", b"x", OK, b"HTTP/1.1 200 OK\r\nX-Stolen: "], ids=range(4)
)
@pytest.mark.parametrize("secured", [False, True], ids=["http", "https"])
def test_what_follows_an_answer_is_not_taken_for_the_next_one(
    extra: bytes, secured: bool, certificates: Certificates
) -> None:
    pair = certificates.good if secured else None
    wrong = answer_of(b"wrong")

    def answer(request: Request) -> Sent:
        return Sent(wrong + extra) if request.path == "/a" else Sent(OK)

    with (
        keeping(answer, pair=pair) as server,
        connections(server, ca_file=str(certificates.authority)) as kept,
    ):
        assert page(get(kept, server, "/a")[0]).body == b"wrong"
        following = page(get(kept, server, "/b")[0])
        assert following.body == b"page"
        assert "x-stolen" not in following.headers


def test_a_record_that_follows_an_answer_in_tls_is_no_answer(certificates: Certificates) -> None:
    """It may wait where the socket does not show it."""
    with (
        keeping(OK, pair=certificates.good) as server,
        connections(server, ca_file=str(certificates.authority)) as kept,
    ):
        page(get(kept, server)[0])
        unread = kept._kept[server.origin]._http
        assert unread is not None
        stream = unread._network_stream
        stream._incoming.write(b"\x17\x03\x03")  # type: ignore[attr-defined]
        assert page(get(kept, server)[0]).body == b"page"
        assert server.connections == 2


def test_what_arrives_between_two_requests_is_no_answer() -> None:
    with keeping(OK) as server, connections(server) as kept:
        page(get(kept, server)[0])
        server._accepted[0].sendall(answer_of(b"unasked"))
        assert page(get(kept, server)[0]).body == b"page"
        assert server.connections == 2


def test_origins_have_connections_of_their_own() -> None:
    with ExitStack() as stack:
        servers = [
            stack.enter_context(keeping(OK, address=f"127.0.0.{number}")) for number in (1, 2, 3)
        ]
        kept = stack.enter_context(connections(*servers))
        for _ in range(3):
            for server in servers:
                page(get(kept, server)[0])
        assert [server.connections for server in servers] == [1, 1, 1]


def test_few_connections_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MOST_KEPT", 2)
    with ExitStack() as stack:
        servers = [
            stack.enter_context(keeping(OK, address=f"127.0.0.{number}")) for number in (1, 2, 3)
        ]
        kept = stack.enter_context(connections(*servers))
        for server in (*servers, servers[1], servers[0]):
            page(get(kept, server)[0])
        assert [server.connections for server in servers] == [2, 1, 1]


@pytest.fixture
def two() -> Iterator[tuple[KeepingServer, KeepingServer]]:
    """A server, and another one to which it redirects."""
    with keeping(OK, address="127.0.0.2") as other:
        redirect = answer_of(b"", f"Location: {other.origin}/b", status="302 Found")
        with keeping(redirect) as first:
            yield first, other


def test_a_secret_goes_to_its_own_origin_only(two: tuple[KeepingServer, KeepingServer]) -> None:
    first, other = two
    credential = Credential(first.origin, SECRET)
    with connections(first, other) as kept:
        answer = page(get(kept, first, credential=credential)[0])
        hop = redirect_url(f"{first.origin}/", answer.headers["location"])
        request = PageRequest(hop, "text/turtle", LIMITS, credential=credential)
        page(kept.get(request, Meter(10_000), Deadline.after(5)))
    assert first.requests[0].header("authorization") == SECRET.reveal()
    assert other.requests[0].header("authorization") is None


@pytest.mark.parametrize(
    "origin", ["http://127.0.0.1", "https://127.0.0.1:{port}", "http://127.0.0.1:1"]
)
def test_another_port_or_scheme_is_another_origin(origin: str) -> None:
    with keeping(OK) as server, connections(server) as kept:
        credential = Credential(origin.format(port=server.port), SECRET)
        page(get(kept, server, credential=credential)[0])
    assert server.requests[0].header("authorization") is None


def test_a_secret_is_not_sent_in_clear_on_a_connection_that_is_kept_without_one() -> None:
    with keeping(OK) as server, connections(server) as kept:
        page(get(kept, server)[0])
        # As if the connection had gone to a public address, which only loopback can stand for here.
        object.__setattr__(kept._connector, "allowed", ())
        kept._kept[server.origin]._wire.peer = "93.184.216.34"  # type: ignore[union-attr]
        outcome, meter = get(kept, server, credential=Credential(server.origin, SECRET))
        assert kind(outcome) == "secret_refused"
        assert meter.total == 0
    assert len(server.requests) == 1


def test_a_secret_that_the_server_repeats_is_in_no_header_and_no_reason() -> None:
    def answer(request: Request) -> Sent:
        said = request.header("authorization") or ""
        status = "500 No" if request.path == "/failure" else "302 Found"
        return Sent(answer_of(said.encode(), f"Location: /?{said}", f"X-A: {said}", status=status))

    with keeping(answer) as server, connections(server) as kept:
        credential = Credential(server.origin, SECRET)
        for path in ("/", "/failure"):
            outcome, _ = get(kept, server, path, credential=credential)
            assert "c4n4ry" not in repr(outcome)
            assert "[secret]" in repr(outcome)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://10.0.0.1/", "address_refused"),
        ("http://[::1]/", "address_refused"),
        ("http://u:p@127.0.0.1/", "url_refused"),
        ("file:///etc/passwd", "url_refused"),
        ("http://127.0.0.1:9/", "url_refused"),
    ],
)
def test_a_hop_is_checked_as_the_first_request_is(url: str, expected: str) -> None:
    with Connections(Manner("c", ("127.0.0.1/32",))) as kept:
        meter = Meter(1000)
        outcome = kept.get(PageRequest(url, "*/*", LIMITS), meter, Deadline.after(5))
    assert kind(outcome) == expected
    assert meter.total == 0


def test_redirects_are_followed_by_nobody() -> None:
    with keeping(answer_of(b"", "Location: /loop", status="302 Found")) as server:
        with connections(server) as kept:
            assert kind(get(kept, server)[0]) == 302
        assert len(server.requests) == 1


def test_the_deadline_is_that_of_the_request_and_not_of_the_connection() -> None:
    def answer(request: Request) -> Sent:
        if request.path == "/slow":
            time.sleep(1.5)
        return Sent(OK)

    with keeping(answer) as server, connections(server) as kept:
        page(get(kept, server, limits=replace(LIMITS, seconds=0.5))[0])
        time.sleep(0.6)
        page(get(kept, server)[0])
        began = time.monotonic()
        assert kind(get(kept, server, "/slow", limits=replace(LIMITS, seconds=0.3))[0]) == (
            "deadline_passed"
        )
        assert time.monotonic() - began < 1
        page(get(kept, server)[0])


@pytest.mark.parametrize(
    ("changes", "answer", "expected"),
    [
        ({"head_bytes": 2000}, answer_of(b"", "X-A: " + "x" * 2000), "head_too_large"),
        ({"headers": 10}, answer_of(b"", *[f"X-{n}: y" for n in range(20)]), "head_too_large"),
        (
            {"decoding": DecodingLimits(1000)},
            answer_of(gzip.compress(b"x" * 5000, mtime=0), "Content-Encoding: gzip"),
            "too_much_decoded",
        ),
    ],
    ids=["bytes of the head", "headers", "decoded bytes"],
)
def test_limits_hold_for_each_request_on_a_connection(
    changes: dict[str, Any], answer: bytes, expected: str
) -> None:
    with (
        keeping(lambda request: Sent(answer if request.path == "/bad" else OK)) as server,
        connections(server) as kept,
    ):
        limits = replace(LIMITS, **changes)
        for _ in range(3):
            page(get(kept, server, limits=limits)[0])
            assert kind(get(kept, server, "/bad", limits=limits)[0]) == expected


def test_a_server_of_http_1_0_is_asked_on_a_connection_each_time() -> None:
    answer = b"HTTP/1.0 200 OK\r\n\r\npage"
    with keeping(lambda _: Sent(answer, "close")) as server, connections(server) as kept:
        assert [page(get(kept, server)[0]).body for _ in range(3)] == [b"page"] * 3
        assert server.connections == 3


def test_tls_is_agreed_on_once(certificates: Certificates) -> None:
    with (
        keeping(OK, pair=certificates.good) as server,
        connections(server, ca_file=str(certificates.authority)) as kept,
    ):
        first = get(kept, server)[1].total
        rest = [get(kept, server)[1].total for _ in range(4)]
        assert server.connections == 1
        assert first > 1500 > max(rest)


def test_without_its_certificates_nothing_is_sent() -> None:
    with (
        keeping(OK) as server,
        connections(server, ca_file="/nowhere") as kept,
    ):
        request = PageRequest(f"https://127.0.0.1:{server.port}/", "*/*", LIMITS)
        assert kind(kept.get(request, Meter(1000), Deadline.after(5))) == "tls_failed"
        assert server.connections == 0


def test_leaving_closes_all_connections() -> None:
    with keeping(OK) as server:
        with connections(server) as kept:
            page(get(kept, server)[0])
            wire = kept._kept[server.origin]._wire
        assert wire is not None
        assert wire._connection.fileno() == -1


def test_a_downgrade_is_refused_before_the_hop() -> None:
    with pytest.raises(UrlError, match="from https to http"):
        redirect_url("https://a.example/", "http://a.example/")
