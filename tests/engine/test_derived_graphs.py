"""The law of derived graphs: a query over one is the same query over the graph and CONSTRUCT's
answer, at each epoch.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pytest
from pyspark.sql import SparkSession

from tests.support.derived_memory import DerivedMemory, SparkDerivedMemory, reader_plan
from tests.support.generators.derived_cases import DerivedCase, derived_case, expected
from tests.support.harness import WHOLE, run_in_cuts, state
from tests.support.laws import Seeds
from tests.support.oracles.answers import comparable
from weir.plan.lower import lower
from weir.plan.plan import Plan
from weir.sparql.frontend.translate import translate


def _plans(case: DerivedCase) -> tuple[Plan, Plan]:
    giver = translate(case.construct, case.default_graph)  # type: ignore[arg-type]
    return reader_plan(case.query, case.default_graph, reads=case.reads), lower(giver)


@pytest.mark.law("derived graphs")
def test_the_answer_is_that_over_the_graph_and_what_is_constructed(seeds: Seeds) -> None:
    seeds.check(lambda seed: _broken(derived_case(seed)))


def _broken(case: DerivedCase) -> Iterator[str]:
    plan, giver = _plans(case)
    last, rng = len(case.history), random.Random(case.seed)
    log = run_in_cuts(DerivedMemory(plan, case.history, giver), last, ()).log()
    cuts = sorted(rng.sample(range(1, last + 1), min(last, 3)))
    if run_in_cuts(DerivedMemory(plan, case.history, giver), last, cuts).log() != log:
        yield f"{case}: other changes by runs up to {cuts}"
    whole = DerivedMemory(plan, case.history, giver)
    if run_in_cuts(whole, last, cuts[:1], thresholds=WHOLE).log() != log:
        yield f"{case}: other changes where the whole graph is read"
    for epoch, answer in enumerate(expected(case, [name for name, _ in plan.columns]), 1):
        known, computed = comparable(Counter(answer)), comparable(state(log, epoch))
        if computed != known:
            yield f"{case}: epoch {epoch}: {computed - known} too many, {known - computed} missing"
            return


@pytest.mark.law("derived graphs on Spark")
def test_spark_stores_the_rows_that_duckdb_stores_over_a_derived_graph(
    quick_spark: SparkSession, seeds: Seeds
) -> None:
    for seed in seeds:
        case = derived_case(seed)
        plan, giver = _plans(case)
        last = len(case.history)
        cut = random.Random(seed).randint(1, last)
        by_duckdb = run_in_cuts(DerivedMemory(plan, case.history, giver), last, (cut,))
        on_spark = SparkDerivedMemory(quick_spark, plan, case.history, giver)
        assert run_in_cuts(on_spark, last, (cut,)).stored() == by_duckdb.stored()


def test_answers_depend_on_what_is_constructed() -> None:
    """A generator whose readers see nothing of the derived graph would make the law pass."""
    depend = changed = 0
    for seed in range(24):
        case = derived_case(seed)
        names = [name for name, _ in _plans(case)[0].columns]
        answers = [*expected(case, names)]
        nothing = DerivedCase(
            seed, "CONSTRUCT {} WHERE {}", case.query, case.default_graph, case.history, case.reads
        )
        depend += answers != [*expected(nothing, names)]
        changed += any(one != other for one, other in pairwise(answers))
    assert depend > 8
    assert changed > 12
