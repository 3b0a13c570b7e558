"""A fetch counts every byte, sends what was asked and nothing of its surroundings."""

from __future__ import annotations

import gzip
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.certificates import Certificates
from tests.support.counting_server import CountingServer, answer_of
from tests.support.hostile_server import BEHAVIOURS, HostileServer, server_context
from weir.remotes.http.client import fetch, read_bytes
from weir.remotes.http.isolated import fetch_body
from weir.remotes.http.metering import Deadline, Meter
from weir.remotes.http.outcomes import Failure, Response
from weir.remotes.http.request import (
    LONGEST_GET_URL,
    FetchLimits,
    FetchRequest,
    Secret,
    query_request,
)

LIMITS = FetchLimits(bytes=4 << 20, seconds=20.0)
OK = answer_of(b"{}")


def request_to(server: CountingServer, **changes: Any) -> FetchRequest:
    plain = FetchRequest(
        server.url,
        "*/*",
        "tests@example.org",
        LIMITS,
        allow=("127.0.0.1/32",),
        ports=(server.port,),
    )
    return replace(plain, **changes)


def run(request: FetchRequest) -> tuple[Response[bytes] | Failure, Meter]:
    meter = Meter(request.limits.bytes)
    deadline = Deadline.after(request.limits.seconds)
    return fetch(request, meter, deadline, read_bytes), meter


def kind(answer: Response[bytes] | Failure) -> str:
    return answer.kind if isinstance(answer, Failure) else "answered"


@given(body=st.binary(max_size=200_000), sent=st.binary(max_size=100_000), zipped=st.booleans())
@settings(max_examples=50, deadline=None)
def test_the_meter_counts_what_the_server_counts(body: bytes, sent: bytes, zipped: bool) -> None:
    encoded = gzip.compress(body) if zipped else body
    headers = ["Content-Encoding: gzip"] if zipped else []
    with CountingServer(lambda _: answer_of(encoded, *headers)) as server:
        answer, meter = run(request_to(server, method="POST", body=sent, content_type="a/b"))
        server.wait()
        assert (meter.sent, meter.received) == (server.received, server.sent)
        assert isinstance(answer, Response)
        assert answer.value == body


@given(most=st.integers(0, 3000), body=st.binary(max_size=2000))
@settings(max_examples=50, deadline=None)
def test_no_byte_beyond_the_budget_is_sent_or_received(most: int, body: bytes) -> None:
    with CountingServer(lambda _: answer_of(body)) as server:
        needed = len(answer_of(body))
        answer, meter = run(request_to(server, limits=replace(LIMITS, bytes=most)))
        server.wait()
        assert meter.total <= most
        assert meter.sent == server.received
        enough = meter.sent > 0 and meter.sent + needed <= most
        assert kind(answer) == ("answered" if enough else "too_many_bytes")


def test_a_request_that_exceeds_the_budget_is_not_sent() -> None:
    with CountingServer(lambda _: OK) as server:
        limits = replace(LIMITS, bytes=1000)
        answer, meter = run(request_to(server, method="POST", body=b"x" * 1000, limits=limits))
        assert kind(answer) == "too_many_bytes"
        server.wait()
        assert meter.sent == server.received < 1000


def test_a_close_ends_a_body_without_length() -> None:
    with CountingServer(lambda _: b"HTTP/1.0 200 OK\r\n\r\nall of it") as server:
        answer, _ = run(request_to(server))
        assert isinstance(answer, Response)
        assert answer.value == b"all of it"


@pytest.mark.parametrize(
    ("sent", "outcome"),
    [
        (b"", "connection_lost"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "connection_lost"),
        (b"SSH-2.0-OpenSSH_9.0\r\n\r\n", "malformed_http"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "malformed_http"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "malformed_http"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "malformed_http"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", "malformed_http"),
        (b"HTTP/1.1 206 Partial Content\r\nContent-Length: 0\r\n\r\n", "incomplete"),
        (b"HTTP/1.1 404 No\r\nContent-Length: 99\r\n\r\nshort", "client_error"),
        (b"HTTP/1.1 503 Busy\r\nRetry-After: soon\r\nContent-Length: 0\r\n\r\n", "throttled"),
    ],
)
def test_a_broken_or_unusable_response_is_a_failure_of_its_kind(sent: bytes, outcome: str) -> None:
    with CountingServer(lambda _: sent) as server:
        assert kind(run(request_to(server))[0]) == outcome


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        (
            ["X-SQL-State: S1TAT", "X-SQL-Message: RC...: Returning incomplete results"],
            "X-SQL-State is S1TAT (RC...: Returning incomplete results)",
        ),
        (["x-sparql-maxrows: 10000"], "X-SPARQL-MaxRows is 10000"),
    ],
)
def test_an_answer_that_the_server_calls_incomplete_is_none(
    headers: list[str], reason: str
) -> None:
    with CountingServer(lambda _: answer_of(b"{}", *headers)) as server:
        answer, _ = run(request_to(server))
    assert answer == Failure(
        "incomplete", f"the server says that its answer is incomplete: {reason}", 200
    )


