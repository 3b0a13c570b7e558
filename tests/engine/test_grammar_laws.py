"""The laws of the engine over the whole grammar of SPARQL 1.1, on DuckDB.

A pair is a query and one of its histories; the histories of a query are maintained one after
another, as one long history. The oracle is pyoxigraph, or the reference evaluator where pyoxigraph
departs from the specification (`grammar_cases`).
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from tests.support.generators.grammar_cases import correlated_case, whole_case
from tests.support.grammar_laws import broken_laws
from tests.support.laws import Seeds
from tests.support.oracles.oxigraph import Oxigraph
from tests.support.regressions import read, regression_files
from weir.plan.lower import lower
from weir.plan.operators import PlanNode, walk
from weir.sparql.frontend.translate import translate


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("file", regression_files(), ids=lambda file: file.stem)
def test_a_query_that_once_broke_a_law_keeps_the_laws(file: Path) -> None:
    assert broken_laws(read(file)) == []


@pytest.mark.law("whole grammar")
def test_random_queries_of_the_whole_grammar_keep_the_laws(seeds: Seeds) -> None:
    """Snapshot, split invariance, replay, neighbourhood, multiplicities, and registration at any
    epoch. `python -m tests.support.regressions whole` adds what breaks one.
    """
    seeds.check(lambda seed: broken_laws(whole_case(seed)))


@pytest.mark.law("correlated")
def test_random_parts_of_exists_that_depend_on_the_outside_keep_the_laws(seeds: Seeds) -> None:
    seeds.check(lambda seed: broken_laws(correlated_case(seed)))


@pytest.mark.usefixtures("sampled")
def test_the_random_queries_have_every_operator_and_answers_that_change() -> None:
    """A generator that only makes trivial queries would make every law pass."""
    operators: Counter[str] = Counter()
    by_oxigraph = changing = 0
    queries = 200
    for seed in range(queries):
        case = whole_case(seed)
        plan = lower(
            translate(case.query, case.default_graph),  # type: ignore[arg-type]
            allow_product=True,
        )
        operators.update({type(node).__name__ for node in walk(plan.root)})
        by_oxigraph += case.departure is None
        columns = [name for name, _ in plan.columns]
        oxigraph, answers = Oxigraph(case.default_graph), set()
        for change in case.history:
            oxigraph.apply(change)
            answers.add(frozenset(oxigraph.answer(case.query, columns).items()))
        changing += len(answers) > 1
    assert {name: operators[name] for name in _OPERATORS if operators[name] < queries // 20} == {}
    assert changing > 0.8 * queries
    assert by_oxigraph > 0.5 * queries


_OPERATORS = [operator.__name__ for operator in get_args(PlanNode)]
