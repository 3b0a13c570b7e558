"""The oracles of the random queries, compared with each other.

pyoxigraph and rdflib share no code. Where they differ, the reference evaluator, which follows the
specification's equations, decides which is right: it must agree with one of them.
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
def test_the_reference_evaluator_agrees_with_one_of_two_engines(seeds: Seeds) -> None:
    alone = []
    agreed = Counter[str]()
    compared = 0
    for seed in seeds:
        case = whole_case(seed)
        if case.departure and any(word in case.departure for word in _CHOICES):
            continue
        query = translate(case.query, case.default_graph)  # type: ignore[arg-type]
        columns = [name for name, _ in lower(query, allow_product=True).columns]
        *_, quads = states(case.history)
        expected = comparable(reference.rows(query, quads, columns))
        compared += 1
        oxigraph = Oxigraph(case.default_graph)
        for change in case.history:
            oxigraph.apply(change)
        answers = {
            "pyoxigraph": comparable(oxigraph.answer(case.query, columns)),
            "rdflib": _by_rdflib(case.query, case.default_graph, quads, columns),
        }
        agreeing = [name for name, answer in answers.items() if answer == expected]
        agreed.update(agreeing)
        is_known = case.departure is not None and rdf_lib.departures(case.query)
        if not agreeing and not is_known:
            alone.append(f"seed {seed}: {case.query}: {expected}, but {answers}")
    assert alone == []
    assert compared < 100 or all(agreed[name] > 0.6 * compared for name in answers), agreed


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
