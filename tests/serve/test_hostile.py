"""Queries and requests of somebody who wants to stop the server: it goes on, in little memory."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.processes import resident
from tests.support.counting_server import CountingServer, answer_of
from tests.support.projects.project import Project
from tests.support.serving import Client, serving
from weir.sandbox.child import Child
from weir.sandbox.limits import ChildLimits
from weir.settings import Serve, Settings

LIMITS = Serve(query_seconds=2, query_memory="300MB", result_bytes=2_000_000, request_bytes=400_000)
RESIDENT = 600 << 20
"""Bytes that a server has at most, its children included; it holds two results and two queries."""
LOOPBACK = "http://127.0.0.1:{port}/"

_ALL = " . ".join(f"?s{i} ?p{i} ?o{i}" for i in range(12))
_VALUES = " ".join(f"({i})" for i in range(9_000))
_NESTED = {
    "groups": "ASK " + "{" * 30_000 + "}" * 30_000,
    "brackets": "SELECT ((" + "(" * 30_000 + "1" + ")" * 30_000 + ") AS ?x) {}",
    "nots": "ASK { FILTER(" + "!" * 50_000 + "true) }",
    "minuses": "SELECT (" + "-" * 50_000 + "1 AS ?x) {}",
    "paths": "ASK { ?a " + "(" * 20_000 + "<urn:p>" + ")+" * 20_000 + " ?b }",
    "optionals": "ASK { " + "OPTIONAL { " * 8_000 + "}" * 8_000 + " }",
    "subqueries": "SELECT * { " + "{ SELECT * { " * 6_000 + "}}" * 6_000 + " }",
    "lists": "ASK { ?a ?b " + "( " * 20_000 + ")" * 20_000 + " }",
    "blank nodes": "ASK { ?a ?b " + "[ ?c " * 15_000 + "1" + "]" * 15_000 + " }",
    "exists": "ASK { " + "FILTER EXISTS { " * 5_000 + "}" * 5_000 + " }",
    "unions": "ASK { " + "{} UNION " * 20_000 + "{} }",
    "ifs": "SELECT (" + "IF(true, " * 5_000 + "1" + ", 2)" * 5_000 + " AS ?x) {}",
    "triple terms": "ASK { ?a ?b " + "<<( ?s ?p " * 5_000 + "1" + " )>>" * 5_000 + " }",
    "alternatives": "ASK { ?a <urn:p>" + "|<urn:p>" * 20_000 + " ?b }",
    "sequences": "ASK { ?a <urn:p>" + "/<urn:p>" * 20_000 + " ?b }",
    "plus": "SELECT (1" + "+1" * 50_000 + " AS ?x) {}",
    "and": "ASK { FILTER(true" + " && true" * 20_000 + ") }",
    "functions": "SELECT (" + "STR(" * 20_000 + "1" + ")" * 20_000 + " AS ?x) {}",
    "or": "ASK { FILTER(true" + " || true" * 20_000 + ") }",
}
_PRODUCTS = {
    "a product": f"SELECT * {{ {_ALL} }}",
    "a product that is counted": f"SELECT (COUNT(*) AS ?n) {{ {_ALL} }}",
    "a product that is sorted": f"SELECT * {{ {_ALL} }} ORDER BY ?s1 ?o2",
    "a product without equals": f"SELECT DISTINCT * {{ {_ALL} }}",
    "a product that is grouped": f"SELECT ?s1 (COUNT(*) AS ?n) {{ {_ALL} }} GROUP BY ?s1",
    "a product of graphs": f"SELECT * {{ GRAPH ?g {{ {_ALL} }} GRAPH ?h {{ ?a ?b ?c }} }}",
    "a product that is made": f"CONSTRUCT {{ ?s1 ?p2 ?o3 }} WHERE {{ {_ALL} }}",
    "a product that is described": f"DESCRIBE * {{ {_ALL} }}",
    "a product of optionals": "SELECT * { "
    + " ".join(f"OPTIONAL {{ ?a{i} ?b{i} ?c{i} }}" for i in range(14))
    + " }",
    "a product without a match": f"ASK {{ {_ALL} FILTER(?s0 = <urn:none> && ?s11 = 1) }}",
    "unions of unions": "SELECT * { "
    + " ".join("{ { ?a ?b ?c } UNION { ?d ?e ?f } }" for _ in range(14))
    + " }",
    "minus": f"SELECT * {{ {_ALL} MINUS {{ ?s1 ?p1 ?x . ?y ?z ?w }} }}",
    "exists for each": f"SELECT * {{ {_ALL} FILTER NOT EXISTS {{ ?s0 <urn:none> ?s9 }} }}",
    "VALUES": f"SELECT * {{ VALUES (?a) {{ {_VALUES} }} VALUES (?b) {{ {_VALUES} }} }}",
    "VALUES that are counted": f"SELECT (COUNT(*) AS ?n) {{ VALUES (?a) {{ {_VALUES} }}"
    f" VALUES (?b) {{ {_VALUES} }} VALUES (?c) {{ {_VALUES} }} }}",
    "VALUES that are sorted": f"SELECT * {{ VALUES (?a) {{ {_VALUES} }}"
    f" VALUES (?b) {{ {_VALUES} }} }} ORDER BY DESC(?a + ?b)",
    "an offset": f"SELECT * {{ {_ALL} }} OFFSET 999999999999 LIMIT 1",
    "LIMIT of many": f"SELECT * {{ {_ALL} }} LIMIT 99999999999",
    "graphs of graphs": "SELECT * { "
    + " ".join(f"GRAPH ?g{i} {{ ?a{i} ?b{i} ?c{i} }}" for i in range(12))
    + " }",
}
_PATHS = {
    f"the path {path}": f"SELECT * {{ ?a {path} ?b . ?c {path} ?d . ?e {path} ?f . ?g {path} ?h"
    f" . ?i {path} ?j . ?k {path} ?l . ?m {path} ?n . ?o {path} ?q . ?r {path} ?s }}"
    for path in (
        "(<urn:knows>|^<urn:knows>)*",
        "(<urn:knows>|!<urn:knows>)+",
        "((<urn:knows>*)*)*",
        "(!<urn:none>|^(!<urn:none>))*",
        "(<urn:knows>?/<urn:knows>?/<urn:knows>?)+",
        "(<urn:knows>/^<urn:knows>)*",
    )
}
_DOUBLED = " ".join(f"BIND(CONCAT(?x{i}, ?x{i}) AS ?x{i + 1})" for i in range(40))
_TEN = 'BIND("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" AS ?x0)'
_GROWTH = {
    "doubled text": f"SELECT (STRLEN(?x40) AS ?n) {{ {_TEN} {_DOUBLED} }}",
    "doubled text as the result": f"SELECT ?x26 {{ {_TEN} {_DOUBLED} }}",
    "replaced text": f"SELECT ?x9 {{ {_TEN} "
    + " ".join(f'BIND(REPLACE(?x{i}, "a", "aaaaaaaaaaaaaaaa") AS ?x{i + 1})' for i in range(9))
    + " }",
    "escaped text": f"SELECT ?x30 {{ {_TEN.replace('a', '%')} "
    + " ".join(f"BIND(ENCODE_FOR_URI(?x{i}) AS ?x{i + 1})" for i in range(30))
    + " }",
    "GROUP_CONCAT": f"SELECT (GROUP_CONCAT(STR(?s1)) AS ?x) {{ {_ALL} }}",
    "GROUP_CONCAT of numbers": f"SELECT (GROUP_CONCAT(?a) AS ?x) {{ VALUES (?a) {{ {_VALUES} }}"
    f" VALUES (?b) {{ {_VALUES} }} }}",
    "GROUP_CONCAT with a long separator": "SELECT (GROUP_CONCAT(?a; SEPARATOR='"
    + "-" * 50_000
    + f"') AS ?x) {{ VALUES (?a) {{ {_VALUES} }} }}",
    "a product of numbers": "SELECT (" + " * ".join(["9999999999999999"] * 3_000) + " AS ?x) {}",
    "SAMPLE": f"SELECT (SAMPLE(?s1) AS ?x) (MAX(?o2) AS ?y) {{ {_ALL} }}",
    "COUNT DISTINCT": f"SELECT (COUNT(DISTINCT *) AS ?n) {{ {_ALL} }}",
    "made terms": f"SELECT (IRI(CONCAT('urn:', STR(?a), STR(?b))) AS ?i) (BNODE() AS ?n) (UUID() AS"
    f" ?u) {{ VALUES (?a) {{ {_VALUES} }} VALUES (?b) {{ {_VALUES} }} }}",
    "hashes": f"SELECT (SHA512(CONCAT(STR(?a), STR(?b))) AS ?h) {{ VALUES (?a) {{ {_VALUES} }}"
    f" VALUES (?b) {{ {_VALUES} }} }}",
    "a triple of each": "CONSTRUCT { "
    + " ".join(f"?s{i} ?p{i} [ ?p1 ?o{i} ] ." for i in range(12))
    + f" }} WHERE {{ {_ALL} }}",
}
_EVIL = 'BIND("' + "a" * 60 + '!" AS ?x)'
_REGEXES = {
    f"the pattern {i}": f'SELECT (REGEX(?x, "{pattern}") AS ?y) {{ {_EVIL} }}'
    for i, pattern in enumerate(
        (
            "(a+)+$",
            "(a|aa)+$",
            "(.*a){25}",
            "^(([a-z])+.)+[A-Z]([a-z])+$",
            "(a{1,1000}){1,1000}",
            "((a{1,100}){1,100}){1,100}",
            "[\\\\w]{5000}{5000}",
            "(" * 5_000 + ")" * 5_000,
            "a?" * 5_000 + "a" * 5_000,
            "(?:" * 200 + "a" + "{2})" * 200,
            "\\\\p{L}" * 10_000,
        )
    )
}
_REQUESTS_OF_OTHERS = {
    "SERVICE": "SELECT * { SERVICE <URL> { ?a ?b ?c } }",
    "SERVICE SILENT": "SELECT * { SERVICE SILENT <URL> { ?a ?b ?c } }",
    "service": "select * { service <URL> { ?a ?b ?c } }",
    "SERVICE of a variable": "SELECT * { VALUES ?u { <URL> } SERVICE ?u { ?a ?b ?c } }",
    "SERVICE by a prefix": "PREFIX u: <URL> SELECT * { SERVICE u: { ?a ?b ?c } }",
    "SERVICE in a subquery": "SELECT * { { SELECT * { SERVICE <URL> { ?a ?b ?c } } } }",
    "SERVICE in EXISTS": "ASK { FILTER EXISTS { SERVICE <URL> { ?a ?b ?c } } }",
    "SERVICE with escapes": "SELECT * { \\u0053\\U00000045RVICE <URL> { ?a ?b ?c } }",
    "SERVICE after a comment": "SELECT * { # '\nSERVICE # \"\n<URL> { ?a ?b ?c } }",
    "SERVICE after a text": "SELECT * { BIND('''a\\'''' AS ?x) SERVICE <URL> { ?a ?b ?c } }",
    "SERVICE after an escaped text": (
        'SELECT * { BIND("\\u005C" AS ?x) SERVICE <URL> { ?a ?b ?c } # "\n }'
    ),
    "SERVICE after an escaped quotation mark": (
        'SELECT * { BIND("\\u0022 AS ?x) SERVICE <URL> { ?a ?b ?c } # "\n }'
    ),
    "LOAD": "LOAD <URL>",
    "LOAD INTO": "LOAD SILENT <URL> INTO GRAPH <urn:g>",
    "FROM": "SELECT * FROM <URL> { ?a ?b ?c }",
    "FROM NAMED": "SELECT * FROM NAMED <URL> { GRAPH ?g { ?a ?b ?c } }",
    "GRAPH": "SELECT * { GRAPH <URL> { ?a ?b ?c } }",
    "a file": "SELECT * FROM <file:///etc/passwd> { ?a ?b ?c }",
    "INSERT": "INSERT DATA { <urn:a> <urn:b> <urn:c> }",
    "DELETE": "DELETE WHERE { ?a ?b ?c }",
    "DROP": "DROP ALL",
    "two things": "ASK {} ; DROP ALL",
}
_LARGE = {
    "a long name": "SELECT ?" + "a" * 300_000 + " {}",
    "a long IRI": "ASK { ?a ?b <urn:" + "a" * 300_000 + "> }",
    "a long text": "ASK { ?a ?b '" + "a" * 300_000 + "' }",
    "many variables": "SELECT * { "
    + " ".join(f"OPTIONAL{{?a{i} ?b ?c}}" for i in range(9_000))
    + " }",
    "many prefixes": " ".join(f"PREFIX a{i}: <urn:{i}>" for i in range(9_000)) + " ASK {}",
    "many graphs": "ASK " + " ".join(f"FROM <urn:{i}>" for i in range(9_000)) + " {}",
    "many comments": "ASK {} " + "#\n" * 150_000,
    "NUL": "ASK { ?a ?b '\x00' }",
    "the end of Unicode": "ASK { ?a ?b '\U0010ffff' }",
    "half a character": "ASK { ?a ?b '\\uD800' }",
    "no character": "ASK { ?a ?b '\\UFFFFFFFF' }",
}
QUERIES = {
    **_NESTED,
    **_PRODUCTS,
    **_PATHS,
    **_GROWTH,
    **_REGEXES,
    **_REQUESTS_OF_OTHERS,
    **_LARGE,
}
SAMPLE = (
    "groups",
    "a product that is counted",
    "doubled text",
    "SERVICE with escapes",
    "the pattern 5",
)


def test_there_are_a_hundred_of_them() -> None:
    assert len(QUERIES) >= 100


@pytest.fixture(scope="module")
def hostile(people: Project) -> Settings:
    """The settings of a project whose queries may take little."""
    return people.settings.model_copy(update={"serve": LIMITS})


@contextmanager
def watched(settings: Settings) -> Iterator[tuple[Client, CountingServer]]:
    """A server, and another one that nobody may ask."""
    with CountingServer(lambda _: answer_of(b"")) as other, serving(settings) as client:
        assert client.query("ASK {}").json["boolean"] is True
        yield client, other


def is_well(client: Client) -> bool:
    """Whether an ordinary query is answered."""
    return len(client.query("SELECT * { ?a <urn:knows> ?b }").rows) == 2


def send_all(client: Client, other: CountingServer, names: Iterator[str]) -> dict[str, int]:
    """The status of each query; all of them are sent in the form that has the fewest limits."""
    statuses = {}
    for name in names:
        text = QUERIES[name].replace("URL", LOOPBACK.format(port=other.port))
        began = time.monotonic()
        reply = client.direct(text, "*/*")
        statuses[name] = reply.status
        assert reply.status in (200, 400, 413, 500, 503), (name, reply.text[:500])
        assert len(reply.body) <= LIMITS.result_bytes + 1_000, name
        assert reply.status == 200 or reply.json["detail"], name
        assert time.monotonic() - began < 60, name
    return statuses


def test_a_few_hostile_queries_stop_nothing(hostile: Settings) -> None:
    with watched(hostile) as (client, other):
        statuses = send_all(client, other, iter(SAMPLE))
        assert is_well(client)
    assert not other.requests
    assert statuses["a product that is counted"] == 503
    assert statuses["doubled text"] == 503
    assert statuses["SERVICE with escapes"] == 400


def test_services_are_refused_before_anything_is_evaluated(hostile: Settings) -> None:
    with serving(hostile) as client:
        reply = client.query("SELECT * { SERVICE <http://127.0.0.1/x> { ?a ?b ?c } }")
        assert (reply.status, "SERVICE is refused" in reply.json["detail"]) == (400, True)


def test_a_result_that_is_too_large_says_so(hostile: Settings) -> None:
    numbers = " ".join(map(str, range(300)))
    text = f"SELECT * {{ VALUES ?a {{ {numbers} }} VALUES ?b {{ {numbers} }} VALUES ?c {{ 1 2 }} }}"
    with serving(hostile) as client:
        reply = client.direct(text, "*/*")
        assert (reply.status, "use LIMIT" in reply.json["detail"]) == (400, True)


@pytest.mark.usefixtures("slow")
def test_no_hostile_query_stops_the_server_or_lets_it_ask_others(people: Project) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.serve.test_hostile import serve_alone;"
        " serve_alone(Path(sys.argv[1]))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path])}
    command = [sys.executable, "-c", code, str(people.folder / "weir.toml")]
    with (
        CountingServer(lambda _: answer_of(b"")) as other,
        subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        client = Client(int(process.stdout.readline()))
        assert is_well(client)
        most = 0
        for name in QUERIES:
            send_all(client, other, iter([name]))
            most = max(most, resident(process.pid))
        assert is_well(client)
        assert process.poll() is None
        process.stdin.close()
    assert not other.requests
    assert most < RESIDENT, most


def serve_alone(file: Path) -> None:
    """Serve a project; print the port, and end when standard input does."""
    settings = Settings.load(file).model_copy(update={"serve": LIMITS})
    with serving(settings) as client:
        print(client.port, flush=True)
        sys.stdin.read()


RAW = {
    "nothing": b"",
    "half a request": b"GET /sparql HTTP/1.1\r\nHost: localhost\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "a long line": b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a long header": b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
    "many headers": b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: 1\r\n" * 20_000 + b"\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    "two lengths": (
        b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
        b"Content-Length: 6\r\n\r\n"
    ),
    "a length and chunks": (
        b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "a negative length": b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    "a huge length": (
        b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999\r\n\r\n"
    ),
    "no UTF-8": b"GET /answers/\xff\xfe?x=%ff HTTP/1.1\r\nHost: localhost\r\nAccept: \xff\r\n\r\n",
    "a path out of it": b"GET /answers/..%2f..%2fetc%2fpasswd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a header in a value": (
        b"GET /answers/x%0d%0aSet-Cookie:%20a=b HTTP/1.1\r\nHost: localhost\r\n\r\n"
    ),
}


@pytest.mark.parametrize("request_", RAW)
def test_a_request_that_is_none_stops_nothing(server: Client, request_: str) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        reply = b""
        # The server may close it before it has read everything.
        with contextlib.suppress(OSError):
            connection.sendall(RAW[request_])
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(1 << 16):
                reply += part
    assert b"root:" not in reply
    assert b"\nset-cookie" not in reply.lower()
    assert is_well(server)


def test_a_child_that_evaluates_queries_can_open_no_connection() -> None:
    """The kernel refuses it, so nothing that Oxigraph may do for a query can ask anybody."""
    limits = ChildLimits(1 << 30, "more", offline=True)
    with Child("tests.support.connecting", limits) as child:
        child.send(b"")
        assert child.receive(bytes) == b"refused refused"
