"""What robots.txt allows (RFC 9309), and what its absence does."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.remotes.http.outcomes import Failure
from weir.remotes.http.pages import Page
from weir.remotes.http.robots import LONGEST_DELAY, READ_BYTES, Robots, robots_of

# https://www.rfc-editor.org/rfc/rfc9309#section-5.1
SIMPLE = b"""User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""
# https://www.rfc-editor.org/rfc/rfc9309#section-5.2
LONGEST = b"""User-Agent: foobot
Allow: /example/page/
Disallow: /example/page/disallowed.gif
"""
HOST = "https://example.org"


@pytest.mark.parametrize(
    ("file", "agent", "path", "allowed"),
    [
        (SIMPLE, "weir", "/a.gif", False),
        (SIMPLE, "weir", "/a.gif?x", True),
        (SIMPLE, "weir", "/example/x", False),
        (SIMPLE, "weir", "/publications/x", True),
        (SIMPLE, "weir", "/other", True),
        (SIMPLE, "foobot", "/other", False),
        (SIMPLE, "FooBot", "/other", False),
        (SIMPLE, "foobot", "/example/page.html", True),
        (SIMPLE, "foobot", "/example/allowed.gif", True),
        (SIMPLE, "barbot", "/example/page.html", False),
        (SIMPLE, "bazbot", "/example/page.html", False),
        (SIMPLE, "bazbot", "/a.gif", True),
        (LONGEST, "foobot", "/example/page/disallowed.gif", False),
        (LONGEST, "foobot", "/example/page/x", True),
        (LONGEST, "weir", "/example/page/disallowed.gif", True),
        (b"", "weir", "/", True),
        (b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /a\r\n", "weir", "/a", False),
        (b"User-agent: *\rDisallow: /a\r", "weir", "/a", False),
        (b"Disallow: /", "weir", "/", True),
        (b"User-agent: *\nDisallow: /\n", "weir", "/robots.txt", True),
        ("User-agent: *\nDisallow: /é".encode(), "weir", "/%C3%A9", False),
        (b"\x00\xff\xfe<html>", "weir", "/", True),
    ],
)
def test_a_url_may_be_fetched_as_the_file_says(
    file: bytes, agent: str, path: str, allowed: bool
) -> None:
    assert Robots.read(file).may_fetch(f"{HOST}{path}", agent) is allowed


def test_no_more_than_500_kib_are_read() -> None:
    padding = b"#" * (READ_BYTES - len(b"User-agent: *\n\n"))
    rules = b"\n".join((b"User-agent: *", padding, b"Disallow: /"))
    assert Robots.read(rules).may_fetch(f"{HOST}/a", "weir")
    assert not Robots.read(rules.replace(b"#" * 100, b"", 1)).may_fetch(f"{HOST}/a", "weir")


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [
        ("2", 2),
        ("0.5", 0.5),
        ("100000", LONGEST_DELAY),
        ("-1", 0),
        ("nan", 0),
        ("inf", 0),
        ("x", 0),
    ],
)
def test_the_delay_between_requests_is_bounded(delay: str, seconds: float) -> None:
    file = f"User-agent: *\nCrawl-delay: {delay}\n".encode()
    assert Robots.read(file).crawl_delay("weir") == seconds


@pytest.mark.parametrize(
    ("answer", "allowed"),
    [
        (Page(200, {}, b"User-agent: *\nDisallow: /b"), True),
        (Page(200, {}, b"User-agent: *\nDisallow: /"), False),
        (Page(404, {}, b""), True),
        (Page(410, {}, b""), True),
        (Page(401, {}, b""), True),
        (Page(403, {}, b""), True),
        (Page(302, {}, b""), True),
        (Failure("client_error", "", 418), True),
        (Failure("throttled", "", 503), False),
        (Failure("server_error", "", 500), False),
        (Failure("not_connected", ""), False),
        (Failure("address_refused", ""), False),
        (Failure("deadline_passed", "", 200), False),
        (Failure("too_much_decoded", "", 200), False),
    ],
)
def test_a_status_allows_all_or_nothing(answer: Page | Failure, allowed: bool) -> None:
    assert robots_of(answer).may_fetch(f"{HOST}/a", "weir") is allowed


LINES = st.sampled_from(
    [
        "User-agent: *",
        "User-agent: weir",
        "Disallow: /",
        "Allow: /a*b$",
        "Crawl-delay: 1",
        "#",
        "",
        "Sitemap: x",
        "Disallow",
        ":",
        "é: ü",
        "Request-rate: 1/9",
        "Visit-time: 1",
    ]
)


@given(st.binary() | st.lists(LINES).map(lambda lines: "\n".join(lines).encode()), st.text())
def test_no_file_raises(file: bytes, path: str) -> None:
    robots = Robots.read(file)
    robots.may_fetch(f"{HOST}/{path}", "weir")
    assert 0 <= robots.crawl_delay("weir") <= LONGEST_DELAY


def filled(line: str) -> str:
    return line * (READ_BYTES // len(line))


SLOW = {
    "stars": "User-agent: *\n" + filled("Disallow: /" + "a*" * 50 + "b\n"),
    "one pattern": "User-agent: *\nDisallow: /" + filled("a*"),
    "agents": "".join(f"User-agent: {number}\n" for number in range(40_000)),
    "an agent again": filled("User-agent: a\n"),
    "agents and rules": "".join(f"User-agent: {number}\n" for number in range(10_000))
    + "".join(f"Allow: /{number}\n" for number in range(10_000)),
    "agents between sitemaps": "".join(
        f"User-agent: {number}\nSitemap: x\n" for number in range(8_000)
    )
    + "".join(f"Allow: /{number}\n" for number in range(8_000)),
    "agents between what is unknown": "".join(
        f"User-agent: {number}\nno rule\n" for number in range(8_000)
    )
    + "".join(f"Allow: /{number}\n" for number in range(8_000)),
    "dollars": "User-agent: *\n" + filled("Disallow: /$$$$$\n"),
    "words": "User-agent: *\n" + filled("x "),
}


@pytest.mark.parametrize("name", SLOW)
def test_a_file_made_to_be_slow_is_not(name: str) -> None:
    file, url = SLOW[name].encode(), f"{HOST}/{'a' * 4000}"
    began = time.process_time()
    Robots.read(file).may_fetch(url, "weir")
    assert time.process_time() - began < 4
