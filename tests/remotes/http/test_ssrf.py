"""No way into a URL leads to an address that is refused."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections import Counter
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import PROJECT
from tests.remotes.http.ssrf_cases import ADDRESSES, GOOD, Way
from weir.remotes.http.addresses import parse_networks, refusal
from weir.remotes.http.isolated import fetch_body
from weir.remotes.http.outcomes import Failure
from weir.remotes.http.request import FetchLimits, FetchRequest
from weir.remotes.http.urls import UrlError, parse_target

REFUSED = {"url_refused", "address_refused"}


@pytest.fixture(scope="module", params=["fetch", "pages", "hop"])
def probed(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the probe saw, and how it asked."""
    path = os.pathsep.join(entry or os.curdir for entry in sys.path)
    ran = subprocess.run(
        [sys.executable, "-m", "tests.remotes.http.ssrf_probe", request.param],
        env={**os.environ, "PYTHONPATH": path},
        cwd=PROJECT,
        capture_output=True,
        timeout=120,
        check=True,
    )
    seen: dict[str, Any] = json.loads(ran.stdout)
    return seen | {"asked by": request.param}


@pytest.mark.usefixtures("slow")
def test_at_least_60_addresses_are_tried_in_every_way(probed: dict[str, Any]) -> None:
    assert probed["addresses"] >= 60
    ways = {(run["way"], run["address"]) for run in probed["runs"]}
    assert ways == {(way, address) for way in get_args(Way) for address in ADDRESSES}


def test_nothing_connects_to_a_refused_address(probed: dict[str, Any]) -> None:
    good = f"socket.connect ('{GOOD}', {probed['good_port']})"
    allowed = {True: [good], False: []}
    wrong = [run for run in probed["runs"] if run["events"] != allowed[run["good"]]]
    assert wrong == []
    assert probed["arrived"] == 0


def test_hook_and_tripwire_see_a_connection_that_is_made(probed: dict[str, Any]) -> None:
    assert len(probed["control"]) == 2
    assert probed["arrived_after_control"] == 2


def test_every_refusal_is_reported_as_one(probed: dict[str, Any]) -> None:
    outcomes = {run["way"]: set[str]() for run in probed["runs"]}
    for run in probed["runs"]:
        outcomes[run["way"]].add("good" if run["good"] else run["outcome"])
    assert outcomes.pop("rebinding") == {"good", "address_refused"}
    assert outcomes.pop("redirect") == {"good"}
    for way, reported in outcomes.items():
        assert reported <= REFUSED, way


def test_a_host_in_numbers_is_never_resolved(probed: dict[str, Any]) -> None:
    """The system's resolver reads octal, hexadecimal and shortened addresses."""
    in_numbers = [run for run in probed["runs"] if run["way"] in ("literal", "spelling")]
    assert [run["url"] for run in in_numbers if run["resolved"]] == []


def test_a_redirect_leads_to_no_such_address_and_a_name_is_resolved_once(
    probed: dict[str, Any],
) -> None:
    good = Counter(
        (run["way"], run["outcome"], run["resolved"]) for run in probed["runs"] if run["good"]
    )
    refused = {f"redirected, {outcome}" for outcome in REFUSED}
    redirected = {"redirected"} if probed["asked by"] == "fetch" else refused
    expected = {("redirect", outcome, 1) for outcome in redirected}
    assert good.keys() == {("rebinding", "answered", 1), *expected}


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "127.1"]
)
def test_the_child_process_does_not_connect_to_this_machine_either(host: str) -> None:
    with socket.socket(socket.AF_INET6) as tripwire:
        tripwire.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        tripwire.bind(("::", 0))
        tripwire.listen()
        tripwire.setblocking(False)
        port = tripwire.getsockname()[1]
        limits = FetchLimits(bytes=65536, seconds=20.0)
        answer, usage = fetch_body(
            FetchRequest(
                f"http://{host}:{port}/", "*/*", "tests@example.org", limits, ports=(port,)
            )
        )
        assert isinstance(answer, Failure)
        assert answer.kind in REFUSED
        assert usage.bytes == 0
        with pytest.raises(BlockingIOError):
            tripwire.accept()


@given(st.integers(0, 2**32 - 1))
def test_an_ipv4_address_is_accepted_only_if_python_calls_it_global(number: int) -> None:
    address = IPv4Address(number)
    if refusal(str(address)) is None:
        assert address.is_global
        assert not address.is_multicast


@given(st.integers(0, 2**128 - 1) | st.integers(0x2000 << 112, (0x4000 << 112) - 1))
def test_an_ipv6_address_is_accepted_only_if_python_calls_it_global(number: int) -> None:
    address = IPv6Address(number)
    if refusal(str(address)) is None:
        assert address.is_global
        assert address in IPv6Network("2000::/3")


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.216.34", "192.88.98.1", "223.255.255.255", "2606:4700::1111"]
)
def test_a_public_address_is_accepted(address: str) -> None:
    assert refusal(address) is None


def test_an_exception_is_exactly_what_is_declared() -> None:
    allowed = parse_networks(["127.0.0.1/32", "fd00:1::/64"])
    assert refusal("127.0.0.1", allowed) is None
    assert refusal("fd00:1::5", allowed) is None
    assert refusal("127.0.0.2", allowed)
    assert refusal("::ffff:127.0.0.1", allowed)
    assert refusal("fd00:1::5%lo", allowed)


def test_an_exception_with_bits_behind_its_prefix_is_an_error() -> None:
    with pytest.raises(ValueError, match="host bits"):
        parse_networks(["127.0.0.1/8"])


@pytest.mark.parametrize(
    ("url", "host", "port", "path"),
    [
        ("http://example.org", "example.org", 80, "/"),
        ("https://EXAMPLE.org/a?b=c%20d", "example.org", 443, "/a?b=c%20d"),
        ("http://8.8.8.8:8080/x", "8.8.8.8", 8080, "/x"),
        ("https://[2606:4700:0:0::1]/", "2606:4700::1", 443, "/"),
        ("http://xn--bcher-kva.example?q", "xn--bcher-kva.example", 80, "/?q"),
    ],
)
def test_a_plain_url_is_read(url: str, host: str, port: int, path: str) -> None:
    target = parse_target(url, ports=[8080])
    assert (target.host, target.port, target.path) == (host, port, path)


def test_an_error_about_a_url_does_not_repeat_its_password() -> None:
    with pytest.raises(UrlError) as error:
        parse_target("http://user:canary@example.org/")
    assert "canary" not in str(error.value)
