"""`weir test` computes queries over the graphs of many tests at once, as over each alone."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.support.generators.edited_queries import Dataset
from tests.support.opened import opened
from tests.support.projects.project import Project
from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.errors import WeirError
from weir.review import given_epochs
from weir.review.given_data import Given, answer_over
from weir.review.given_epochs import together

QUERIES, GRAPHS = 4, 2
A, B = ("<urn:a> <urn:p> <urn:b> .\n", "<urn:a> <urn:p> <urn:c> .\n<urn:c> <urn:p> <urn:b> .\n")


@pytest.mark.law("tests together")
def test_queries_over_many_graphs_at_once_have_the_answers_over_each(
    tmp_path: Path, seeds: Iterable[int]
) -> None:
    for seed in seeds:
        dataset = Dataset(random.Random(f"together {seed}"))
        project = Project(tmp_path / str(seed)).declare()
        for i in range(QUERIES):
            project.query(f"q{i}", dataset.file(dataset.query()))
        _compare(project, _graphs(dataset))


def _graphs(dataset: Dataset) -> list[str]:
    """Graphs that follow each other, then none, then the first again."""
    quads, graphs, changes = set[str](), list[str](), dataset.change_sets()
    for _ in range(GRAPHS):
        for sign, _, quad in (line.partition(" ") for line in next(changes)):
            (quads.add if sign == "A" else quads.discard)(quad)
        graphs.append("".join(f"{quad} .\n" for quad in sorted(quads)))
    return [*graphs, "", graphs[0]]


def _compare(project: Project, graphs: list[str]) -> None:
    with opened(project.settings) as own:
        definitions = Catalog.of(project.settings).members
        with together(own, definitions, graphs) as made:
            assert {*made.epochs} == {*graphs}
            for definition in definitions:
                for graph in graphs:
                    at_once = made.answer(definition.name, Given(graph))
                    alone = _alone(own, definition, graph)
                    assert at_once is None or _rows(at_once) == alone, definition.text
                    assert at_once is not None or alone is None


def _alone(project: Any, definition: Definition, graph: str) -> Counter[tuple[Any, ...]] | None:
    try:
        return _rows(answer_over(project, [definition], Given(graph)))
    except WeirError:
        return None


def _rows(answer: pa.Table) -> Counter[tuple[Any, ...]]:
    """The rows, each as often as it is there; blank nodes have other labels in another lake."""
    rows = Counter[tuple[Any, ...]]()
    for row in answer.to_pylist():
        weight = row.pop("weight")
        rows[tuple(v and re.sub(r"_:\w+", "_:", v) for v in row.values())] += weight
    return rows


@pytest.fixture
def edges(tmp_path: Path) -> Project:
    """A project with one query."""
    project = Project(tmp_path).declare()
    project.query("edges", "SELECT ?x ?y { ?x <urn:p> ?y }")
    return project


def test_a_graph_that_is_too_large_for_the_lake_of_all_is_left_out(
    edges: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(given_epochs, "MOST", len(A) + len(B))
    with opened(edges.settings) as own:
        definitions = Catalog.of(edges.settings).members
        with together(own, definitions, [A, B, A + B]) as made:
            assert made.answer("edges", Given(A)) is not None
            assert made.answer("edges", Given(A + B)) is None


def test_what_cannot_be_taken_leaves_every_graph_to_itself(edges: Project) -> None:
    with (
        opened(edges.settings) as own,
        together(own, Catalog.of(edges.settings).members, [A, "no quad\n"]) as made,
    ):
        assert made.answer("edges", Given(A)) is None


def test_an_error_of_whom_the_answers_are_for_is_raised_as_it_is(edges: Project) -> None:
    with (
        pytest.raises(WeirError, match="of mine"),
        opened(edges.settings) as own,
        together(own, Catalog.of(edges.settings).members, [A, B]),
    ):
        raise WeirError("of mine")


def test_a_query_over_the_graph_of_another_is_computed_of_each(edges: Project) -> None:
    graph = "#+ graph: urn:turned\nCONSTRUCT { ?y <urn:q> ?x } WHERE { ?x <urn:p> ?y }"
    edges.query("turned", graph)
    edges.query("ends", "#+ reads: [turned]\nSELECT ?end { ?end <urn:q> ?x }")
    with opened(edges.settings) as own:
        catalog = Catalog.of(edges.settings)
        definitions = [catalog.member(name) for name in ("turned", "ends")]
        with together(own, definitions, [A, B]) as made:
            ends = [made.answer("ends", Given(graph)) for graph in (A, B)]
    assert [rows and {*map(str, rows["end"].to_pylist())} for rows in ends] == [
        {"<urn:b>"},
        {"<urn:b>", "<urn:c>"},
    ]
