"""Fingerprints in existing lakes stay valid when classes and fields are renamed."""

from __future__ import annotations

from typing import get_args

import pytest

from weir.definitions.fingerprint import plan_fingerprint
from weir.plan.lower import lower
from weir.plan.operators import PlanNode, walk
from weir.plan.stored_form import stored_form
from weir.sparql.frontend.translate import translate

# Another value here means that every lake computes such queries from scratch.
STORED = {
    "star": (
        "SELECT ?s { ?s <u:p> ?x ; <u:q> 1 FILTER(?x > 1) }",
        "26ef912a82b6c46aa115318a2d65ef4aed13311f4aa7eb6b3c411a30467033cf",
    ),
    "product": (
        "SELECT * { ?a <u:p> ?b . ?c <u:q> ?d . <u:a> <u:p> <u:b> }",
        "76616e724573b9a86464ac1e2dd47324c3c54bf0687aba9b80c657d6d08d2c48",
    ),
    "join": (
        "SELECT * { { SELECT DISTINCT ?s { ?s <u:p> ?o } } { ?s <u:q> ?n BIND(STR(?n) AS ?t) } }",
        "6788c2d6127233ed93688b23a9fa1aea1c3e5f897d8ed7059ffe3e970b823030",
    ),
    "optional": (
        "SELECT * { ?s <u:p> ?o OPTIONAL { ?s <u:q> ?n FILTER(?n != ?o) } }",
        "8f736a953a0ef7285aa8b2e03f5b21491f37958b4ae0fd3294cdc8ff4add7aa0",
    ),
    "exists": (
        "SELECT * { ?s <u:p> ?o FILTER EXISTS { ?s <u:q> ?n FILTER(?n != ?o) } }",
        "24a441190870a5c8f826ec55a9b81dbbad62d52189ec66956608d44a0e3da065",
    ),
    "not exists": (
        "SELECT * { ?s <u:p> ?o FILTER NOT EXISTS { ?s <u:q> ?n } }",
        "7c20f8d9f9c5815300965eba694a31a2a9fcdac4bd73a6ee0d5c1fd40d52d7c1",
    ),
    "minus": (
        "SELECT * { ?s <u:p> ?o OPTIONAL { ?s <u:q> ?n } MINUS { ?m <u:r> ?n } }",
        "70557b4596352a9fdeabd62cae056b14594add240c04db08e6a3545dad978092",
    ),
    "exists as a value": (
        "SELECT ?s ?k { ?s <u:p> ?o BIND(EXISTS { ?s <u:q> ?o } AS ?k) }",
        "7bbf18158d5b5c6f561e3d5b58c2ac177ba1fa71bc3d3ebf174f154ff4b171b9",
    ),
    "union, values": (
        "SELECT * { { ?s <u:p> ?o } UNION { VALUES (?s ?n) { (<u:a> UNDEF) } } }",
        "9cb9217d9c6fd28b73649d072d40771883be7d99249f20d4a09d749e79d52b57",
    ),
    "a filter in the parts of a union that is counted": (
        "SELECT (COUNT(?x) AS ?n) { { ?s <u:p> ?x } UNION { ?s <u:q> ?y } FILTER(BOUND(?x)) }",
        "8a52a1801799931f8241457c635c08b9381c0459cefc29004c30afa39fabfe58",
    ),
    "groups": (
        "SELECT ?s (COUNT(DISTINCT ?o) AS ?n) (GROUP_CONCAT(?o; SEPARATOR='|') AS ?t)"
        " { ?s <u:p> ?o } GROUP BY ?s HAVING(COUNT(*) > 1)",
        "67f02164ab7a6f437c3d0c1ca74c91c84ca151e1ae8f84408b0c8675e1db9b76",
    ),
    "slice": (
        "SELECT ?s { ?s <u:p> ?o } ORDER BY DESC(?o) STR(?s) LIMIT 3 OFFSET 1",
        "6f7adcca07aeccbf027c00655d7af4bd1c9749a58dba173e67860d841e033cfa",
    ),
    "paths": (
        "SELECT * { <u:a> <u:p>+ ?o . ?o (<u:q>|!<u:r>)* ?x }",
        "12895c715ac7625f4be2e6f168447edcf9dcea1b680873097175b69e08191f96",
    ),
    "graphs": (
        "SELECT * FROM <u:g> FROM NAMED <u:h> { ?s <u:p> ?o GRAPH ?g { ?s <u:q>+ ?n } }",
        "a23c4797ab742c624b8090fa209f68ae1991e9d6ada213263ac578d78bfae302",
    ),
    "ask": (
        "ASK { ?s <u:p> 'x'@en }",
        "6816896597498fa8a95bdd8b90e663c7b97289d3974d28c3db5917e04b02425d",
    ),
    "construct": (
        "CONSTRUCT { ?s <u:q> _:b . _:b <u:r> ?o } { ?s <u:p> ?o }",
        "e5fe9ed579217a4cf9c67e95d8b4a9f43dbb2259e1a6bf25392765142181ff77",
    ),
}


@pytest.mark.parametrize("name", STORED)
def test_the_fingerprint_of_an_existing_plan_does_not_change(name: str) -> None:
    text, stored = STORED[name]
    assert plan_fingerprint(lower(translate(text), allow_product=True)) == stored


def test_the_pinned_plans_have_every_kind_of_node() -> None:
    plans = [lower(translate(text), allow_product=True) for text, _ in STORED.values()]
    kinds = {type(node) for plan in plans for node in walk(plan.root)}
    assert kinds == {*get_args(PlanNode)}


def test_a_value_that_no_plan_holds_has_no_stored_form() -> None:
    with pytest.raises(TypeError, match="a plan does not hold a object"):
        stored_form(object())
