"""Results are read as pyoxigraph reads them, however they arrive, and nothing else is read."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Iterator
from typing import Any

import pyoxigraph
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from weir.remotes.http.client import Body
from weir.remotes.http.json_pull import JsonText
from weir.remotes.http.outcomes import FetchError
from weir.remotes.http.sparql_results import LONGEST_SOLUTION, SparqlResults, read_results

TYPE = "application/sparql-results+json"


def cut(content: bytes, seed: int) -> Iterator[bytes]:
    """The content in pieces of random sizes, empty ones among them."""
    choose = random.Random(seed)
    while content:
        size = choose.choice([0, 1, 2, 3, 7, 50, len(content)])
        yield content[:size]
        content = content[size:]


def read(content: bytes, seed: int = 0, most: int = 10_000, kind: str = TYPE) -> SparqlResults:
    solutions: list[dict[str, str]] = []
    variables = read_results(Body(kind, cut(content, seed)), most, solutions.append)
    return SparqlResults(variables, tuple(solutions))


def expected(content: bytes) -> SparqlResults:
    parsed = pyoxigraph.parse_query_results(content, format=pyoxigraph.QueryResultsFormat.JSON)
    assert isinstance(parsed, pyoxigraph.QuerySolutions)
    names = tuple(variable.value for variable in parsed.variables)
    solutions = tuple(
        {name: str(solution[name]) for name in names if solution[name] is not None}
        for solution in parsed
    )
    return SparqlResults(names, solutions)


IRIS = st.one_of(
    st.sampled_from(["http://example.org/a", "urn:x:y", "http://e/é?q=ü#f", "mailto:a@b", "x:"]),
    st.text("abcXYZ019-._~%20/:é漢😀", min_size=1).map(lambda text: f"http://e/{text}"),
    st.text(max_size=5).map(lambda text: f"http://e/{text}"),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ['"', "\\", "\n\r\t\b\f", "\u0000\u001f\u007f", "\ufffe\uffff", "😀", "a" * 3000]
)
TERMS = st.one_of(
    st.builds(lambda value: {"type": "uri", "value": value}, IRIS),
    st.builds(lambda value: {"type": "literal", "value": value}, TEXTS),
    st.builds(
        lambda value, tag: {"type": "literal", "value": value, "xml:lang": tag},
        TEXTS,
        st.sampled_from(["en", "EN-us", "de-Latn-CH-1996", "x-private"]),
    ),
    st.builds(
        lambda value, datatype, kind: {"type": kind, "value": value, "datatype": datatype},
        TEXTS,
        IRIS | st.just("http://www.w3.org/2001/XMLSchema#string"),
        st.sampled_from(["literal", "typed-literal"]),
    ),
    st.builds(
        lambda value: {"type": "bnode", "value": value},
        st.from_regex("[A-Za-z0-9][A-Za-z0-9.]{0,8}[a-z]", fullmatch=True),
    ),
)
NAMES = st.sampled_from(["a", "b", "c", "long_name_1", "é"])


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """Results as an endpoint may write them."""
    names = draw(st.lists(NAMES, unique=True, max_size=4))
    one = st.dictionaries(st.sampled_from(names), TERMS) if names else st.just({})
    results: dict[str, Any] = {"bindings": draw(st.lists(one, max_size=6))}
    if draw(st.booleans()):
        results = {"distinct": False, "ordered": True, **results}  # Virtuoso
    parts: list[tuple[str, Any]] = [
        ("head", {"vars": names, **draw(st.sampled_from([{}, {"link": []}]))}),
        ("results", results),
    ]
    text = json.dumps(
        dict(draw(st.permutations(parts))),
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, 1, "\t"])),
    )
    return text.encode()


@given(documents(), st.integers(0, 2**32))
def test_results_are_those_that_pyoxigraph_reads_in_any_pieces(content: bytes, seed: int) -> None:
    try:
        oracle = expected(content)
    except SyntaxError:  # an IRI that is none
        with pytest.raises(FetchError) as error:
            read(content, seed)
        assert error.value.kind == "not_results"
    else:
        assert read(content, seed) == oracle


@given(documents(), st.data())
def test_a_damaged_document_is_refused_or_read_as_pyoxigraph_reads_it(
    content: bytes, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(content) - 1))
    damage = data.draw(st.sampled_from([b"", b"}", b"]", b",", b'"', b"\\", b"0", b"x", b"\xff"]))
    damaged = content[:at] + damage + content[at + data.draw(st.integers(0, 3)) :]
    with contextlib.suppress(FetchError):
        results = read(damaged)
        try:
            oracle = expected(damaged)
        except SyntaxError as error:
            # In JSON any text may be the label of a blank node; pyoxigraph takes those of Turtle.
            assume("Invalid bnode value" not in str(error))
            raise
        assert results == oracle


@given(documents(), st.data())
def test_a_document_that_ends_early_is_refused(content: bytes, data: st.DataObject) -> None:
    with pytest.raises(FetchError):
        read(content[: data.draw(st.integers(0, len(content) - 1))])


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | TEXTS,
        lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    ),
    st.integers(0, 2**32),
)
@example(12345678, 1)
@example(1e16, 31)
def test_a_value_is_what_json_reads_however_it_is_cut(value: Any, seed: int) -> None:
    text = JsonText(cut(json.dumps(value).encode(), seed))
    assert text.value(1 << 20) == value
    text.end()


def one(term: str) -> bytes:
    return f'{{"head":{{"vars":["a"]}},"results":{{"bindings":[{{"a":{term}}}]}}}}'.encode()


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        ('{"type":"uri","value":"relative"}', "not an absolute IRI"),
        ('{"type":"uri","value":"http://a> <http://b"}', "not an absolute IRI"),
        ('{"type":"uri","value":"http://a\\\\u0041"}', "not an absolute IRI"),
        ('{"type":"literal","value":"\\ud83d"}', "surrogate"),
        ('{"type":"literal","value":"x","xml:lang":""}', "language tag"),
        ('{"type":"literal","value":"x","xml:lang":"en","datatype":"http://a"}', "a datatype"),
        ('{"type":"literal","value":"x","xml:lang":"en","its:dir":"ltr"}', "members beside"),
        ('{"type":"literal","value":"x","datatype":"http://a> <b"}', "not an absolute IRI"),
        ('{"type":"literal","value":"x","datatype":5}', "not text"),
        ('{"type":"literal","value":5}', "not a term"),
        ('{"type":"uri","value":"http://a","value":"http://b"}', "twice"),
        ('{"type":"uri","value":"http://a","xml:lang":"en"}', "not a term"),
        ('{"type":"triple","value":{}}', "RDF 1.2"),
        ("null", "not a term"),
        ("NaN", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5000, "4300"),
    ],
)
def test_what_is_no_term_is_refused_with_its_reason(term: str, reason: str) -> None:
    with pytest.raises(FetchError, match=reason) as error:
        read(one(term))
    assert error.value.kind == "not_results"


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"", "ends too early"),
        (b"[]", "expected"),
        (b"{}", "missing"),
        (b'{"head":{}}', "variables"),
        (b'{"head":{"vars":[]}}', "missing"),
        (b'{"head":{},"boolean":true}', "variables"),
        (b'{"head":{"vars":[]},"boolean":true}', "ASK"),
        (b'{"head":{"vars":["a","a"]},"results":{"bindings":[]}}', "twice"),
        (b'{"head":{"vars":["a b"]},"results":{"bindings":[]}}', "variable"),
        (b'{"head":{"vars":[]},"results":{}}', "without bindings"),
        (b'{"head":{"vars":[]},"results":{"bindings":[]},"results":{"bindings":[]}}', "twice"),
        (b'{"head":{"vars":[]},"results":{"bindings":[]}} x', "after the end"),
        (b'{"head":{"vars":[]},"results":{"bindings":[[]]}}', "not an object"),
        (
            b'{"head":{"vars":["a"]},"results":{"bindings":[{"b":{"type":"bnode","value":"b"}}]}}',
            "head",
        ),
        (b"\xff\xfe{}", "not UTF-8"),
    ],
)
def test_what_is_no_result_is_refused_with_its_reason(document: bytes, reason: str) -> None:
    with pytest.raises(FetchError, match=reason) as error:
        read(document)
    assert error.value.kind == "not_results"


def counted(solutions: int, total: object) -> bytes:
    """An answer that says how many solutions there are, as QLever does."""
    bindings = [{"a": {"type": "literal", "value": "1"}}] * solutions
    meta = {"query-time-ms": 1, "result-size-total": total}
    answer = {"head": {"vars": ["a"]}, "meta": meta, "results": {"bindings": bindings}}
    return json.dumps(answer).encode()


def test_an_answer_with_fewer_solutions_than_it_says_is_a_part() -> None:
    with pytest.raises(FetchError, match="2 of 3 solutions") as error:
        read(counted(2, 3))
    assert error.value.kind == "incomplete"


def test_an_answer_that_the_limit_of_its_query_cut_off_may_count_what_is_beyond() -> None:
    assert len(read(counted(2, 3), most=2).solutions) == 2


@pytest.mark.parametrize("total", [2, None, "3", [3]])
def test_an_answer_with_as_many_solutions_as_it_says_is_whole(total: object) -> None:
    assert len(read(counted(2, total)).solutions) == 2


@pytest.mark.parametrize(
    "kind", ["", "text/html", "application/sparql-results+xml", f"{TYPE}; charset=latin-1"]
)
def test_another_type_of_answer_is_refused_and_quoted(kind: str) -> None:
    with pytest.raises(FetchError, match="Virtuoso 37000 Error") as error:
        read(b"Virtuoso 37000 Error\x1b[31m", kind=kind)
    assert error.value.kind == "not_results"
    assert "\x1b" not in error.value.reason


def test_labels_that_are_none_of_n_triples_stay_different() -> None:
    labels = ["nodeID://b1", "x-6e", "n", "b 1", "é.", ""]
    bindings = [{"a": {"type": "bnode", "value": label}} for label in labels]
    answer = read(json.dumps({"head": {"vars": ["a"]}, "results": {"bindings": bindings}}).encode())
    terms = [solution["a"] for solution in answer.solutions]
    assert len(set(terms)) == len(labels)
    assert terms[2] == "_:n"
    for term in terms:
        pyoxigraph.BlankNode(term[2:])


def test_solutions_beyond_the_limit_end_the_reading() -> None:
    document = json.dumps({"head": {"vars": []}, "results": {"bindings": [{}] * 4}}).encode()
    assert len(read(document, most=4).solutions) == 4
    with pytest.raises(FetchError) as error:
        read(document, most=3)
    assert error.value.kind == "too_many_bindings"


def test_a_solution_that_is_too_long_is_refused() -> None:
    term = json.dumps({"type": "literal", "value": "x" * LONGEST_SOLUTION})
    with pytest.raises(FetchError, match="more than 2,097,152 characters"):
        read(one(term))
