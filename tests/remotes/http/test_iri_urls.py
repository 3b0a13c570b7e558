"""An IRI becomes the URL that is asked, in the one form that `parse_target` accepts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.remotes.http.iri_urls import origin_of, redirect_url, resolved_url, url_of
from weir.remotes.http.urls import UrlError, parse_target

ALL_PORTS = range(1, 65536)


@pytest.mark.parametrize(
    ("iri", "url"),
    [
        ("http://example.org", "http://example.org/"),
        ("http://example.org/a#b", "http://example.org/a"),
        ("http://example.org#b", "http://example.org/"),
        ("http://example.org/a#b?c", "http://example.org/a"),
        ("HTTP://EXAMPLE.org/A", "http://example.org/A"),
        ("http://example.org:80/", "http://example.org/"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://example.org:/", "http://example.org/"),
        ("http://example.org:0080/", "http://example.org/"),
        ("http://example.org:443/", "http://example.org:443/"),
        ("https://example.org:8443/x", "https://example.org:8443/x"),
        ("http://example.org/é", "http://example.org/%C3%A9"),
        ("http://example.org/%c3%a9", "http://example.org/%c3%a9"),
        ("http://example.org/100%", "http://example.org/100%25"),
        ("http://example.org/%zz%4", "http://example.org/%25zz%254"),
        ("http://example.org/{id}", "http://example.org/%7Bid%7D"),
        ('http://example.org/a b"<>|^`\\', "http://example.org/a%20b%22%3C%3E%7C%5E%60%5C"),
        ("http://example.org/a[1]", "http://example.org/a%5B1%5D"),
        ("http://example.org/?a[]=é b", "http://example.org/?a[]=%C3%A9%20b"),
        ("http://example.org?q=1", "http://example.org/?q=1"),
        ("http://example.org/a/./b/../c", "http://example.org/a/./b/../c"),
        ("http://example.org//a//", "http://example.org//a//"),
        ("http://example.org/a;b=c,d@e:f", "http://example.org/a;b=c,d@e:f"),
        ("http://example.org/😀", "http://example.org/%F0%9F%98%80"),
        # https://www.rfc-editor.org/rfc/rfc3987#section-3.1
        ("http://résumé.example.org", "http://xn--rsum-bpad.example.org/"),
        (
            "http://www.example.org/red%09rosé#red",
            "http://www.example.org/red%09ros%C3%A9",
        ),
        ("http://example.com/\U00010300\U00010301\U00010302",
         "http://example.com/%F0%90%8C%80%F0%90%8C%81%F0%90%8C%82"),
        # IDNA 2008, in which ß is a letter of its own
        ("http://straße.example/", "http://xn--strae-oqa.example/"),
        ("http://BÜCHER.example:8080/", "http://xn--bcher-kva.example:8080/"),
        ("http://中文。example/", "http://xn--fiq228c.example/"),
        ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
        ("http://a_b.example/", "http://a_b.example/"),
        ("http://[2606:4700:0::1]:80/", "http://[2606:4700::1]/"),
        ("http://127.0.0.1/", "http://127.0.0.1/"),
        # An address in other digits is the address, which is refused where it is connected to.
        ("http://\uff11\uff12\uff17。0。0。\uff11/", "http://127.0.0.1/"),
    ],
)  # fmt: skip
def test_an_iri_becomes_its_url(iri: str, url: str) -> None:
    assert url_of(iri) == url
    assert parse_target(url, ALL_PORTS).origin == origin_of(url)


@pytest.mark.parametrize(
    "iri",
    [
        "",
        "urn:isbn:1",
        "file:///etc/passwd",
        "ftp://example.org/",
        "mailto:a@example.org",
        "http:/example.org/",
        "http:example.org",
        "//example.org/",
        "http:///a",
        "http://:80/",
        "http://user@example.org/",
        "http://user:secret@example.org/",
        "http://example.org@evil.example/",
        "http://example.org\\@evil.example/",
        "http://example.org/a\nb",
        "http://example.org/\x00",
        " http://example.org/",
        "http://exa mple.org/",
        "http://example..org/",
        "http://example.org./",
        "http://ex%41mple.org/",
        "http://example.org:99999/",
        "http://example.org:0/",
        "http://example.org:x/",
        "http://example.org:80:80/",
        "http://[::1/",
        "http://[::1]x/",
        "http://[fe80::1%25lo]/",
        "http://-é.example/",
        "http://a‍b.example/",
        "http://" + "é" * 2000 + "/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://example.org/\ud800",
        "http://example.org/" + "é" * 2000,
    ],
)
def test_what_is_no_iri_of_a_page_is_refused(iri: str) -> None:
    with pytest.raises(UrlError):
        url_of(iri)


def test_an_error_does_not_repeat_a_password() -> None:
    with pytest.raises(UrlError) as error:
        url_of("http://user:canary@example.org/")
    assert "canary" not in str(error.value)


PARTS = st.sampled_from(
    [
        "http://",
        "https://",
        "HTTP://",
        "é",
        "中",
        "example",
        ".",
        "/",
        "?",
        "#",
        "%",
        "%41",
        "@",
        ":",
        "80",
        "8080",
        "[",
        "]",
        "::1",
        "127.0.0.1",
        "\\",
        "{",
        "..",
        "\u2028",
        "ß",
        "�",
    ]
) | st.just(" ")
IRIS = st.lists(PARTS, max_size=12).map("".join) | st.text().map("http://h/".__add__) | st.text()


@given(IRIS)
def test_a_url_is_accepted_and_is_its_own_url(iri: str) -> None:
    try:
        url = url_of(iri)
    except UrlError:
        return
    parse_target(url, ALL_PORTS)
    assert url_of(url) == url
    assert url.isascii()
    assert "#" not in url


@given(IRIS, IRIS)
def test_a_redirect_leads_to_a_url_or_is_refused(base: str, location: str) -> None:
    try:
        url = url_of(base)
        target = redirect_url(url, location)
    except UrlError:
        return
    assert url_of(target) == target
    assert not (url.startswith("https:") and target.startswith("http:"))


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("https://b.example/x#me", "https://b.example/x"),
        ("/c", "https://a.example/c"),
        ("c?d=é", "https://a.example/b/c?d=%C3%A9"),
        ("../c", "https://a.example/c"),
        ("//b.example", "https://b.example/"),
        ("?q", "https://a.example/b/?q"),
        (" /c ", "https://a.example/c"),
    ],
)
def test_a_location_is_relative_to_the_url_that_was_asked(location: str, url: str) -> None:
    assert redirect_url("https://a.example/b/", location) == url


@pytest.mark.parametrize(
    "location",
    [
        "",
        "  ",
        "file:///etc/passwd",
        "http://a.example/",
        "data:text/plain,x",
        "https://u:p@a.example/",
        "https://[::1",
        "java\tscript:x",
        "/a\r\nHost: evil.example",
        "gopher://a.example/",
        "https:c",
        "https:/c",
        "https:///c",
    ],
)
def test_a_location_that_is_not_to_be_followed_is_refused(location: str) -> None:
    with pytest.raises(UrlError):
        redirect_url("https://a.example/b/", location)


def test_http_may_lead_to_https() -> None:
    assert redirect_url("http://a.example/", "https://a.example/") == "https://a.example/"


def test_a_reference_without_text_is_the_document_itself() -> None:
    assert resolved_url("http://a.example/b#c", "") == "http://a.example/b"


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://EXAMPLE.org/a", "http://example.org"),
        ("http://example.org:80/a", "http://example.org"),
        ("https://example.org:80/a", "https://example.org:80"),
        ("https://[2606:4700::1]:8443/", "https://[2606:4700::1]:8443"),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, origin: str) -> None:
    assert origin_of(url) == origin