def test_the_state_of_a_complete_answer_is_no_sign() -> None:
    with CountingServer(lambda _: answer_of(b"{}", "X-SQL-State: 00000")) as server:
        assert kind(run(request_to(server))[0]) == "answered"


def test_an_early_error_is_read_although_the_request_was_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def refuse() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(answer_of(b"too long", status="413 Too large"))
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1 << 20):
                    continue

        Thread(target=refuse, daemon=True).start()
        port = listener.getsockname()[1]
        request = query_request(
            f"http://127.0.0.1:{port}/",
            "x" * (2 << 20),
            contact="tests@example.org",
            limits=LIMITS,
            allow=("127.0.0.1/32",),
            ports=(port,),
        )
        answer, _ = run(request)
    assert isinstance(answer, Failure)
    assert (answer.kind, answer.status) == ("client_error", 413)
    assert "too long" in answer.reason


def test_the_quotation_of_an_error_is_short_and_on_one_line() -> None:
    body = b"first\r\n\x1b[2Jsecond \xe2\x80\xae\xff" + b"x" * 100_000
    with CountingServer(lambda _: answer_of(body, status="500 Oh")) as server:
        answer, _ = run(request_to(server))
    assert isinstance(answer, Failure)
    assert answer.reason.startswith(r"the server answered 500: first\r\n\x1b[2Jsecond \u202e")
    assert answer.reason.isprintable()
    assert len(answer.reason) <= len("the server answered 500: ") + 500


def test_short_queries_are_sent_by_get_and_long_ones_by_post() -> None:
    with CountingServer(lambda _: OK) as server:

        def asked(query: str, endpoint: str = "") -> FetchRequest:
            limits, contact = LIMITS, "tests@example.org"
            return query_request(endpoint or server.url, query, limits=limits, contact=contact)

        short = asked("ASK { ?s ?p 'é & +' }")
        assert (short.method, short.body) == ("GET", b"")
        assert short.url.endswith("?query=ASK%20%7B%20%3Fs%20%3Fp%20%27%C3%A9%20%26%20%2B%27%20%7D")
        assert asked("x", "http://e/?g=1").url == "http://e/?g=1&query=x"
        room = LONGEST_GET_URL - len(server.url) - len("?query=")
        assert len(asked("x" * room).url) == LONGEST_GET_URL
        long = asked("x" * (room + 1))
        assert (long.method, long.url) == ("POST", server.url)
        assert long.body == b"query=" + b"x" * (room + 1)
        assert long.content_type == "application/x-www-form-urlencoded"


Run = Callable[[FetchRequest], tuple[Response[bytes] | Failure, Any]]


@pytest.mark.parametrize("fetch_it", [run, fetch_body], ids=["here", "in a child"])
def test_proxies_netrc_cookies_and_certificates_of_the_environment_are_ignored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fetch_it: Run
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login canary password canary\n")
    (tmp_path / ".netrc").chmod(0o600)
    cookie = answer_of(b"{}", "Set-Cookie: canary=1; Path=/", "Alt-Svc: h2=':1'")
    with CountingServer(lambda _: OK) as proxy, CountingServer(lambda _: cookie) as server:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://canary:canary@127.0.0.1:{proxy.port}/")
        monkeypatch.setenv("no_proxy", "")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
        monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))
        for _ in range(2):
            assert kind(fetch_it(request_to(server))[0]) == "answered"
        assert proxy.requests == []
    assert len(server.requests) == 2
    for sent in server.requests:
        names = [line.split(b":")[0] for line in sent.strip().split(b"\r\n")[1:]]
        assert names == [b"Host", b"User-Agent", b"Accept", b"Accept-Encoding", b"Connection"]
        assert b"canary" not in sent
    assert not (tmp_path / "keys").exists()


def test_the_request_names_who_asks_and_what_is_understood() -> None:
    with CountingServer(lambda _: OK) as server:
        port = server.port
        run(request_to(server, authorization=Secret("Bearer t0ken")))
    sent = server.requests[0].decode()
    assert sent == (
        "GET /sparql HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{port}\r\n"
        "User-Agent: Weir (tests@example.org)\r\n"
        "Accept: */*\r\n"
        "Accept-Encoding: gzip\r\n"
        "Connection: close\r\n"
        "Authorization: Bearer t0ken\r\n\r\n"
    )


def test_credentials_go_over_http_only_to_networks_that_are_declared() -> None:
    with CountingServer(lambda _: OK) as server:
        url = f"http://public.example:{server.port}/"
        request = request_to(server, url=url, authorization=Secret("Bearer t0ken"), allow=())
        answer = fetch(
            request, Meter(1000), Deadline.after(5), read_bytes, lambda *_: ["93.184.216.34"]
        )
    assert kind(answer) == "secret_refused"


