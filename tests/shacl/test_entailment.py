"""The law of shapes under entailment: the report is that over what follows from the data."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.support.generators.entailed_cases import entailed_dataset
from tests.support.harness import Memory, run_in_cuts, state
from tests.support.laws import Seeds
from tests.support.oracles import reference
from tests.support.oracles.answers import comparable
from tests.support.oracles.rdfs_closure import DOMAIN, RANGE, SUBCLASS, SUBPROPERTY
from tests.support.shacl.cases import Change, ShapesCase, shapes_case
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
    case = replace(case, history=(*_with_schemas(case, rng),))
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


def _with_schemas(case: ShapesCase, rng: random.Random) -> Iterator[Change]:
    """The history with statements of a schema that come and go."""

    def some(names: str) -> str:
        return f"<http://x/{rng.choice(names)}>"

    present: frozenset[tuple[str, str, str, str]] = frozenset()
    for data in case.states():
        statements = (
            (some("pqr"), SUBPROPERTY, some("pqrs")),
            (some("pqr"), rng.choice((DOMAIN, RANGE)), some("ABC")),
            (some("ABC"), SUBCLASS, some("ABC")),
        )
        state_ = data | {("", *rng.choice(statements)) for _ in range(rng.randint(0, 4))}
        yield present - state_, state_ - present
        present = state_
