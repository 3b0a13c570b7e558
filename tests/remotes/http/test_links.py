"""The `Link` header gives typed links, few and only well-formed ones."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.remotes.http.iri_urls import url_of
from weir.remotes.http.links import MOST_LINKS, Link, read_links

URL = "http://example.com/TheBook/chapter3"


@pytest.mark.parametrize(
    ("header", "links"),
    [
        # https://www.rfc-editor.org/rfc/rfc8288#section-3.5
        (
            '<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter"',
            [("http://example.com/TheBook/chapter2", "previous", "")],
        ),
        (
            '</>; rel="http://example.net/foo"',
            [("http://example.com/", "http://example.net/foo", "")],
        ),
        ('</terms>; rel="copyright"; anchor="#foo"', []),
        (
            "</TheBook/chapter2>; rel=\"previous\"; title*=UTF-8'de'letztes%20Kapitel,"
            " </TheBook/chapter4>; rel=\"next\"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel",
            [
                ("http://example.com/TheBook/chapter2", "previous", ""),
                ("http://example.com/TheBook/chapter4", "next", ""),
            ],
        ),
        (
            '<http://example.org/>; rel="start http://example.net/relation/other"',
            [
                ("http://example.org/", "start", ""),
                ("http://example.org/", "http://example.net/relation/other", ""),
            ],
        ),
        (
            '<https://example.org/>; rel="start", <https://example.org/index>; rel="index"',
            [("https://example.org/", "start", ""), ("https://example.org/index", "index", "")],
        ),
        # What the Web sends
        (
            '<data.ttl>; rel=describedby; type="text/turtle"',
            [("http://example.com/TheBook/data.ttl", "describedby", "text/turtle")],
        ),
        (
            '<d>;REL=Alternate;Type="Text/Turtle;charset=utf-8"',
            [("http://example.com/TheBook/d", "alternate", "text/turtle")],
        ),
        ('<a>; rel="x"; rel="y"', [("http://example.com/TheBook/a", "x", "")]),
        ("<a>; title=\"a, <b>; rel=z\"; rel=x", [("http://example.com/TheBook/a", "x", "")]),
        ('<a>; title="a \\" b"; rel=x', [("http://example.com/TheBook/a", "x", "")]),
        (" , ,<a>;rel=x,, <b>;rel=y,", [(f"http://example.com/TheBook/{n}", r, "")
                                       for n, r in ("ax", "by")]),
        ("<a;b=,c>; rel=x", [("http://example.com/TheBook/a;b=,c", "x", "")]),
        ("<#me>; rel=x", [(URL, "x", "")]),
        ("<é>; rel=x", [("http://example.com/TheBook/%C3%A9", "x", "")]),
        ("<a>; rel = \t x ; foo", [("http://example.com/TheBook/a", "x", "")]),
    ],
)  # fmt: skip
def test_a_header_is_read(header: str, links: list[tuple[str, str, str]]) -> None:
    assert read_links(header, URL) == tuple(Link(*link) for link in links)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "a; rel=x",
        "<a; rel=x",
        "<a>",
        "<a>; rel",
        "<a>; rel=",
        '<a>; rel=""',
        "<a>; title=x",
        "<mailto:a@b>; rel=x",
        "<file:///etc/passwd>; rel=x",
        "<http://[::1>; rel=x",
        "<http://u:p@h/>; rel=x",
        "<a\nb>; rel=x",
    ],
)
def test_what_is_no_link_is_left_out(header: str) -> None:
    assert read_links(header, URL) == ()


@pytest.mark.parametrize(
    "malformed", ['<a>; rel="x', "<a> rel=x", "<a>; =; rel", '<a>; title="un', "<a>; rel=x y z"]
)
def test_a_malformed_link_is_no_error(malformed: str) -> None:
    assert len(read_links(f"{malformed}, <b>; rel=y", URL)) <= 2


def test_a_header_has_at_most_100_links() -> None:
    many = ", ".join(f"<{number}>; rel=x" for number in range(1000))
    assert len(read_links(many, URL)) == MOST_LINKS
    relations = " ".join(f"r{number}" for number in range(1000))
    assert len(read_links(f'<a>; rel="{relations}"', URL)) == MOST_LINKS


@pytest.mark.parametrize(
    "header",
    [
        "<" * 32768,
        "<a>;" * 8192,
        '<a>; x="' + "\\" * 32768,
        "<a>;" + " " * 32768,
        "<a>" + '"' * 32768,
        "," * 32768,
        "<a>; rel=x" + ' "' * 16384,
        "<a> b" + "\"'<" * 10000,
    ],
)
def test_a_header_made_to_be_slow_is_not(header: str) -> None:
    began = time.process_time()
    read_links(header, URL)
    assert time.process_time() - began < 0.5


PARTS = st.sampled_from(["<", ">", ";", ",", "=", '"', "\\", "rel", "a", " ", "anchor", "é", "x y"])


@given(st.lists(PARTS).map("".join) | st.text())
def test_no_header_raises_and_all_targets_are_urls(header: str) -> None:
    for link in read_links(header, URL):
        assert url_of(link.target) == link.target
        assert link.rel
