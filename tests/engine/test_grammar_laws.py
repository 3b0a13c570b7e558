"""The laws of the engine over the whole grammar of SPARQL 1.1, on DuckDB.

A pair is a query and one of its histories; the histories of a query are maintained one after
another, as one long history. The oracle is pyoxigraph, or the reference evaluator where pyoxigraph
departs from the specification (`grammar_cases`).
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from jobs.plan.lower import lower
from jobs.plan.operators import PlanNode
from jobs.plan.structure import walk
from jobs.sparql.frontend.translate import translate
from tests.support.generators.grammar_cases import HISTORIES, correlated_case, whole_case
from tests.support.grammar_laws import broken_laws
from tests.support.oracles.oxigraph import Oxigraph
from tests.support.regressions import read, regression_files

QUERIES = int(os.environ.get("WEIR_WHOLE_LAW_PAIRS", "3000")) // HISTORIES
CORRELATED = int(os.environ.get("WEIR_CORRELATED_LAWS", "60"))
PARTS = 20
"""Into which the queries are split, so that pytest's workers share them."""


@pytest.mark.parametrize("file", regression_files(), ids=lambda file: file.stem)
def test_a_regression_keeps_the_laws(file: Path) -> None:
    assert broken_laws(read(file)) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_random_queries_of_the_whole_grammar_keep_the_laws(part: int) -> None:
    """Snapshot, split invariance, replay, neighbourhood, multiplicities, and registration at any
    epoch.
    """
    seeds = range(part, QUERIES, PARTS)
    broken = [line for seed in seeds for line in broken_laws(whole_case(seed))]
    assert not broken, (
        f"{len(broken)} broken laws; add them by `python -m tests.support.regressions whole`:\n"
        + "\n".join(broken[:20])
    )


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_random_parts_of_exists_that_depend_on_the_outside_keep_the_laws(part: int) -> None:
    seeds = range(part, CORRELATED, PARTS)
    broken = [line for seed in seeds for line in broken_laws(correlated_case(seed))]
    assert not broken, f"{len(broken)} broken laws:\n" + "\n".join(broken[:20])


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
