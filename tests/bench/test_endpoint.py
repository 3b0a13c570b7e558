"""The scenario of the endpoint: all sides are asked the same, and find the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import endpoint
from bench.endpoint import Endpoint, questions
from bench.graph import SMALLEST, Graph


def test_no_question_is_asked_twice() -> None:
    asked = questions(Graph(100_000))
    assert len({*asked}) == len(asked) == endpoint.LOOKUPS


@pytest.mark.usefixtures("slow", "running_endpoint")
def test_all_sides_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("WORK", tmp_path), ("LOOKUPS", 60), ("CHANGE_SETS", 1), ("CHANGES", 20)):
        monkeypatch.setattr(endpoint, name, value)
    scenario = Endpoint(SMALLEST, lambda _: None).run()
    assert all(rows.agree for rows in scenario.rows)
    assert [line[0] for line in scenario.summary[1:]] == [
        "weir serve",
        "pyoxigraph in memory",
        "Fuseki, TDB2",
    ]
    assert not scenario.full
