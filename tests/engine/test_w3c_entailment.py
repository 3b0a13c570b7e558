"""The W3C tests of entailment regimes, those of RDF and RDFS: as histories, to the expected result.

They lie beside the other suites, `data/w3c/entailment` of the shared folder, or where
`WEIR_ENTAILMENT_SUITE` says: the folder `sparql/sparql11/entailment` of w3c/rdf-tests.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.engine.test_w3c_histories import history_to
from tests.support.harness import Memory, run_in_cuts, state
from tests.support.oracles.answers import TRUE
from tests.support.oracles.results import Solution, read_result, same
from tests.support.w3c import Case, manifest_cases
from weir.plan.lower import lower
from weir.sparql.algebra.queries import Ask
from weir.sparql.algebra.rdfs import entailed
from weir.sparql.frontend.translate import translate

_ALL = 70
_REFLEXIVE = "a class is a subclass of itself: rdfs10"
DEPARTURES = {
    "paper-sparqldl-Q1-rdfs": _REFLEXIVE,
    "rdf01": "a predicate is an rdf:Property: rdfD2",
    "rdfs05": _REFLEXIVE,
    "rdfs11": "a property is a subproperty of itself: rdfs6",
    "sparqldl-02": _REFLEXIVE,
    "sparqldl-03": _REFLEXIVE,
}
"""The tests that need a rule which is left out, by their names."""
NAMES = (
    *(f"bind0{i}" for i in range(1, 9)),
    *("owlds01", "owlds02", "paper-sparqldl-Q1-rdfs", "paper-sparqldl-Q5", "parent2"),
    *(f"rdf0{i}" for i in range(1, 5)),
    *(f"rdfs{i:02}" for i in range(1, 14)),
    *(f"sparqldl-0{i}" for i in range(1, 10)),
)
"""The tests of the regimes of RDF and RDFS; of the other 31, no regime is one of these."""


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[Case]:
    """The tests of the regimes of RDF and RDFS."""
    folder = Path(os.environ.get("WEIR_ENTAILMENT_SUITE", shared / "data" / "w3c" / "entailment"))
    if not folder.is_dir():
        pytest.skip(f"{folder} does not exist (WEIR_ENTAILMENT_SUITE can name another folder)")
    cases = [*manifest_cases(folder / "manifest.ttl")]
    assert len(cases) == _ALL
    return [case for case in cases if case.regimes & {"RDF", "RDFS"}]


@pytest.mark.usefixtures("slow")
def test_exactly_those_without_a_rule_that_is_left_out_have_the_expected_answer(
    cases: list[Case],
) -> None:
    assert tuple(map(_name, cases)) == NAMES
    departing = {_name(case) for case in cases if not _is_as_expected(case)}
    assert departing == DEPARTURES.keys()


def _name(case: Case) -> str:
    return case.name.rpartition("/")[2]


def _is_as_expected(case: Case) -> bool:
    """Whether the answer at the end of a history to the data is the expected one."""
    query = translate(case.text, "default")
    plan = lower(entailed(query), allow_product=True)
    history = history_to(case.quads, 1)
    last = len(history)
    log = run_in_cuts(Memory(plan, history, optimized=False), last, [last - 1]).log()
    rows = [*state(log, last).elements()]
    names = [name for name, _ in plan.columns]
    assert case.result is not None
    if isinstance(query.form, Ask):
        return (rows == [(TRUE,)]) == bool(read_result(case.result))
    answer: list[Solution] = [
        {name: term for name, term in zip(names, row, strict=True) if term is not None}
        for row in rows
    ]
    return same(answer, read_result(case.result))
