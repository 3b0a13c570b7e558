"""Solutions come from two real SPARQL endpoints, in a child process, as they are there."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from demo.fuseki import Credentials, Fuseki, FusekiRefusedError, running_fuseki
from tests.support.endpoints import LIMITS, Endpoint, request_to
from tests.support.oxigraph_endpoint import OxigraphEndpoint
from weir.remotes.http.client import fetch
from weir.remotes.http.isolated import fetch_solutions
from weir.remotes.http.metering import Deadline, Meter
from weir.remotes.http.outcomes import Failure, Response
from weir.remotes.http.request import LONGEST_GET_URL, FetchRequest
from weir.remotes.http.sparql_results import Solution, SparqlResults, read_results
from weir.remotes.questions import Block, question
from weir.sparql.algebra.patterns import Filter, Project
from weir.sparql.frontend.translate import translate
from weir.sparql.functions.evaluate import compiled, row_of
from weir.sparql.functions.values import TRUE

GOOD = Credentials("weir", "c4n4ry-pass")
WRONG = Credentials("weir", "wr0ng-c4n4ry")
ENDPOINTS = (pytest.param("fuseki", marks=pytest.mark.fuseki), "oxigraph")
DATA = """
PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
INSERT DATA {
  :a :p :b . :a :p "text" . :a :p "\\"é\\"\\n漢😀" . :a :p "Grüezi"@de . :a :p "colour"@en-GB .
  :a :p 42 . :a :p true . :a :p "2026-01-02T03:04:05Z"^^xsd:dateTime . :a :p "x"^^:type .
  :n :q _:one . _:one :r "1" . :n :q _:two . _:two :r "2" . :a :only "here" .
}"""
TERMS = {
    "<http://e/b>",
    '"text"',
    '"\\"é\\"\\n漢😀"',
    '"Grüezi"@de',
    '"colour"@en-gb',  # of the results' reader, as terms have one form in the lake
    '"42"^^<http://www.w3.org/2001/XMLSchema#integer>',
    '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>',
    '"2026-01-02T03:04:05Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
    '"x"^^<http://e/type>',
}


@pytest.fixture(scope="module")
def oxigraph_running() -> Iterator[OxigraphEndpoint]:
    with OxigraphEndpoint() as running:
        yield running


@pytest.fixture(params=ENDPOINTS)
def endpoint(request: pytest.FixtureRequest) -> Endpoint:
    """Each endpoint, with the data above."""
    if request.param == "fuseki":
        running: Endpoint = request.getfixturevalue("fuseki")
    else:
        running = request.getfixturevalue("oxigraph_running")
        running.update("DROP ALL")
    running.update(DATA)
    return running


@pytest.fixture(params=ENDPOINTS, scope="module")
def guarded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Endpoint]:
    """Each endpoint, which lets in `GOOD` only."""
    if request.param == "fuseki":
        with running_fuseki(tmp_path_factory.mktemp("guarded"), GOOD) as fuseki:
            yield fuseki
    else:
        with OxigraphEndpoint(GOOD) as oxigraph:
            yield oxigraph


def results(request: FetchRequest) -> SparqlResults:
    answer, usage = fetch_solutions(request)
    assert isinstance(answer, Response), answer
    assert usage.measured
    return answer.value


def failure(request: FetchRequest) -> Failure:
    answer, _ = fetch_solutions(request)
    assert isinstance(answer, Failure)
    return answer


def test_every_kind_of_term_arrives_as_it_is(endpoint: Endpoint) -> None:
    answer = results(request_to(endpoint, "SELECT ?o { <http://e/a> <http://e/p> ?o }"))
    assert answer.variables == ("o",)
    assert {solution["o"] for solution in answer.solutions} == TERMS
    assert len(answer.solutions) == len(TERMS)


def test_values_select_keys_and_a_limit_cuts_off_solutions(endpoint: Endpoint) -> None:
    values = "VALUES (?s) { (<http://e/a>) (<http://e/none>) } ?s <http://e/p> ?o"
    query = f"SELECT ?s ?o WHERE {{ {values} }}"
    solutions = results(request_to(endpoint, query)).solutions
    assert {solution["s"] for solution in solutions} == {"<http://e/a>"}
    assert len(solutions) == len(TERMS)
    assert len(results(request_to(endpoint, f"{query} LIMIT 4")).solutions) == 4


def test_a_blank_node_is_one_node_in_all_of_an_answer(endpoint: Endpoint) -> None:
    query = (
        "SELECT ?x ?y ?r { <http://e/n> <http://e/q> ?x . ?x <http://e/r> ?r . BIND (?x AS ?y) }"
    )
    solutions = results(request_to(endpoint, query)).solutions
    assert sorted(solution["r"] for solution in solutions) == ['"1"', '"2"']
    assert all(solution["x"] == solution["y"] for solution in solutions)
    labels = {solution["x"] for solution in solutions}
    assert len(labels) == 2
    assert all(label.startswith("_:") for label in labels)


def test_an_unbound_variable_is_missing_in_its_solution_only(endpoint: Endpoint) -> None:
    query = (
        "SELECT ?s ?o ?never { VALUES ?s { <http://e/a> <http://e/n> }"
        " OPTIONAL { ?s <http://e/only> ?o } }"
    )
    answer = results(request_to(endpoint, query))
    assert answer.variables == ("s", "o", "never")
    expected: list[Solution] = [{"s": "<http://e/a>", "o": '"here"'}, {"s": "<http://e/n>"}]
    assert sorted(answer.solutions, key=lambda solution: solution["s"]) == expected


def test_duplicate_solutions_of_an_answer_stay(endpoint: Endpoint) -> None:
    solutions = results(request_to(endpoint, "SELECT ?s { ?s <http://e/p> ?o }")).solutions
    assert solutions == ({"s": "<http://e/a>"},) * len(TERMS)


def test_no_solution_is_an_answer(endpoint: Endpoint) -> None:
    answer = results(request_to(endpoint, "SELECT ?s { ?s <http://e/absent> ?o }"))
    assert answer == SparqlResults(("s",), ())


def test_a_query_too_long_for_a_url_is_posted_and_answered(endpoint: Endpoint) -> None:
    keys = " ".join(f"<http://e/none/{number}>" for number in range(200))
    query = f"SELECT ?s {{ VALUES ?s {{ {keys} <http://e/a> }} ?s <http://e/only> ?o }}"
    request = request_to(endpoint, query)
    assert len(query) > LONGEST_GET_URL
    assert request.method == "POST"
    assert results(request).solutions == ({"s": "<http://e/a>"},)


def test_every_query_is_counted_and_no_update(endpoint: Endpoint) -> None:
    before = endpoint.queries
    results(request_to(endpoint, "SELECT * {}"))
    results(request_to(endpoint, f"SELECT * {{}} #{'x' * LONGEST_GET_URL}"))
    endpoint.update("INSERT DATA { <u:a> <u:b> <u:c> }")
    assert endpoint.queries == before + 2


def test_an_answer_follows_an_update(endpoint: Endpoint) -> None:
    request = request_to(endpoint, "SELECT ?o { <http://e/a> <http://e/only> ?o }")
    endpoint.update("DELETE DATA { <http://e/a> <http://e/only> 'here' }")
    assert results(request).solutions == ()
    endpoint.update("INSERT DATA { <http://e/a> <http://e/only> 'there' }")
    assert results(request).solutions == ({"o": '"there"'},)


def test_a_query_with_a_mistake_is_refused(endpoint: Endpoint) -> None:
    refused = failure(request_to(endpoint, "SELECT ?s { ?s "))
    assert (refused.kind, refused.status) == ("client_error", 400)


def test_an_update_with_a_mistake_is_an_error_of_the_test(endpoint: Endpoint) -> None:
    with pytest.raises((FusekiRefusedError, SyntaxError)):
        endpoint.update("INSERT DATA { <u:a> ")


def test_the_right_password_lets_in(guarded: Endpoint) -> None:
    before = guarded.queries
    answer = results(request_to(guarded, "SELECT (1 AS ?one) {}", GOOD))
    assert answer.solutions == ({"one": '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'},)
    assert guarded.queries == before + 1


@pytest.mark.parametrize("query", ["SELECT * {}", f"SELECT * {{}} #{'x' * LONGEST_GET_URL}"])
@pytest.mark.parametrize("credentials", [WRONG, None], ids=["wrong", "none"])
def test_a_refused_request_shows_no_secret(
    guarded: Endpoint, credentials: Credentials | None, query: str
) -> None:
    before = guarded.queries
    request = request_to(guarded, query, credentials)
    refused = failure(request)
    assert (refused.kind, refused.status) == ("client_error", 401)
    assert guarded.queries == before
    for secret in (WRONG.password, WRONG.basic, WRONG.basic.split()[1]):
        for text in (refused.reason, repr(refused), repr(request)):
            assert secret not in text


def test_a_server_that_repeats_a_secret_is_quoted_without_it() -> None:
    """The refusal above can fail: this server sends the secret back."""
    with OxigraphEndpoint(GOOD) as endpoint:
        refused = failure(request_to(endpoint, "SELECT * {}", WRONG))
    assert "not welcome: [secret]" in refused.reason


def test_a_late_answer_is_not_waited_for() -> None:
    with OxigraphEndpoint(delay=30.0) as endpoint:
        limits = replace(LIMITS, seconds=1.0)
        assert failure(request_to(endpoint, "SELECT * {}", limits=limits)).kind == "deadline_passed"


def test_a_delayed_answer_is_taken() -> None:
    with OxigraphEndpoint(delay=0.3) as endpoint:
        _, usage = fetch_solutions(request_to(endpoint, "SELECT * {}"))
        assert usage.seconds >= 0.3
        assert endpoint.queries == 1


BLOCK = Block(
    "<http://e/remote>",
    "followers",
    "?user <http://e/followers> ?count . OPTIONAL { ?user <http://e/name> ?name }",
    ("user", "count", "name"),
    frozenset({"user", "count"}),
    ("user",),
)


def test_fifty_keys_are_answered_in_one_request(
    fuseki: Fuseki, capsys: pytest.CaptureFixture[str], record_property: Callable[..., None]
) -> None:
    """Prints what the child process adds to a plain request; 1.5 s is the aim."""
    users = [f"<http://example.org/users/{number}>" for number in range(400)]
    rows = " ".join(
        f'{user} <http://e/followers> {10_000 + number} ; <http://e/name> "user {number}"@en .'
        for number, user in enumerate(users)
    )
    fuseki.update(f"INSERT DATA {{ {rows} }}")
    asked = users[::8]
    assert len(asked) == 50
    request = request_to(fuseki, question(BLOCK, [(user,) for user in asked], 50 * 10))
    before = fuseki.queries
    answer = results(request)
    assert fuseki.queries == before + 1
    assert {solution["user"] for solution in answer.solutions} == set(asked)
    assert len(answer.solutions) == 50
    assert {
        "user": "<http://example.org/users/8>",
        "count": '"10008"^^<http://www.w3.org/2001/XMLSchema#integer>',
        "name": '"user 8"@en',
    } in answer.solutions
    plain = median(_seconds(lambda: _here(request)) for _ in range(5))
    isolated = median(_seconds(lambda: results(request)) for _ in range(5))
    figures = {
        "plain_ms": round(1000 * plain),
        "isolated_ms": round(1000 * isolated),
        "child_ms": round(1000 * (isolated - plain)),
    }
    for name, value in figures.items():
        record_property(name, value)
    with capsys.disabled():
        print(f"\n50 keys from Fuseki: {json.dumps(figures)}")


def _here(request: FetchRequest) -> None:
    """The same fetch without a child process."""
    solutions: list[Solution] = []
    answer = fetch(
        request,
        Meter(request.limits.bytes),
        Deadline.after(request.limits.seconds),
        lambda body: read_results(body, request.limits.bindings, solutions.append),
    )
    assert isinstance(answer, Response), answer
    assert len(solutions) == 50


def _seconds(run: Callable[[], object]) -> float:
    began = time.monotonic()
    run()
    return time.monotonic() - began


_XSD = "http://www.w3.org/2001/XMLSchema#"
_TIME = "2026-01-02T03:04:05Z"
CONDITIONS = (
    *(f"?o {sign} {n}" for sign in ("=", "<", "<=", ">", ">=") for n in ("1", "1.0", "1.5e0")),
    *(f"?o {sign} <http://e/b>" for sign in ("=", "!=")),
    "?o = '1'",
    "?o = true",
    "?o IN (1, 'a', <http://e/b>, true)",
    "?o NOT IN (<http://e/b>, <http://e/n>)",
    *(f"?o {sign} '{_TIME}'^^<{_XSD}dateTime>" for sign in ("=", "<", "<=", ">", ">=")),
)
VALUES = (
    *(f'"{number}"^^<{_XSD}integer>' for number in (0, 1, "01", 2, "x")),
    *(f'"{number}"^^<{_XSD}decimal>' for number in ("1.0", "1.5", "2.50")),
    *(f'"{number}"^^<{_XSD}double>' for number in ("1", "1.5E0", "INF", "NaN")),
    *(f'"{number}"^^<{_XSD}float>' for number in ("1", "1.5")),
    *(f'"{number}"^^<{_XSD}byte>' for number in (1, 2)),
    *(f'"{word}"^^<{_XSD}boolean>' for word in ("true", "1", "false")),
    *(f'"{time}"^^<{_XSD}dateTime>' for time in (_TIME, "2026-01-02T04:04:05+01:00")),
    *(f'"{time}"^^<{_XSD}dateTime>' for time in ("2025-01-02T03:04:05", "2027-01-01T00:00:00.5Z")),
    f'"2026-01-02"^^<{_XSD}date>',
    *('"1"', '"a"', '"1"@en', '"x"^^<http://e/type>', "<http://e/b>", "<http://e/c>"),
)


def test_a_filter_given_to_a_remote_leaves_all_that_pass_it_here(endpoint: Endpoint) -> None:
    """A server may write some values in another way: it is compared with what it sends."""
    endpoint.update(f"INSERT DATA {{ <http://e/v> <http://e/value> {', '.join(VALUES)} }}")
    block = "<http://e/v> <http://e/value> ?o"
    given, conditions = [], []
    for condition in CONDITIONS:
        text = f"SELECT * {{ SERVICE <http://e/r> {{ {block} }} FILTER({condition}) }}"
        query = translate(text, push_filters=True)
        assert query.asked[0].pushing.pushed, condition
        given.append(query.asked[0].service.block)
        assert isinstance(query.form.pattern, Project)
        assert isinstance(query.form.pattern.pattern, Filter)
        conditions.append(compiled(query.form.pattern.pattern.condition, ("o",)))
    numbered = (f"{{ {block} BIND({i} AS ?number) }}" for i, block in enumerate([block, *given]))
    sent: list[set[str]] = [set() for _ in range(len(given) + 1)]
    answer = results(request_to(endpoint, f"SELECT * {{ {' UNION '.join(numbered)} }}"))
    for solution in answer.solutions:
        sent[int(solution["number"].split('"')[1])].add(solution["o"])
    everything, *after_filter = sent
    for condition, holds, passed in zip(CONDITIONS, conditions, after_filter, strict=True):
        passing = {term for term in everything if holds(row_of([term])) == TRUE}
        assert passing, condition
        assert passing <= passed, condition


@pytest.mark.usefixtures("slow")
def test_fuseki_is_gone_after_its_block(tmp_path: Path) -> None:
    with running_fuseki(tmp_path) as fuseki:
        request = request_to(fuseki, "SELECT * {}")
        assert len(results(request).solutions) == 1
    assert failure(request).kind == "not_connected"
