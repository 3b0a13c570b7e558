"""The law of shapes under entailment: the report is that over what follows from the data."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.support.generators.entailed_cases import entailed_dataset
from tests.support.harness import Memory, run_in_cuts, state
from tests.support.laws import Seeds
from tests.support.oracles import reference
from tests.support.oracles.answers import comparable
from tests.support.shacl.cases import shapes_case
from tests.support.shacl.derived import with_schemas
from weir.plan.lower import lower
from weir.shacl.compile import REPORT_COLUMNS, compile_shapes
from weir.shacl.read import read_shapes
from weir.sparql.algebra.queries import Dataset
from weir.sparql.algebra.rdfs import entailed


@pytest.mark.law("shapes over what follows")
def test_the_report_is_that_over_what_follows_at_every_epoch(seeds: Seeds) -> None:
    seeds.check(_broken)


def _broken(seed: int) -> Iterator[str]:
    rng = random.Random(f"entailed shapes {seed}")
    case = shapes_case(seed)
    case = with_schemas(case, rng)
    query = compile_shapes(read_shapes(case.shapes, "shapes.ttl"), Dataset("default"))
    plan = lower(entailed(query), allow_product=True)
    last = len(case.history)
    memory = Memory(plan, case.history, optimized=False)
    log = run_in_cuts(memory, last, [rng.randint(1, last)]).log()
    for epoch, data in enumerate(case.states(), 1):
        expected = reference.rows(query, entailed_dataset(data, ("",)), REPORT_COLUMNS)
        report = state(log, epoch)
        if comparable(report) != comparable(expected):
            extra, missing = report - expected, expected - report
            yield f"{case.shapes}\n{sorted(data)}\n{epoch}: {extra} too many, {missing} missing"
