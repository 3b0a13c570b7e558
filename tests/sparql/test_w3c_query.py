"""The W3C SPARQL 1.1 tests: translated, and evaluated by the book."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.sparql.algebra.queries import Select
from jobs.sparql.frontend.errors import QueryError, UnsupportedQuery
from jobs.sparql.frontend.translate import translate
from tests.support.oracles.reference import answers
from tests.support.oracles.results import as_csv, read_csv, read_result, same
from tests.support.w3c import Case, read_cases

EXCEPTIONS = {
    "functions/now01": "NOW() is refused",
    "functions/rand01": "RAND() is refused",
    "functions/struuid01": "STRUUID() is refused",
    "functions/uuid01": "UUID() is refused",
    "functions/uuid02": "UUID() is refused",
    "syntax-query/test_4": "it calls a function of no name that SPARQL has: refused",
}
"""The tests that Weir decides otherwise, each with its reason."""

_KINDS = {"PositiveSyntaxTest11": 63, "NegativeSyntaxTest11": 40, "QueryEvaluationTest": 232} | {
    "CSVResultFormatTest": 3
}


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[Case]:
    """All tests of the suite."""
    return read_cases(shared / "data" / "w3c" / "sparql11")


def test_the_suite_is_whole(cases: list[Case]) -> None:
    assert {kind: sum(case.kind == kind for case in cases) for kind in _KINDS} == _KINDS
    assert EXCEPTIONS.keys() <= {case.name for case in cases}


def test_a_query_is_accepted_if_it_is_one(cases: list[Case]) -> None:
    wrong = []
    for case in cases:
        error = _error(case)
        is_bad = case.kind == "NegativeSyntaxTest11"
        if case.name not in EXCEPTIONS and (error is not None) != is_bad:
            wrong.append((case.name, error))
    assert not wrong


def test_an_exception_is_refused_and_no_syntax_error(cases: list[Case]) -> None:
    for case in cases:
        if case.name in EXCEPTIONS:
            assert isinstance(_error(case), UnsupportedQuery), case.name


def test_an_error_has_a_place_in_the_text(cases: list[Case]) -> None:
    for case in cases:
        error = _error(case)
        if error is not None:
            lines = case.text.split("\n")
            assert error.where == f"{case.query.name}:{error.line}:{error.column}"
            assert 1 <= error.column <= len(lines[error.line - 1]) + 1, error


def test_a_query_has_the_expected_answers(cases: list[Case]) -> None:
    wrong = []
    for case in cases:
        if case.result is None or case.name in EXCEPTIONS:
            continue
        query = translate(case.text, "default", case.query.name)
        found = answers(query, case.quads)
        if case.result.suffix == ".csv":
            assert isinstance(query.form, Select)
            as_expected = as_csv(found, query.form.variables) == read_csv(case.result)
        else:
            as_expected = same(found, read_result(case.result))
        if not as_expected:
            wrong.append(case.name)
    assert not wrong


def test_results_are_compared_up_to_the_labels_of_blank_nodes() -> None:
    chain = [{"x": "_:a", "y": "_:b"}, {"x": "_:b", "y": "_:c"}]
    assert same(chain, [{"x": "_:1", "y": "_:3"}, {"x": "_:2", "y": "_:1"}])
    assert not same(chain, [{"x": "_:1", "y": "_:3"}, {"x": "_:2", "y": "_:2"}])
    assert not same(chain, [{"x": "_:1", "y": "_:3"}, {"x": "_:2", "y": "_:4"}])
    assert not same(chain, [*chain, chain[0]])
    assert not same([{"x": "_:a"}], [{"x": "<u:a>"}])


def _error(case: Case) -> QueryError | None:
    try:
        translate(case.text, "default", case.query.name)
    except QueryError as error:
        return error
    return None
