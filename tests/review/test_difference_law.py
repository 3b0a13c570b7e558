"""The law of `weir diff`: what it prints is what a run then publishes, row for row."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.generators import registry_life as random_life
from tests.support.generators.edited_queries import Dataset
from tests.support.opened import opened
from tests.support.projects.project import Project, Solution
from weir.definitions.catalog import Catalog
from weir.definitions.kinds import PROGRAM, QUERY
from weir.errors import WeirError
from weir.lake.tables import ANSWERS
from weir.progress.completion import Completion
from weir.project import open_lake
from weir.review.differences import Difference, differences
from weir.review.edits import edits_of_base, edits_of_published
from weir.stage import silent

QUERIES, EDITS = 4, 2
"""Of a case of any queries."""
Rows = dict[str, Counter[Solution]]
"""By query, the weights of rows."""


@pytest.mark.usefixtures("slow")
@pytest.mark.law("differences")
def test_a_difference_is_what_a_run_then_publishes(
    project: Project, tmp_path: Path, seeds: Iterable[int]
) -> None:
    for seed in seeds:
        _live(project.copy(tmp_path / f"now{seed}"), tmp_path / f"base{seed}", random.Random(seed))


@pytest.mark.law("edits of any query")
def test_a_difference_of_any_query_is_what_a_run_then_publishes(
    project: Project, tmp_path: Path, seeds: Iterable[int]
) -> None:
    for seed in seeds:
        _edit(project.copy(tmp_path / f"now{seed}"), Dataset(random.Random(f"edits {seed}")))


def _edit(project: Project, dataset: Dataset) -> None:
    """Queries of the whole grammar are edited while the graph changes."""
    chance, change_sets = dataset.rng, dataset.change_sets()
    texts = {f"q{i}": dataset.query() for i in range(QUERIES)}
    for edit in range(EDITS + 1):
        if edit:
            texts = {name: dataset.edited(text) for name, text in texts.items()}
        for name, text in texts.items():
            project.query(name, dataset.file(text))
        for _ in range(chance.randint(0, 1) if edit else 1):
            project.change(*next(change_sets))
        announced, before = _announced(project), _published(project)
        project.stages("maintain", "validate", "publish")
        after = _published(project)
        for name, rows in announced.items():
            assert _minus(after.get(name), before.get(name)) == rows, (name, texts[name])


def _live(project: Project, base: Path, chance: random.Random) -> None:
    """Queries are added, edited, broken, removed and brought back while the graph changes."""
    lives = random_life.lives(chance, 6)
    for life in lives:
        if chance.random() < 0.3:
            life.file = "away"
        else:
            project.query(life.query, str(life.text))
    for step in range(3):
        for _ in range(chance.randint(0 if step else 1, 2)):
            project.change(*random_life.change_set(chance))
        if step == 2:
            # The same graph, with the texts of before.
            of_base = project.copy(base)
            _run(of_base)
        for life in lives if step else ():
            life.advance(project, chance)
        announced, before = _announced(project), _published(project)
        _run(project)
        after = _published(project)
        for name, rows in announced.items():
            assert _minus(after.get(name), before.get(name)) == rows, name
    then, now = _published(of_base), _published(project)
    for name, rows in _since(project, base / "queries").items():
        assert _minus(now.get(name), then.get(name)) == rows, name


def _run(project: Project) -> None:
    for stage in ("maintain", "validate", "publish"):
        try:
            project.stages(stage)
        except WeirError:
            # Some files are broken: the others are maintained and published.
            continue


def _announced(project: Project) -> Rows:
    """What `weir diff` says of the queries that a run publishes."""
    with opened(project.settings) as own:
        lake = own.open_lake()
        edits = [*edits_of_published(own.settings, Catalog.of(own.settings), Completion.read(lake))]
        of_edits = [*differences(own, edits, 0, silent)]
    # A removed query stays as it is published; a broken one, too.
    return {one.name: _rows(one) for one in of_edits if not one.error and one.change != "removed"}


def _since(project: Project, base: Path) -> Rows:
    """What `weir diff --base` says, with the texts of a folder as the base."""
    catalog = Catalog.of_folders({QUERY: base, PROGRAM: base / "none"})
    with opened(project.settings) as own:
        completion = Completion.read(own.open_lake())
        edits = edits_of_base(own.settings, Catalog.of(own.settings), catalog, completion)
        of_edits = [*differences(own, [*edits], 0, silent)]
    # A removed query has an answer all the same, and one that is broken there, an old one.
    usable = {member.name for member in catalog.members}
    return {
        one.name: _rows(one)
        for one in of_edits
        if not one.error and one.change == "edited" and one.name in usable
    }


def _rows(one: Difference) -> Counter[Solution]:
    rows: Counter[Solution] = Counter()
    for weight, *values in one.rows:
        pairs = zip(one.columns, values, strict=True)
        rows[tuple(sorted((name, str(v)) for name, v in pairs if v is not None))] += weight
    assert sum(w for w in rows.values() if w > 0) == one.gained
    assert -sum(w for w in rows.values() if w < 0) == one.lost
    return rows


def _minus(rows: Counter[Solution] | None, others: Counter[Solution] | None) -> Counter[Solution]:
    total = Counter(rows or {})
    total.subtract(others or {})
    return Counter({row: weight for row, weight in total.items() if weight})


def _published(project: Project) -> Rows:
    """By query, the sums of the weights of its published log."""
    rows: Rows = {}
    for name in open_lake(project.settings).owners(ANSWERS):
        rows[name] = Counter()
        for _, weight, solution in project.signed(name):
            rows[name][solution] += weight
    return rows
