"""The life of a registry: queries are edited, removed and brought back; no Spark is needed."""

from __future__ import annotations

from itertools import permutations

from tests.ingest.project import no_spark
from tests.maintain.graphs import FIRST, LATER, take_in
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
