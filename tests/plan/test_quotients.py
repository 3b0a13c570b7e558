"""Which columns of an answer are computed by AVG or division."""

from __future__ import annotations

import pytest

from tests.support.notation import plan_of
from weir.plan.quotients import quotients

_GROUPED = "SELECT ?x ({}) {{ ?x :p ?y }} GROUP BY ?x"


@pytest.mark.parametrize(
    "aggregates",
    [
        "AVG(?y) AS ?q",
        "AVG(DISTINCT ?y) AS ?q",
        "SUM(?y) / 3 AS ?q",
        "2 * AVG(?y) + 1 AS ?q",
        "SUM(?y / 2) AS ?q",
        "COALESCE(AVG(?y), 0) AS ?q",
    ],
)
def test_what_is_computed_from_a_quotient_is_one(aggregates: str) -> None:
    assert quotients(plan_of(_GROUPED.format(aggregates))) == {"q"}


def test_a_quotient_of_a_subquery_is_one_outside() -> None:
    query = "SELECT ?q { { SELECT (AVG(?y) AS ?m) { ?x :p ?y } } BIND(-?m AS ?q) }"
    assert quotients(plan_of(query)) == {"q"}


def test_a_variable_of_a_subquery_that_it_does_not_give_is_another() -> None:
    of_subquery = "{ SELECT ?x { { SELECT ?x (AVG(?y) AS ?q) { ?x :p ?y } GROUP BY ?x } } }"
    assert not quotients(plan_of(f"SELECT ?q {{ ?x :p ?q {of_subquery} }}"))


@pytest.mark.parametrize(
    "aggregates",
    ["SUM(?y) AS ?q", "COUNT(?y) AS ?q", "ROUND(AVG(?y)) AS ?q", "STR(AVG(?y)) AS ?q"],
)
def test_others_are_none(aggregates: str) -> None:
    assert not quotients(plan_of(_GROUPED.format(aggregates)))
