"""The life of a registry: queries are edited, removed and brought back; no Spark is needed."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import nullcontext
from itertools import permutations
from typing import NoReturn

import pytest
from deltalake import DeltaTable

from tests.support.generators import registry_life as random_life
from tests.support.oracles.projects import check_answers
from tests.support.projects.graphs import (
    FIRST,
    LATER,
    NAMES,
    ONE_GRAPH,
    PAIRS,
    TWO_GRAPHS,
    ingest_change_sets,
    knows,
)
from tests.support.projects.project import Change, Project
from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.errors import WeirError
from weir.lake.lake import Lake
from weir.lake.upkeep.maintenance import compact_files
from weir.project import open_lake

pytestmark = pytest.mark.usefixtures("sampled")

WHERE = (
    "?a <urn:knows> ?b .",
    "?b <urn:name> ?n .",
    "FILTER(?a != ?b)",
    'FILTER(?n != "nobody")',
)
FORMS = {
    "set": "SELECT DISTINCT ?a ?n",
    "bag": "SELECT ?n ?a",
    "ask": "ASK",
    "construct": "CONSTRUCT { ?a <urn:knew> ?n . ?n <urn:of> ?b }",
}


def test_answers_stay_right_when_patterns_and_filters_are_reordered(project: Project) -> None:
    orders = list(permutations(WHERE))[::5]
    ingest_change_sets(project, FIRST)
    for order, change_set in zip(orders, (None, *LATER), strict=True):
        for name, form in FORMS.items():
            project.query(name, f"{form} {{ {' '.join(order)} }}")
        if change_set is not None:
            project.change(*change_set)
        project.run()
        for name in FORMS:
            check_answers(project, name, len(project.change_sets), len(project.change_sets))


def test_a_product_that_is_too_large_is_refused_before_it_is_computed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.configure(product_rows=20)
    pairs = "{ ?a <urn:knows> ?b . ?c <urn:knows> ?d }"
    queries = {
        "bag": f"SELECT * {pairs}",
        "set": f"SELECT DISTINCT ?a ?c {pairs}",
        "ask": f"ASK {pairs}",
        "construct": f"CONSTRUCT {{ ?a <urn:with> ?d }} {pairs}",
    }
    for query, text in queries.items():
        project.query(query, text)
    project.change(*("A " + knows("a", str(n)) for n in range(5)))
    made: list[int] = []
    make = Engine.make

    def made_and_counted(engine: Engine, statement: Statement) -> None:
        make(engine, statement)
        made.append(engine.count(statement.name))

    monkeypatch.setattr(Engine, "make", made_and_counted)
    with pytest.raises(WeirError, match="4 queries could not be maintained") as error:
        project.maintain()
    message = "their product has 5 x 5 = 25 rows, more than product_rows = 20"
    assert str(error.value).count(message) == 4
    assert max(made) == 5


def test_queries_whose_changes_were_vacuumed_are_rebuilt(project: Project) -> None:
    behind = {"pairs": PAIRS, "names": NAMES, "one_graph": ONE_GRAPH, "two_graphs": TWO_GRAPHS}
    for query, text in behind.items():
        project.query(query, text)
    ingest_change_sets(project, FIRST)
    project.run()
    ingest_change_sets(project, LATER)
    for table in ("quads", "triples"):
        compact_files(open_lake(project.settings), table, 10**8)
        stored = DeltaTable(open_lake(project.settings).location(table))
        gone = stored.vacuum(0, dry_run=False, enforce_retention_duration=False)
        assert gone
    project.query("fresh", PAIRS)
    assert project.run().modes == {**dict.fromkeys(behind, "rebased"), "fresh": "initial"}
    assert "no longer there" in project.ledger("maintain")["names"]["reason"]
    for query in behind:
        check_answers(project, query, 2, 6)
    check_answers(project, "fresh", 6, 6)


def test_an_epoch_that_changes_nothing_needs_no_feed(project: Project) -> None:
    """The feed of the last change may be gone by then."""
    project.query("pairs", PAIRS)
    ingest_change_sets(project, FIRST)
    project.run()
    for table in ("quads", "triples"):
        compact_files(open_lake(project.settings), table, 10**8)
        stored = DeltaTable(open_lake(project.settings).location(table))
        assert stored.vacuum(0, dry_run=False, enforce_retention_duration=False)
    nothing = "D " + knows("never", "there")
    project.change(nothing)
    assert project.run().modes == {"pairs": "untouched"}
    project.change(nothing)
    project.change("A " + knows("a", "zoe"))
    project.change(nothing)
    assert project.run().modes == {"pairs": "incremental"}
    check_answers(project, "pairs", 2, 6)


def test_a_failed_read_for_some_queries_does_not_affect_the_others(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.query("pairs", PAIRS)
    project.query("names", NAMES)
    ingest_change_sets(project, FIRST)
    project.run()
    ingest_change_sets(project, LATER)
    project.query("fresh", PAIRS)

    def fail(*_: object) -> NoReturn:
        raise OSError("the disk is on fire")

    with monkeypatch.context() as patch:
        patch.setattr("weir.maintain.epoch_course.read_touched", fail)
        with pytest.raises(WeirError, match="2 queries could not be maintained") as error:
            project.maintain()
    assert str(error.value).count("the disk is on fire") == 2
    rows = project.ledger("maintain")
    assert {query: rows[query]["status"] for query in ("pairs", "names", "fresh")} == {
        "pairs": "failed",
        "names": "failed",
        "fresh": "succeeded",
    }
    assert set(project.run().modes) == {"pairs", "names"}
    for query in ("pairs", "names", "fresh"):
        check_answers(project, query, 6, 6)


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("index", ["off", "on"])
@pytest.mark.parametrize("seed", range(3))
def test_answers_are_right_at_the_head_after_any_changes_of_graph_and_registry(
    project: Project, seed: int, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However epochs are cut into runs of the stages: ten queries a project, 60 lives in all."""
    monkeypatch.setenv("WEIR_INDEX", index)
    chance = random.Random(seed)
    lives = random_life.lives(chance, 10)
    for life in lives:
        project.query(life.query, str(life.text))
    for step in range(6):
        for _ in range(chance.randint(0 if project.change_sets else 1, 2)):
            project.change(*random_life.change_set(chance))
        for life in lives if step else ():
            life.advance(project, chance)
        if chance.random() < 0.3:
            compact(project, lose_the_feed=chance.random() < 0.5)
        # Without a run here, the next one has more to catch up with.
        if chance.random() < 0.7 or step == 5:
            run_and_check(project, lives)
    made = {file.parent.name for file in project.folder.rglob("index.json")}
    assert made == ({"subject", "object", "node"} if index == "on" else set())


def run_and_check(project: Project, lives: list[random_life.Life]) -> None:
    """Run the stages; answers equal pyoxigraph's, and published rows stay published."""
    before = {life.query: published(project, life.query) for life in lives}
    broken = any(life.file == "broken" for life in lives)
    with pytest.raises(WeirError, match="could not be maintained") if broken else nullcontext():
        project.maintain()
    project.stages("validate", "publish")
    head = len(project.change_sets)
    for life in lives:
        assert before[life.query] <= published(project, life.query), "the log lost rows"
        if life.file == "there":
            check_answers(project, life.query, head, head)


def published(project: Project, query: str) -> Counter[Change]:
    """The rows of an answer's log, none before its first publication."""
    there = open_lake(project.settings).exists(f"answers/{query}")
    return Counter(project.signed(query) if there else ())


def compact(project: Project, *, lose_the_feed: bool) -> None:
    """Merge the files of every table; delete the merged ones if the feed may be lost."""
    lake = project.settings.lake
    for table in project.versions():
        compact_files(Lake(lake), table, 10**8)
        if lose_the_feed:
            stored = DeltaTable(Lake(lake).location(table))
            stored.vacuum(0, dry_run=False, enforce_retention_duration=False)