@contextmanager
def relay(target: int) -> Iterator[tuple[int, dict[str, int]]]:
    """Passes one connection on to a port, and counts its bytes."""
    counted = {"up": 0, "down": 0}
    done = Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def pump(source: socket.socket, sink: socket.socket, name: str) -> None:
            try:
                while data := source.recv(65536):
                    counted[name] += len(data)
                    sink.sendall(data)
                sink.shutdown(socket.SHUT_WR)
            except OSError:
                return

        def serve() -> None:
            client, _ = listener.accept()
            with client, socket.create_connection(("127.0.0.1", target)) as server:
                other = Thread(target=pump, args=(server, client, "down"), daemon=True)
                other.start()
                pump(client, server, "up")
                other.join(5)
            done.set()

        Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1], counted
        assert done.wait(10)


@contextmanager
def tls_server(certificates: Certificates, body: bytes) -> Iterator[int]:
    """Answers one request over TLS; reads to the end, so that nothing is reset."""
    context = server_context(certificates.good)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            try:
                with connection, context.wrap_socket(connection, server_side=True) as secured:
                    secured.recv(65536)
                    secured.sendall(answer_of(body))
                    secured.settimeout(5)
                    secured.recv(1)
            except (OSError, ssl.SSLError):
                return

        Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_tls_verifies_the_name_and_its_own_bytes_are_counted(
    certificates: Certificates, host: str
) -> None:
    body = b"x" * 300_000
    with tls_server(certificates, body) as target, relay(target) as (port, counted):
        request = FetchRequest(
            f"https://{host}:{port}/",
            "*/*",
            "tests@example.org",
            LIMITS,
            allow=("127.0.0.1/32", "::1/128"),
            ports=(port,),
            ca_file=str(certificates.authority),
        )
        answer, meter = run(request)
    assert isinstance(answer, Response)
    assert answer.value == body
    assert meter.sent == counted["up"]
    # The server's last records may arrive after the answer is complete.
    assert len(body) + 1000 < meter.received <= counted["down"]


def test_the_environment_neither_adds_authorities_nor_gets_keys(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates.authority))
    monkeypatch.setenv("SSLKEYLOGFILE", str(keys))
    for ca_file, outcome in (("", "tls_failed"), (str(certificates.authority), "answered")):
        with tls_server(certificates, b"") as port:
            request = FetchRequest(
                f"https://127.0.0.1:{port}/",
                "*/*",
                "tests@example.org",
                LIMITS,
                allow=("127.0.0.1/32",),
                ports=(port,),
                ca_file=ca_file,
            )
            assert kind(run(request)[0]) == outcome
    assert not keys.exists()


def test_a_name_that_is_pinned_to_an_address_is_the_name_that_tls_verifies(
    certificates: Certificates,
) -> None:
    with tls_server(certificates, b"") as port:
        request = FetchRequest(
            f"https://elsewhere.example:{port}/",
            "*/*",
            "tests@example.org",
            LIMITS,
            allow=("127.0.0.1/32",),
            ports=(port,),
            ca_file=str(certificates.authority),
        )
        answer = fetch(
            request, Meter(1 << 20), Deadline.after(10), read_bytes, lambda *_: ["127.0.0.1"]
        )
    assert isinstance(answer, Failure)
    assert answer.kind == "tls_failed"
    assert "elsewhere.example" in answer.reason


@pytest.mark.parametrize("name", ["no accept", "dripping headers", "dripping body"])
def test_a_fetch_ends_at_its_deadline_without_being_killed(
    hostile: HostileServer, name: str
) -> None:
    behaviour = next(known for known in BEHAVIOURS if known.name == name)
    port = hostile.port(behaviour)
    limits = replace(LIMITS, seconds=0.5)
    allow = ("127.0.0.1/32",)
    began = time.monotonic()
    answer, _ = run(
        FetchRequest(hostile.url(behaviour), "*/*", "c", limits, allow=allow, ports=(port,))
    )
    assert time.monotonic() - began <= 1.0
    assert kind(answer) == "deadline_passed"


def test_a_resolver_that_hangs_ends_at_the_deadline() -> None:
    release = Event()

    def hang(*_: object) -> list[str]:
        release.wait(10)
        return []

    limits = replace(LIMITS, seconds=0.3)
    request = FetchRequest("http://a.example/", "*/*", "tests@example.org", limits)
    began = time.monotonic()
    answer = fetch(request, Meter(1000), Deadline.after(0.3), read_bytes, hang)
    assert time.monotonic() - began < 0.8
    release.set()
    assert isinstance(answer, Failure)
    assert answer.kind == "deadline_passed"


def test_the_next_address_is_tried_when_one_does_not_connect() -> None:
    with CountingServer(lambda _: OK) as server:
        url = f"http://a.example:{server.port}/"
        allow = ("127.0.0.1/32", "127.0.0.9/32")
        meter = Meter(10_000)
        answer = fetch(
            request_to(server, url=url, allow=allow),
            meter,
            Deadline.after(10),
            read_bytes,
            lambda *_: ["127.0.0.9", "127.0.0.1"],
        )
    assert isinstance(answer, Response)
    assert meter.peer == "127.0.0.1"
