"""The life of a registry: queries are edited, removed and brought back; no Spark is needed."""

from __future__ import annotations

from itertools import permutations
from typing import NoReturn

import pytest
from deltalake import DeltaTable

from jobs.engine.hybrid import HybridEngine
from jobs.engine.relations import Statement
from jobs.errors import WeirError
from lake.maintenance import compact_files
from lake.reader import location
from tests.ingest.project import no_spark
from tests.maintain.graphs import (
    FIRST,
    LATER,
    NAMES,
    ONE_GRAPH,
    PAIRS,
    TWO_GRAPHS,
    knows,
    take_in,
)
from tests.maintain.project import MaintainedProject

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


def test_queries_whose_patterns_and_filters_change_places_stay_right(
    project: MaintainedProject,
) -> None:
    orders = list(permutations(WHERE))[::5]
    take_in(project, FIRST)
    for order, change_set in zip(orders, (None, *LATER), strict=True):
        for name, form in FORMS.items():
            project.query(name, f"{form} {{ {' '.join(order)} }}")
        if change_set is not None:
            project.change(*change_set)
        project.run(no_spark)
        for name in FORMS:
            project.judge(name, len(project.states), len(project.states))


def test_a_product_that_is_too_large_is_refused_before_it_is_made(
    project: MaintainedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.begin(product_rows=20)
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
    make = HybridEngine.make

    def made_and_counted(engine: HybridEngine, statement: Statement) -> None:
        make(engine, statement)
        made.append(engine.count(statement.name))

    monkeypatch.setattr(HybridEngine, "make", made_and_counted)
    with pytest.raises(WeirError, match="4 queries could not be maintained") as error:
        project.maintain(no_spark)
    assert str(error.value).count("their product has 25 rows, more than product_rows = 20") == 4
    assert max(made) == 5


def test_queries_whose_changes_were_vacuumed_are_made_anew(project: MaintainedProject) -> None:
    behind = {"pairs": PAIRS, "names": NAMES, "one_graph": ONE_GRAPH, "two_graphs": TWO_GRAPHS}
    for query, text in behind.items():
        project.query(query, text)
    take_in(project, FIRST)
    project.run(no_spark)
    take_in(project, LATER)
    for table in ("quads", "triples"):
        compact_files(project.settings.lake, table)
        stored = DeltaTable(location(project.settings.lake, table))
        gone = stored.vacuum(0, dry_run=False, enforce_retention_duration=False)
        assert gone
    project.query("fresh", PAIRS)
    assert project.run(no_spark).modes == {**dict.fromkeys(behind, "rebased"), "fresh": "initial"}
    assert "no longer there" in project.ledger("maintain")["names"]["reason"]
    for query in (*behind, "fresh"):
        project.judge(query, 6, 6)


def test_queries_that_cannot_be_read_for_spare_the_others(
    project: MaintainedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.query("pairs", PAIRS)
    project.query("names", NAMES)
    take_in(project, FIRST)
    project.run(no_spark)
    take_in(project, LATER)
    project.query("fresh", PAIRS)

    def fail(*_: object) -> NoReturn:
        raise OSError("the disk is on fire")

    with monkeypatch.context() as patch:
        patch.setattr("jobs.maintain.group.read_touched", fail)
        with pytest.raises(WeirError, match="2 queries could not be maintained") as error:
            project.maintain(no_spark)
    assert str(error.value).count("the disk is on fire") == 2
    rows = project.ledger("maintain")
    assert {query: rows[query]["status"] for query in ("pairs", "names", "fresh")} == {
        "pairs": "failed",
        "names": "failed",
        "fresh": "succeeded",
    }
    assert set(project.run(no_spark).modes) == {"pairs", "names"}
    for query in ("pairs", "names", "fresh"):
        project.judge(query, 6, 6)
