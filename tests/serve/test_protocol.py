"""The SPARQL 1.1 Protocol: requests like those of the W3C's tests of the query operation.

https://w3c.github.io/rdf-tests/sparql/sparql11/protocol/
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlencode

import pyoxigraph as ox
import pytest
from rdflib.plugins.stores.sparqlstore import SPARQLStore
from rdflib.term import URIRef

from tests.support.serving import JSON, Client, Reply

G, H = "urn:g", "urn:h"
FORM = "application/x-www-form-urlencoded"
DIRECT = "application/sparql-query"
_KNOWS = "?a <urn:knows> ?b"
ASKS = {
    "nothing": "ASK {}",
    "default": "ASK { <urn:a> <urn:knows> <urn:c> }",
    "named": "ASK { GRAPH <urn:g> { <urn:a> <urn:knows> <urn:c> } }",
}
GOOD: Mapping[str, Callable[[Client], Reply]] = {
    "query by form": lambda c: c.form(query="ASK {}"),
    "query by get": lambda c: c.query("ASK {}"),
    "query direct": lambda c: c.direct("ASK {}"),
    "default graph by get": lambda c: c.query(ASKS["default"], **{"default-graph-uri": G}),
    "default graph by form": lambda c: c.form(query=ASKS["default"], **{"default-graph-uri": G}),
    "default graph direct": lambda c: c.direct(ASKS["default"], **{"default-graph-uri": G}),
    "default graphs by get": lambda c: c.query(ASKS["default"], **{"default-graph-uri": [G, H]}),
    "default graphs by form": lambda c: c.form(
        query=ASKS["default"], **{"default-graph-uri": [H, G]}
    ),
    "named graph by get": lambda c: c.query(ASKS["named"], **{"named-graph-uri": G}),
    "named graphs by form": lambda c: c.form(query=ASKS["named"], **{"named-graph-uri": [G, H]}),
    "default graph in the address of a form": lambda c: c.send(
        "POST",
        f"/sparql?default-graph-uri={G}",
        urlencode({"query": ASKS["default"]}).encode(),
        Content_Type=FORM,
    ),
    "the whole dataset": lambda c: c.direct(
        f"ASK {{ {ASKS['named'][5:-1]} FILTER NOT EXISTS {{ {_KNOWS} }} }}",
        **{"default-graph-uri": H, "named-graph-uri": [G]},
    ),
    "the dataset of the request and not that of the query": lambda c: c.query(
        "ASK FROM <urn:h> { <urn:a> <urn:knows> <urn:c> }", **{"default-graph-uri": G}
    ),
}


@pytest.mark.parametrize("request_", GOOD)
def test_a_request_is_answered_with_true(server: Client, request_: str) -> None:
    reply = GOOD[request_](server)
    assert (reply.status, reply.media) == (200, JSON)
    assert reply.json["boolean"] is True


def post(
    body: bytes, content_type: str | None = None, path: str = "/sparql"
) -> Callable[..., Reply]:
    """A POST of some bytes."""
    headers = {} if content_type is None else {"Content_Type": content_type}
    return lambda client: client.send("POST", path, body, **headers)


BAD: Mapping[str, tuple[int, Callable[[Client], Reply]]] = {
    "another method": (405, lambda c: c.send("PUT", "/sparql?query=ASK%20%7B%7D", b"")),
    "delete": (405, lambda c: c.send("DELETE", "/sparql?query=ASK%20%7B%7D")),
    "two queries": (400, lambda c: c.get("/sparql?query=ASK%20%7B%7D&query=ASK%20%7B%7D")),
    "two queries by form": (400, post(b"query=ASK%20%7B%7D&query=ASK%20%7B%7D", FORM)),
    "a query and one more": (400, post(b"ASK {}", DIRECT, "/sparql?query=ASK%20%7B%7D")),
    "another media type": (415, post(b"ASK {}", "text/plain")),
    "a form without its type": (415, post(b"query=ASK%20%7B%7D")),
    "a query without its type": (415, post(b"ASK {}")),
    "another charset": (415, post("ASK {}".encode("utf-16"), f"{DIRECT}; charset=utf-16")),
    "no UTF-8": (400, post(b"ASK { ?a ?b '\xff' }", DIRECT)),
    "no UTF-8 in a form": (400, post(b"query=ASK%20%7B%7D%20%23%ff", FORM)),
    "wrong syntax": (400, lambda c: c.query("ASK { ?s ?p }")),
    "no query": (400, post(b"", FORM)),
    "an empty query": (400, lambda c: c.get("/sparql?query=")),
    "a relative graph": (400, lambda c: c.get("/sparql?query=ASK%7B%7D&default-graph-uri=x")),
    "an update": (400, lambda c: c.query("INSERT DATA { <urn:a> <urn:b> <urn:c> }")),
    "an update by its parameter": (400, post(b"update=CLEAR%20ALL", FORM)),
    "an update by its type": (415, post(b"CLEAR ALL", "application/sparql-update")),
    "a query and an update": (400, post(b"query=ASK%20%7B%7D&update=CLEAR%20ALL", FORM)),
    "LOAD": (400, lambda c: c.query("LOAD <http://127.0.0.1/x>")),
    "SERVICE": (400, lambda c: c.query("ASK { SERVICE <http://127.0.0.1/x> { ?a ?b ?c } }")),
    "an epoch that is none": (400, lambda c: c.query("ASK {}", epoch="x")),
    "an epoch of the future": (404, lambda c: c.query("ASK {}", epoch=7)),
    "a type that is none": (406, lambda c: c.query("ASK {}", "image/png")),
    "a type of graphs": (406, lambda c: c.query("ASK {}", "text/turtle")),
    "a type of rows": (406, lambda c: c.query("CONSTRUCT WHERE {?a ?b ?c}", "text/csv")),
    "a huge body": (413, post(b"query=" + b"x" * 2_000_000, FORM)),
}


@pytest.mark.parametrize("request_", BAD)
def test_a_request_is_refused_with_a_plain_reason(server: Client, request_: str) -> None:
    status, send = BAD[request_]
    reply = send(server)
    assert (reply.status, reply.media) == (status, "application/problem+json")
    assert reply.json["status"] == status
    assert len(reply.json["detail"]) > 10


RESULTS = {
    JSON: JSON,
    "application/sparql-results+xml": "application/sparql-results+xml",
    "text/csv": "text/csv",
    "text/tab-separated-values": "text/tab-separated-values",
    "application/json": JSON,
    "*/*": JSON,
    "text/*;q=0.9, application/sparql-results+xml;q=0.2": "text/csv",
    "text/html, application/xml;q=0.9": "application/sparql-results+xml",
}


@pytest.mark.parametrize("accept", RESULTS)
def test_solutions_come_in_the_type_that_is_liked_best(server: Client, accept: str) -> None:
    reply = server.query("SELECT ?n { <urn:c> <urn:name> ?n }", accept)
    assert (reply.status, reply.media) == (200, RESULTS[accept])
    assert "C" in reply.text


GRAPHS = {
    "text/turtle": ox.RdfFormat.TURTLE,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "application/rdf+xml": ox.RdfFormat.RDF_XML,
    "application/ld+json": ox.RdfFormat.JSON_LD,
}


@pytest.mark.parametrize("accept", GRAPHS)
@pytest.mark.parametrize("form", ["CONSTRUCT WHERE { <urn:c> ?p ?o }", "DESCRIBE <urn:c>"])
def test_a_graph_comes_in_each_format_of_triples(server: Client, accept: str, form: str) -> None:
    reply = server.query(form, accept)
    assert (reply.status, reply.media) == (200, accept)
    triples = {str(quad.triple) for quad in ox.parse(reply.body, GRAPHS[accept])}
    plain = server.query(form, "application/n-triples")
    assert triples == {str(q.triple) for q in ox.parse(plain.body, ox.RdfFormat.N_TRIPLES)} != set()


def test_a_prefix_that_is_not_declared_is_said_in_plain_words(server: Client) -> None:
    said = server.query("ASK { ?s ex:knows ?o }").json["detail"]
    assert said == "the query is wrong: error at 1:18: a prefix is not declared"


def test_a_triple_that_is_in_several_graphs_is_once_in_their_merge(server: Client) -> None:
    pairs = "SELECT ?a ?b {} {{ <urn:b> <urn:knows> ?b . ?a <urn:knows> <urn:c> }}"
    at = {"epoch": 2}
    merges = [
        server.query(pairs.format(""), **at),
        server.query(pairs.format("FROM <urn:g> FROM <urn:h>"), **at),
        server.query("PREFIX u: <urn:> " + pairs.format("FROM u:g FROM <urn:h>"), **at),
        server.query(pairs.format(""), **at, **{"default-graph-uri": [G, H]}),
    ]
    rows = [reply.rows for reply in merges]
    assert rows[0] == [{"a": "urn:b", "b": "urn:c"}]
    assert all(one == rows[0] for one in rows)


def test_every_epoch_is_answered_as_it_was(server: Client) -> None:
    counts = [
        server.query("SELECT ?a ?b { ?a <urn:knows> ?b }", epoch=epoch) for epoch in range(1, 7)
    ]
    assert [len(reply.rows) for reply in counts] == [2, 2, 3, 3, 3, 2]
    assert [reply.headers["weir-epoch"] for reply in counts] == [*"123456"]


def test_a_published_graph_is_asked_by_its_name(server: Client) -> None:
    reply = server.query("SELECT ?b ?a { GRAPH <urn:weir:answer:known> { ?b <urn:known-by> ?a } }")
    pairs = server.query("SELECT ?b ?a { ?a <urn:knows> ?b }")
    assert reply.rows == pairs.rows != []


def test_without_a_query_the_endpoint_describes_itself(server: Client) -> None:
    reply = server.get("/sparql")
    assert (reply.status, reply.media) == (200, "text/turtle")
    said = {str(quad.object) for quad in ox.parse(reply.body, ox.RdfFormat.TURTLE)}
    assert f"<{server.url}/sparql>" in said
    assert "<http://www.w3.org/ns/sparql-service-description#SPARQL11Query>" in said


def test_void_counts_triples_and_properties(server: Client) -> None:
    reply = server.get("/.well-known/void")
    void = "http://rdfs.org/ns/void#"
    store = ox.Store()
    store.load(reply.body, ox.RdfFormat.TURTLE)
    counted = store.query(
        f"SELECT ?p ?n {{ ?d <{void}propertyPartition> [<{void}property> ?p; <{void}triples> ?n] }}"
    )
    assert isinstance(counted, ox.QuerySolutions)
    numbers = {row["p"].value: row["n"].value for row in counted}
    assert numbers == {"urn:knows": "2", "urn:name": "3"}


def test_rdflib_is_a_client(server: Client) -> None:
    store = SPARQLStore(f"{server.url}/sparql", method="POST")
    knows = URIRef("urn:knows")
    assert {s for (s, _, _), _ in store.triples((None, knows, None))} == {URIRef("urn:a")}
    store = SPARQLStore(f"{server.url}/sparql", returnFormat="json")
    rows = [*store.query("SELECT ?n { <urn:c> <urn:name> ?n }")]
    assert [str(row[0]) for row in rows] == ["C"]


def test_the_requests_of_yasgui_are_answered(server: Client) -> None:
    accept = f"{JSON},*/*;q=0.9"
    body = b"query=SELECT+*+WHERE+%7B%0A++%3Fsub+%3Fpred+%3Fobj+.%0A%7D+LIMIT+10"
    reply = server.send(
        "POST", "/sparql", body, Content_Type=f"{FORM}; charset=UTF-8", Accept=accept
    )
    assert (reply.status, reply.media) == (200, JSON)
    assert len(reply.rows) == 5
    accept = "text/turtle,application/trig;q=0.9,*/*;q=0.8"
    body = body.replace(b"SELECT+*", b"CONSTRUCT+%7B%3Fsub+%3Fpred+%3Fobj%7D")
    reply = server.send(
        "POST", "/sparql", body, Content_Type=f"{FORM}; charset=UTF-8", Accept=accept
    )
    assert (reply.status, reply.media) == (200, "text/turtle")
