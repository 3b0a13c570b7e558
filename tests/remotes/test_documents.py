"""A remote that is an RDF document: one request per evaluation, and answers from what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest

from tests.support.broken_children import BROKEN, write_instead
from tests.support.counting_server import CountingServer, answer_of
from weir.remotes.asking import Fetched
from weir.remotes.budget import Amount
from weir.remotes.declarations import Remote
from weir.remotes.documents import DocumentFetcher
from weir.remotes.http.outcomes import Failure

MOST = Amount(requests=1, keys=5, bytes=1_000_000, seconds=20.0)
TURTLE = """
@prefix : <http://x/> .
:a :n 1 ; :label "Wien"@de-AT . :b :n 2 ; :knows [ :n 3 ] .
"""
QUERY = "SELECT ?s ?n WHERE { VALUES (?s) { (<http://x/a>) (<http://x/b>) } ?s <http://x/n> ?n }"
NUMBER = "http://www.w3.org/2001/XMLSchema#integer"


@contextmanager
def served(content: bytes, media_type: str = "text/turtle") -> Iterator[DocumentFetcher]:
    """A fetcher of a document on loopback."""
    head = f"Content-Type: {media_type}"
    with CountingServer(lambda _: answer_of(content, head)) as server:
        yield fetcher(server.url)


def fetcher(url: str) -> DocumentFetcher:
    remote = Remote.model_validate(
        {
            "name": "doc",
            "iri": url,
            "kind": "file",
            "contact": "tests@example.org",
            "allow": ["127.0.0.1/32"],
            "ports": [urlsplit(url).port],
        }
    )
    return DocumentFetcher(remote, lambda: datetime(2026, 1, 1, tzinfo=UTC))


def solutions(fetched: Fetched) -> list[dict[str, str]]:
    assert not isinstance(fetched.result, Failure), fetched.result
    return [dict(solution) for solution in fetched.result]


def test_a_document_is_fetched_once_and_answers_each_query() -> None:
    with served(TURTLE.encode()) as fetch:
        first = fetch(QUERY, MOST, 10)
        second = fetch("SELECT ?l { ?s <http://x/label> ?l }", MOST, 10)
    assert solutions(first) == [
        {"s": "<http://x/a>", "n": f'"1"^^<{NUMBER}>'},
        {"s": "<http://x/b>", "n": f'"2"^^<{NUMBER}>'},
    ]
    assert solutions(second) == [{"l": '"Wien"@de-at'}]
    assert [first.took.requests, second.took.requests, second.took.bytes] == [1, 0, 0]
    assert first.took.bytes > len(TURTLE)


def test_no_more_solutions_are_given_than_were_wanted() -> None:
    with served(TURTLE.encode()) as fetch:
        assert len(solutions(fetch("SELECT ?s { ?s ?p ?o }", MOST, 2))) == 2


@pytest.mark.parametrize(
    ("content", "media_type"),
    [(b"not turtle {", "text/turtle"), (TURTLE.encode(), "text/html"), (b"<r/>", "text/plain")],
)
def test_what_is_no_document_is_a_failure_without_a_second_request(
    content: bytes, media_type: str
) -> None:
    with served(content, media_type) as fetch:
        first, second = fetch(QUERY, MOST, 10), fetch(QUERY, MOST, 10)
    for fetched in (first, second):
        assert isinstance(fetched.result, Failure)
        assert fetched.result.kind == "not_results"
    assert second.took.requests == 0


def test_a_document_that_cannot_be_fetched_is_a_failure_that_may_be_tried_again() -> None:
    fetch = fetcher("http://127.0.0.1:1/doc.ttl")
    kinds = []
    for _ in range(2):
        fetched = fetch(QUERY, MOST, 10)
        assert isinstance(fetched.result, Failure)
        kinds.append((fetched.result.kind, fetched.took.requests))
    assert kinds == [("not_connected", 1)] * 2


def test_a_query_that_takes_too_long_is_ended() -> None:
    lines = "".join(f"<http://x/{i}> <http://x/p> {i} .\n" for i in range(300))
    many = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . ?g ?s ?h }"
    with served(lines.encode()) as fetch:
        fetched = fetch(many, Amount(1, 1, 1_000_000, 3.0), 10)
    assert isinstance(fetched.result, Failure)
    assert fetched.result.kind == "deadline_passed"


@pytest.mark.parametrize("broken", BROKEN)
def test_a_process_that_breaks_the_protocol_is_a_failure_in_the_words_of_every_child(
    monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    write_instead(monkeypatch, "weir.remotes.document_worker", BROKEN[broken])
    with served(TURTLE.encode()) as fetch:
        fetched = fetch(QUERY, MOST, 10)
    assert isinstance(fetched.result, Failure)
    assert fetched.result.kind == "worker_failed"
    assert "the document sent no proper answer: " in fetched.result.reason
