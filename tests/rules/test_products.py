"""Bodies that pair atoms without a common variable are limited."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.project import Project
from tests.support.streams.projects import answer_log, event_project, readings
from weir.errors import WeirError
from weir.rules.products import is_product

HEAD = """%+ stream: readings
%+ unit: PT10S
%+ prefixes: {"": "http://example.org/"}
%+ atoms: {"of(S)": "?R :of ?S"}
"""


def project_of(tmp_path: Path, rule: str, limit: int) -> Project:
    project = event_project(tmp_path, "SELECT * { ?s ?p ?o }", product_rows=limit)
    project.program("p", HEAD + rule)
    project.write("events/1.ttl", readings(("s1", 1), ("s2", 3), ("s3", 4), ("s1", 30)))
    return project


def test_a_product_beyond_the_limit_names_the_rule(tmp_path: Path) -> None:
    project = project_of(tmp_path, "pair(X,Y) <- of(X), of(Y).\n", 8)
    with pytest.raises(WeirError, match="pairs atoms that share no variable") as raised:
        project.run()
    assert "p.lars:5:1" in str(raised.value)


def test_a_product_within_the_limit_is_computed(tmp_path: Path) -> None:
    project = project_of(tmp_path, "pair(X,Y) <- of(X), of(Y).\n", 9)
    project.run()
    assert sum(weight > 0 for _, _, weight, _ in answer_log(project, "p")) == 9


def test_a_join_is_not_limited(tmp_path: Path) -> None:
    project = project_of(tmp_path, "pair(X) <- of(X), win^1 diamond of(X).\n", 1)
    project.run()
    assert answer_log(project, "p")


@pytest.mark.parametrize(
    ("literals", "expected"),
    [
        ([("a",), ("b",)], True),
        ([("a",), ("b",), ("a", "b")], False),
        ([("a", "b"), ("c", "d"), ("b", "c"), ("e",)], True),
        ([("a",), ()], False),
        ([], False),
    ],
)
def test_literals_without_a_common_column_are_a_product(
    literals: list[tuple[str, ...]], expected: bool
) -> None:
    assert is_product(literals) is expected
