"""The scenario of classes: its queries have their classes, and both sides find the same answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import choices, classes
from bench.choices import generated_subject
from bench.classes import CLASSES, QUERIES, Classes, bgp_of
from bench.results import Scenario
from tests.support.catalogs import catalog_of
from weir.plan.decompose import decompose

KINDS = {
    "ground": {"ground"},
    "star": {"simple var-centric star"},
    "loosely_connected": {"ground", "simple var-centric star"},
    "connected": {"connected-variable"},
}


@pytest.mark.parametrize("graph", ["nomisma", "generated"])
def test_every_query_has_its_class_and_is_accepted(graph: str) -> None:
    assert not catalog_of(QUERIES / graph).errors
    for query, kinds in KINDS.items():
        segments = decompose(bgp_of((QUERIES / graph / f"{query}.rq").read_text()))
        assert {segment.kind for segment in segments} == kinds
        assert (len(segments) == 3) is (query == "loosely_connected")
    assert set(KINDS) == set(CLASSES)


def test_both_sides_find_the_same_answers_and_the_table_has_a_line_per_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (choices, classes):
        monkeypatch.setattr(module, "WORK", tmp_path)
    subjects = {"generated": generated_subject(10_000, 1)}
    scenario = Classes(1, 10_000, lambda _: None, subjects).run()
    head, *lines = scenario.summary
    assert [line[1] for line in lines] == ["ground", "star", "loosely connected", "connected"]
    assert {len(line) for line in lines} == {len(head)}
    assert Scenario.load(scenario.save(tmp_path)) == scenario
    assert not scenario.full
