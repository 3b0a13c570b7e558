"""Jena as a second oracle of shapes: of random ones, and of the W3C suite."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.support.laws import Seeds
from tests.support.oracles.reference import rows
from tests.support.shacl.cases import as_turtle, shapes_case
from tests.support.shacl.jena import Jena, running_jena, without_differences
from tests.support.shacl.laws import differences
from tests.support.shacl.results import results_of_rows
from tests.support.shacl.suite import SuiteCase
from weir.shacl.compile import REPORT_COLUMNS, compile_shapes
from weir.shacl.read import read_shapes
from weir.sparql.algebra.queries import Dataset


@pytest.fixture(scope="module")
def jena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jena]:
    """The process."""
    with running_jena(tmp_path_factory.mktemp("jena")) as running:
        yield running


@pytest.mark.law("shapes by Jena")
def test_the_report_is_that_of_jena_at_every_epoch(seeds: Seeds, jena: Jena) -> None:
    def broken(seed: int) -> Iterator[str]:
        case = shapes_case(seed)
        case = replace(case, shapes=without_differences(case.shapes))
        return differences(case, seed, jena.results)

    seeds.check(broken)


def test_of_the_suite_and_of_parts_of_its_data_the_report_is_that_of_jena(
    suite: list[SuiteCase], jena: Jena
) -> None:
    assert not [line for case in suite if case.expected is not None for line in _wrong(case, jena)]


def _wrong(case: SuiteCase, jena: Jena) -> Iterator[str]:
    query = compile_shapes(read_shapes(case.shapes.read_text(), case.shapes.name), Dataset())
    chance = random.Random(case.name)
    for share in (1, 2, 3):
        data = frozenset(chance.sample(sorted(case.quads), len(case.quads) // share))
        report = results_of_rows(rows(query, data, REPORT_COLUMNS))
        if report != jena.results(case.shapes_as_triples, as_turtle(data)):
            yield f"{case.name}, one triple of {share}"
