"""The life of a registry: queries are edited, removed and brought back; no Spark is needed."""

from __future__ import annotations

from itertools import permutations

import pytest

from jobs.engine.hybrid import HybridEngine
from jobs.engine.relations import Statement
from jobs.errors import WeirError
from tests.ingest.project import no_spark
from tests.maintain.graphs import FIRST, LATER, knows, take_in
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
