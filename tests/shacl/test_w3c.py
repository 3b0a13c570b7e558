"""The W3C suite of SHACL, whole: each test as a history, and the refusals that it demands."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.support.harness import Memory, run_in_cuts, state
from tests.support.laws import Seeds
from tests.support.oracles.reference import rows
from tests.support.shacl.cases import Change
from tests.support.shacl.results import results_of_rows
from tests.support.shacl.suite import SuiteCase
from weir.plan.lower import lower
from weir.shacl.compile import REPORT_COLUMNS, compile_shapes
from weir.shacl.errors import ShapesError
from weir.shacl.read import read_shapes
from weir.sparql.algebra.queries import Dataset, Query

_TESTS = 121
_BEYOND = {"core/complex/shacl-shacl.ttl"}
"""SHACL's own shapes, whose plan takes minutes on the engine; the reference evaluator decides."""


def _query(case: SuiteCase) -> Query:
    return compile_shapes(read_shapes(case.shapes.read_text(), case.shapes.name), Dataset())


def test_the_suite_has_all_its_tests(suite: list[SuiteCase]) -> None:
    assert len(suite) == _TESTS


def test_what_the_suite_refuses_is_refused(suite: list[SuiteCase]) -> None:
    refused = [case for case in suite if case.expected is None]
    assert len(refused) == 7
    for case in refused:
        with pytest.raises(ShapesError):
            _query(case)


def test_every_report_is_that_of_the_suite(suite: list[SuiteCase]) -> None:
    wrong = [
        case.name
        for case in suite
        if case.expected is not None
        and results_of_rows(rows(_query(case), case.quads, REPORT_COLUMNS)) != case.expected
    ]
    assert not wrong


@pytest.mark.law("w3c shapes")
def test_at_every_epoch_the_report_is_that_of_the_data_then(
    suite: list[SuiteCase], seeds: Seeds
) -> None:
    maintained = [c for c in suite if c.expected is not None and c.name not in _BEYOND]
    seeds.check(
        lambda seed: [line for case in maintained[seed % 16 :: 16] for line in _wrong(case, seed)]
    )


def _wrong(case: SuiteCase, seed: int) -> Iterator[str]:
    rng = random.Random(f"{case.name} {seed}")
    whole = case.quads
    half = frozenset(rng.sample(sorted(whole), len(whole) // 2))
    other = frozenset(rng.sample(sorted(whole), len(whole) // 3))
    history: list[Change] = [
        (frozenset(), whole),
        (half, frozenset()),
        (other - half, half - other),
        (frozenset(), other),
    ]
    plan = lower(_query(case), allow_product=True)
    cuts = sorted(rng.sample(range(1, 4), rng.randint(0, 3)))
    log = run_in_cuts(Memory(plan, history, optimized=False), 4, cuts).log()
    states = [whole, whole - half, whole - other, whole]
    for epoch, data in enumerate(states, 1):
        expected = results_of_rows(rows(_query(case), data, REPORT_COLUMNS))
        report = results_of_rows(state(log, epoch))
        if report != expected or (data == whole and report != case.expected):
            yield f"{case.name}, epoch {epoch}, cuts {cuts}"
