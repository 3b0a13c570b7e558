"""Laws of shapes: at every epoch of a history, the report is that of another validator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from tests.support.laws import Seeds
from tests.support.shacl.cases import ShapesCase, shapes_case, with_own_subclasses
from tests.support.shacl.laws import differences
from tests.support.shacl.pyshacl_process import PySHACL
from weir.engine.operators import union


@pytest.fixture(scope="module")
def pyshacl() -> Iterator[PySHACL]:
    """The process."""
    with PySHACL() as process:
        yield process


@pytest.mark.law("shapes")
def test_the_report_is_that_of_another_validator_at_every_epoch(
    seeds: Seeds, pyshacl: PySHACL
) -> None:
    seeds.check(partial(_differences, pyshacl))


@pytest.mark.law("shapes")
def test_the_parts_of_a_large_report_may_be_relations(
    seeds: Seeds, pyshacl: PySHACL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(union, "_FEW", 0)
    seeds.check(partial(_differences, pyshacl))


@pytest.mark.law("shapes")
def test_subclasses_that_the_shapes_declare_count_like_those_of_the_data(
    seeds: Seeds, pyshacl: PySHACL
) -> None:
    seeds.check(partial(_differences, pyshacl, change=with_own_subclasses))


def _differences(
    pyshacl: PySHACL, seed: int, change: Callable[[ShapesCase], ShapesCase] | None = None
) -> Iterator[str]:
    case = shapes_case(seed)
    case = case if change is None else change(case)
    return differences(case, seed, lambda shapes, data: pyshacl.validation(shapes, data).results)
