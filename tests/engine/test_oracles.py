"""The oracles of the random queries, compared with each other.

pyoxigraph and rdflib share no code. Where they differ, the reference evaluator, which follows the
specification's equations, decides which is right.
"""

from __future__ import annotations

import warnings
from collections import Counter

import pytest

from tests.support.generators.grammar_cases import whole_case
from tests.support.laws import Seeds
from tests.support.oracles import rdf_lib, reference
from tests.support.oracles.answers import Row, comparable
from tests.support.oracles.histories import states
from tests.support.oracles.oxigraph import Oxigraph
from weir.plan.lower import lower
from weir.sparql.frontend.translate import translate

_CHOICES = ("choice", "equal solutions")


@pytest.mark.law("oracles")
def test_the_oracles_agree_or_the_specification_decides_which_is_wrong(seeds: Seeds) -> None:
    unexplained = []
    agreed = compared = 0
    for seed in seeds:
        case = whole_case(seed)
        if case.departure and any(word in case.departure for word in _CHOICES):
            continue
        query = translate(case.query, case.default_graph)  # type: ignore[arg-type]
        columns = [name for name, _ in lower(query, allow_product=True).columns]
        *_, quads = states(case.history)
        expected = comparable(reference.rows(query, quads, columns))
        if case.departure is None:
            oxigraph = Oxigraph(case.default_graph)
            for change in case.history:
                oxigraph.apply(change)
            if comparable(oxigraph.answer(case.query, columns)) != expected:
                unexplained.append(f"seed {seed}: pyoxigraph: {case.query}")
        compared += 1
        found = _by_rdflib(case.query, case.default_graph, quads, columns)
        if found == expected:
            agreed += 1
        elif not rdf_lib.departures(case.query):
            unexplained.append(f"seed {seed}: rdflib: {case.query}: {found}, not {expected}")
    assert unexplained == []
    assert compared < 100 or agreed > 0.8 * compared, f"{agreed} of {compared}"


def _by_rdflib(
    query: str, default_graph: str, quads: frozenset[tuple[str, str, str, str]], columns: list[str]
) -> Counter[Row] | str:
    """Its answer, or what it raised."""
    with warnings.catch_warnings():
        # rdflib warns about its own use of deprecated functions.
        warnings.simplefilter("ignore")
        try:
            return comparable(rdf_lib.answer(query, default_graph, quads, columns))
        except Exception as error:  # noqa: BLE001 - it raises errors of any class
            return f"{type(error).__name__}: {error}"
