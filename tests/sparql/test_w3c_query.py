"""The W3C SPARQL 1.1 tests: translated, and evaluated by the reference evaluator."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.support.oracles.reference import answers
from tests.support.oracles.results import as_csv, read_csv, read_result, same
from tests.support.w3c import Case, read_cases
from weir.sparql.algebra.queries import Query, Select
from weir.sparql.frontend.errors import QueryError, UnsupportedQuery
from weir.sparql.frontend.translate import translate

EXCEPTIONS = {
    "functions/now01": "NOW() is refused",
    "functions/rand01": "RAND() is refused",
    "functions/struuid01": "STRUUID() is refused",
    "functions/uuid01": "UUID() is refused",
    "functions/uuid02": "UUID() is refused",
    "syntax-query/test_4": "it calls a function that SPARQL does not have: refused",
}
"""The tests from which Weir departs, each with the reason."""

_KINDS = {"PositiveSyntaxTest11": 63, "NegativeSyntaxTest11": 40, "QueryEvaluationTest": 232} | {
    "CSVResultFormatTest": 3
}


_Translated = list[tuple[Case, Query | QueryError]]
"""Each test with its translation, or the error of it."""


@pytest.fixture(scope="module")
def translated(shared: Path) -> _Translated:
    """All tests of the suite."""
    cases = read_cases(shared / "data" / "w3c" / "sparql11")
    return [(case, _translation(case)) for case in cases]


def test_the_w3c_suite_has_all_its_tests_of_each_kind(translated: _Translated) -> None:
    kinds = Counter(case.kind for case, _ in translated)
    assert {kind: kinds[kind] for kind in _KINDS} == _KINDS
    assert EXCEPTIONS.keys() <= {case.name for case, _ in translated}


def test_exactly_the_valid_queries_are_accepted(translated: _Translated) -> None:
    wrong = []
    for case, outcome in translated:
        is_valid = case.kind != "NegativeSyntaxTest11"
        if case.name not in EXCEPTIONS and isinstance(outcome, Query) != is_valid:
            wrong.append((case.name, outcome))
    assert not wrong


def test_an_exception_is_a_refusal_and_not_a_syntax_error(translated: _Translated) -> None:
    for case, outcome in translated:
        if case.name in EXCEPTIONS:
            assert isinstance(outcome, UnsupportedQuery), case.name


def test_an_error_has_a_place_in_the_text(translated: _Translated) -> None:
    for case, outcome in translated:
        if isinstance(outcome, QueryError):
            lines = case.text.split("\n")
            assert outcome.where == f"{case.query.name}:{outcome.line}:{outcome.column}"
            assert 1 <= outcome.column <= len(lines[outcome.line - 1]) + 1, outcome


def test_a_query_has_the_expected_answers(translated: _Translated) -> None:
    wrong = []
    for case, query in translated:
        if case.result is None or case.name in EXCEPTIONS:
            continue
        assert isinstance(query, Query), case.name
        answer = answers(query, case.quads)
        if case.result.suffix == ".csv":
            assert isinstance(query.form, Select)
            as_expected = as_csv(answer, query.form.variables) == read_csv(case.result)
        else:
            as_expected = same(answer, read_result(case.result))
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


def _translation(case: Case) -> Query | QueryError:
    try:
        return translate(case.text, "default", case.query.name)
    except QueryError as error:
        return error
