"""Laws of shapes: at every epoch of a history, the report is that of another validator."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

import pytest

from tests.support.harness import Memory, run_in_cuts, state
from tests.support.laws import Seeds
from tests.support.shacl.cases import as_turtle, shapes_case
from tests.support.shacl.other_validator import OtherValidator
from tests.support.shacl.results import results_of_rows
from weir.engine.operators import union
from weir.plan.lower import lower
from weir.shacl.compile import compile_shapes
from weir.shacl.read import read_shapes
from weir.sparql.algebra.queries import Dataset


@pytest.fixture(scope="module")
def other() -> Iterator[OtherValidator]:
    """pySHACL."""
    with OtherValidator() as validator:
        yield validator


@pytest.mark.law("shapes")
def test_the_report_is_that_of_another_validator_at_every_epoch(
    seeds: Seeds, other: OtherValidator
) -> None:
    seeds.check(partial(_differences, other))


@pytest.mark.law("shapes")
def test_the_parts_of_a_large_report_may_be_relations(
    seeds: Seeds, other: OtherValidator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(union, "_FEW", 0)
    seeds.check(partial(_differences, other))


def _differences(other: OtherValidator, seed: int) -> Iterator[str]:
    case = shapes_case(seed)
    shapes = read_shapes(case.shapes, "shapes.ttl")
    plan = lower(compile_shapes(shapes, Dataset()), allow_product=True)
    last = len(case.history)
    cuts = sorted(random.Random(seed).sample(range(1, last), 1))
    log = run_in_cuts(Memory(plan, case.history, optimized=False), last, cuts).log()
    for epoch, data in enumerate(case.states(), 1):
        expected = other.results(case.shapes, as_turtle(data))
        report = results_of_rows(state(log, epoch))
        if report != expected:
            missing, extra = expected - report, report - expected
            yield f"epoch {epoch}: missing {dict(missing)}, too many {dict(extra)}"
            yield f"{case.shapes}\n{as_turtle(data)}"
