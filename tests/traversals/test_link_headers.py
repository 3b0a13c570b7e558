"""Link headers lead from what is no RDF to its description: one step, and within limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.counting_server import answer_of
from tests.support.keeping_server import KeepingServer, Request, Sent
from tests.traversals.test_left_alone import TURTLE, Web, web
from weir.cli.documents import path_to
from weir.lake.lake import Lake
from weir.lake.tables import DOCUMENTS
from weir.traversals.inbox import pages_of

pytestmark = pytest.mark.usefixtures("sampled")

HTML = "Content-Type: text/html"
RDF = b'<> <http://e/text> "RDF" .'
Answer = Callable[[Request], Sent]


def page(*links: str, media_type: str = HTML) -> Sent:
    """What is no RDF, with a Link header for each of `links`."""
    return Sent(answer_of(b"<!DOCTYPE html>", media_type, *(f"Link: {link}" for link in links)))


def site(pages: Mapping[str, Sent]) -> Answer:
    """A server of these pages by path; the others are RDF."""
    return lambda request: pages.get(request.path, Sent(answer_of(RDF, TURTLE)))


def documents(own: Web) -> set[str]:
    """The paths of the documents of the dataset."""
    return {path for path, page in own.known.items() if page.member}


@pytest.mark.parametrize(
    ("links", "document"),
    [
        (['</data>; rel="describedby"; type="text/turtle"'], "/data"),
        (["</data>; rel=alternate; type=application/ld+json"], "/data"),
        (["<data>; rel=describedby"], "/data"),
        (["<data.ttl>; rel=alternate"], "/data.ttl"),
        (["</a>; rel=alternate; type=text/turtle, </b>; rel=describedby"], "/b"),
        (["</feed>; rel=alternate; type=application/atom+xml", "</a>; rel=describedby"], "/a"),
        (["</de>; rel=alternate; hreflang=de", "</next>; rel=next"], None),
        (["</shape>; rel=describedby; type=text/html"], None),
        (['</data>; rel=describedby; anchor="#part"'], None),
        (["<mailto:a@b.example>; rel=describedby"], None),
        (["</0>; rel=alternate; type=text/turtle"], None),
        ([], None),
    ],
)
def test_a_description_that_is_rdf_is_followed(
    tmp_path: Path, links: list[str], document: str | None
) -> None:
    with web(tmp_path, site({"/0": page(*links)})) as own:
        own.evaluate(timedelta())
        assert documents(own) == ({document} if document else set())
        assert own.asked == ["/0", *([document] if document else [])]


@pytest.mark.parametrize("media_type", ["image/png", "text/csv", "application/pdf"])
def test_anything_that_is_no_rdf_may_have_a_description(tmp_path: Path, media_type: str) -> None:
    described = page("</data>; rel=describedby", media_type=f"Content-Type: {media_type}")
    with web(tmp_path, site({"/0": described})) as own:
        own.evaluate(timedelta())
        assert documents(own) == {"/data"}


def test_rdf_is_what_it_is_and_its_header_leads_nowhere(tmp_path: Path) -> None:
    rdf = Sent(answer_of(RDF, TURTLE, "Link: </data>; rel=describedby"))
    with web(tmp_path, site({"/0": rdf})) as own:
        own.evaluate(timedelta())
        assert documents(own) == {"/0"}


def test_a_header_is_followed_for_one_step(tmp_path: Path) -> None:
    pages = {f"/{n}": page(f"</{n + 1}>; rel=describedby") for n in range(3)}
    with web(tmp_path, site(pages)) as own:
        mark = own.evaluate(timedelta())
        assert own.asked == ["/0", "/1"]
        assert documents(own) == set()
        assert mark.not_fetched == {"redirects": 1}


def test_a_loop_of_headers_ends(tmp_path: Path) -> None:
    pages = {"/0": page("</1>; rel=describedby"), "/1": page("</0>; rel=describedby")}
    with web(tmp_path, site(pages)) as own:
        own.evaluate(timedelta())
        assert own.asked == ["/0", "/1"]


def test_a_redirect_may_follow_a_header(tmp_path: Path) -> None:
    moved = Sent(answer_of(b"", "Location: /data", status="303 See Other"))
    with web(tmp_path, site({"/0": page("</1>; rel=describedby"), "/1": moved})) as own:
        own.evaluate(timedelta())
        assert documents(own) == {"/data"}


@dataclass(frozen=True, slots=True)
class Two:
    """A web of two hosts, and the second server."""

    own: Web
    other: KeepingServer


def two(stack: ExitStack, folder: Path, hosts: str, more: str = "") -> Two:
    """A page whose header leads to another host, and what is behind `more` in the same header."""
    other = KeepingServer(site({}), address="127.0.0.2")
    stack.enter_context(other)
    header = f"<{other.origin}/data>; rel=describedby{more}"
    answer = site({"/0": page(header)})
    keys = f"robots: false, hosts: {hosts}"
    return Two(stack.enter_context(web(folder, answer, "", keys, other)), other)


def test_a_host_that_is_not_declared_is_not_asked(tmp_path: Path) -> None:
    with ExitStack() as stack:
        made = two(stack, tmp_path, "[127.0.0.1]")
        mark = made.own.evaluate(timedelta())
        assert made.other.requests == []
        assert mark.not_fetched == {"host": 1}


def test_a_host_that_is_declared_is_asked(tmp_path: Path) -> None:
    with ExitStack() as stack:
        made = two(stack, tmp_path, "[127.0.0.1, 127.0.0.2]")
        made.own.evaluate(timedelta())
        assert [request.path for request in made.other.requests] == ["/data"]


def test_a_link_to_a_host_that_is_declared_comes_before_others(tmp_path: Path) -> None:
    with ExitStack() as stack:
        made = two(stack, tmp_path, "[127.0.0.1]", ", </data>; rel=alternate; type=text/turtle")
        made.own.evaluate(timedelta())
        assert made.other.requests == []
        assert documents(made.own) == {"/data"}


@pytest.mark.parametrize(
    "links",
    [
        [f"</{n}>; rel=describedby" for n in range(10_000)],
        [", ".join(f"</{n}>; rel=describedby" for n in range(1_000))],
        ["<" * 30_000],
        ['</data>; rel="' + "describedby " * 2_000 + '"'],
    ],
    ids=["headers", "links", "brackets", "relations"],
)
def test_a_header_made_to_be_long_leads_to_one_page_at_most(
    tmp_path: Path, links: list[str]
) -> None:
    with web(tmp_path, site({"/0": page(*links)})) as own:
        began = time.monotonic()
        own.evaluate(timedelta())
        assert len(own.asked) <= 2
        assert time.monotonic() - began < 20


def test_the_budget_counts_descriptions(tmp_path: Path) -> None:
    with web(tmp_path, site({"/0": page("</data>; rel=describedby")}), "requests: 1") as own:
        mark = own.evaluate(timedelta())
        assert own.asked == ["/0"]
        assert mark.not_fetched == {"budget": 1}
        own.evaluate(timedelta(hours=1))
        assert own.asked == ["/0", "/data"]
        assert documents(own) == {"/data"}


def test_it_is_recorded_how_a_document_was_found(tmp_path: Path) -> None:
    seed = Sent(answer_of(b"<> <http://e/p> </home#me> .", TURTLE))
    home = page("</data>; rel=describedby; type=text/turtle")
    with web(tmp_path, site({"/0": seed, "/home": home})) as own:
        own.evaluate(timedelta())
        origin, lake = own.server.origin, Lake(own.project.settings.lake)
        rows = {row["iri"]: row for row in lake.rows(DOCUMENTS.name("nose")).to_pylist()}
        home_row = rows[f"{origin}/home"]
        assert (home_row["outcome"], home_row["target"]) == ("described", f"{origin}/data")
        path = path_to(pages_of(lake, "nose"), f"{origin}/data")
        assert path == [
            row(0, f"{origin}/0", f"{origin}/home#me", None),
            row(1, f"{origin}/data", None, f"{origin}/home (Link header)"),
        ]


def row(depth: int, document: str, leads_to: str | None, through: str | None) -> dict[str, Any]:
    """A row of `weir documents --why`."""
    return {"depth": depth, "document": document, "leads_to": leads_to, "through": through}


def test_a_document_that_becomes_a_page_moves_to_its_description(tmp_path: Path) -> None:
    pages: dict[str, Sent] = {}
    with web(tmp_path, site(pages), "", "robots: false, keep_unreachable: PT0S") as own:
        own.evaluate(timedelta())
        assert documents(own) == {"/0"}
        pages["/0"] = page("</data>; rel=describedby")
        own.evaluate(timedelta(days=1))
        assert documents(own) == {"/data"}
        del pages["/0"]
        own.evaluate(timedelta(days=3))
        assert documents(own) == {"/0"}
