"""The W3C suites of Turtle, N-Triples, TriG, N-Quads, RDF/XML and JSON-LD, whole."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.rdf.conftest import Parsed
from tests.support.rdf_suites import SuiteCase, isomorphic, quads_of, suite_cases
from weir.rdf.limits import ParseLimits
from weir.rdf.records import Format, ParseRequest
from weir.rdf.terms import POSITIONS, check_term

_DIRECTION = "a base direction is ignored, as is the default"
_JSON_LD_10 = "there is no processing by the rules of JSON-LD 1.0, which the test asks for"
EXCEPTIONS = {
    "json-ld tc029": _JSON_LD_10,
    "json-ld tdi09": _DIRECTION,
    "json-ld tdi10": _DIRECTION,
    "json-ld tdi11": _DIRECTION,
    "json-ld tdi12": _DIRECTION,
    "json-ld te075": "statements whose predicate is a blank node are no RDF",
    "json-ld te077": "there is no option for a context that the document does not name",
    "json-ld tep02": _JSON_LD_10,
    "json-ld ter21": _JSON_LD_10,
    "json-ld ter42": _JSON_LD_10,
    "json-ld ttn01": _JSON_LD_10,
}
"""The tests that are not passed, each with the reason."""
_TESTS: dict[Format, int] = {
    "turtle": 313,
    "n-triples": 70,
    "trig": 356,
    "n-quads": 87,
    "rdf-xml": 166,
    "json-ld": 455,
}


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[SuiteCase]:
    """All tests of the suites."""
    return [*suite_cases(shared / "data" / "w3c")]


def test_the_suites_have_all_their_tests(cases: list[SuiteCase]) -> None:
    assert Counter(case.format for case in cases) == _TESTS
    assert EXCEPTIONS.keys() <= {case.name for case in cases}
    assert len(EXCEPTIONS) <= 12


@pytest.mark.usefixtures("slow")
@pytest.mark.filterwarnings("ignore:Dataset:DeprecationWarning")
@pytest.mark.parametrize("syntax", _TESTS)
def test_all_tests_of_a_suite_are_passed_but_the_exceptions(
    cases: list[SuiteCase], syntax: Format
) -> None:
    wrong = {
        case.name: fault
        for case in cases
        if case.format == syntax and (fault := _fault(case)) is not None
    }
    assert {name: fault for name, fault in wrong.items() if name not in EXCEPTIONS} == {}
    assert {name for name in EXCEPTIONS if name.startswith(f"{syntax} ")} == wrong.keys()


def _fault(case: SuiteCase) -> str | None:
    """Why a test is not passed."""
    request = ParseRequest(
        str(case.file), case.format, "snapshot", "s", base=case.base, contexts=case.contexts
    )
    parsed = Parsed(request, ParseLimits())
    is_read = parsed.usable and not (parsed.rejections and case.format in ("n-triples", "n-quads"))
    if is_read != case.is_positive:
        return str([rejection.reason for rejection in parsed.rejections] or "it is read")
    if not is_read or case.expected is None:
        return None
    if "produceGeneralizedRdf" in case.options:
        return "rdflib does not read what is expected"
    faults = [
        check_term(t, p) for quad in parsed.quads for p, t in zip(POSITIONS, quad, strict=True)
    ]
    if any(faults):
        return f"no terms: {[fault for fault in faults if fault]}"
    ours = "".join(f"{s} {p} {o} {g} .\n" for g, s, p, o in parsed.quads)
    same = isomorphic(quads_of(ours), quads_of(case.expected.read_text()))
    return None if same else f"other statements: {ours}"
