"""Parameterized plans: constants come back, ids stay, and equal shapes differ in constants only."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.generators.small_queries import (
    ask_queries,
    construct_queries,
    select_queries,
)
from weir.definitions.fingerprint import plan_fingerprint, shape
from weir.plan.lower import lower
from weir.plan.parameterized import parameterized, with_constants
from weir.plan.parameters import is_parameter
from weir.plan.plan import Plan
from weir.sparql.frontend.translate import translate


def plan(text: str) -> Plan:
    return lower(translate(text), allow_product=True)


def constants(text: str) -> tuple[str, ...]:
    return parameterized(plan(text))[1]


@given(text=st.one_of(select_queries(), ask_queries(), construct_queries()))
@settings(max_examples=200, deadline=None)
def test_the_constants_in_their_places_give_the_plan_again(text: str) -> None:
    made = plan(text)
    general, in_order = parameterized(made)
    again = with_constants(general, in_order)
    assert again == made
    assert plan_fingerprint(again) == plan_fingerprint(made)
    assert len(set(in_order)) == len(in_order)
    assert not any(map(is_parameter, in_order))
    # The same nodes are equal, so that the same ones are stored under the same ids.
    assert [*general.ids.values()] == [*made.ids.values()]
    assert [general.ids[n] for n in general.stored] == [made.ids[n] for n in made.stored]


@given(text=st.one_of(select_queries(), ask_queries(), construct_queries()), data=st.data())
@settings(max_examples=100, deadline=None)
def test_other_constants_of_the_same_kinds_give_the_same_shape(
    text: str, data: st.DataObject
) -> None:
    made = plan(text)
    general, in_order = parameterized(made)
    order = data.draw(st.permutations(range(len(in_order))))
    others = [
        f"<urn:other{i}>" if term.startswith("<") else f'"other {i}"'
        for i, term in zip(order, in_order, strict=True)
    ]
    changed = with_constants(general, others)
    assert shape(changed) == shape(made)
    assert parameterized(changed) == (general, tuple(others))


def test_queries_that_differ_in_constants_have_one_shape() -> None:
    texts = ("SELECT ?p ?o { <u:a> ?p ?o }", "SELECT ?q ?x { <u:b> ?q ?x }")
    one, other = map(plan, texts)
    assert shape(one) == shape(other)
    assert plan_fingerprint(one) != plan_fingerprint(other)
    assert [constants(text) for text in texts] == [("<u:a>",), ("<u:b>",)]


def test_a_constant_that_occurs_twice_is_one_parameter() -> None:
    assert shape(plan("SELECT * { <u:a> ?p <u:a> }")) != shape(plan("SELECT * { <u:a> ?p <u:b> }"))
    assert shape(plan("SELECT * { <u:a> ?p <u:a> }")) == shape(plan("SELECT * { <u:c> ?p <u:c> }"))


def test_an_iri_and_a_literal_have_different_shapes() -> None:
    assert shape(plan("SELECT * { ?s ?p <u:a> }")) != shape(plan("SELECT * { ?s ?p 1 }"))


def test_what_decides_the_sql_of_a_condition_is_part_of_the_shape() -> None:
    pattern = "SELECT * {{ ?s <u:p> ?o FILTER({}) }}"
    texts = [
        pattern.format(condition)
        for condition in (
            'LANG(?o) = "en"',
            'LANG(?o) = "de"',
            'LANGMATCHES(LANG(?o), "en")',
            'LANGMATCHES(LANG(?o), "de")',
            'REGEX(?o, "a")',
            'REGEX(?o, "b")',
            "?o = 1",
            "?o = <u:a>",
        )
    ]
    assert len({shape(plan(text)) for text in texts}) == len(texts)
    assert constants(texts[0]) == ("<u:p>",)
    assert shape(plan(texts[-2])) == shape(plan(pattern.format('?o = "x"@en')))


def test_limits_separators_graphs_and_products_are_part_of_the_shape() -> None:
    texts = (
        "SELECT * { ?s ?p ?o } LIMIT 1",
        "SELECT * { ?s ?p ?o } LIMIT 2",
        "SELECT (GROUP_CONCAT(?o; SEPARATOR='a') AS ?t) { ?s ?p ?o }",
        "SELECT (GROUP_CONCAT(?o; SEPARATOR='b') AS ?t) { ?s ?p ?o }",
        "SELECT * FROM <u:g> { ?s ?p ?o }",
        "SELECT * FROM <u:h> { ?s ?p ?o }",
    )
    assert len({shape(plan(text)) for text in texts}) == len(texts)
    query = translate("SELECT * { ?s ?p ?o . ?a ?b ?c }")
    assert shape(lower(query)) != shape(lower(query, allow_product=True))


def test_constants_of_inline_data_paths_templates_and_values_are_parameters() -> None:
    assert constants("SELECT * { VALUES ?x { <u:a> 1 UNDEF } }")[0] == "<u:a>"
    assert "<u:a>" in constants("SELECT * { <u:a> <u:p>+ ?y }")
    assert "<u:q>" in constants("CONSTRUCT { ?s <u:q> ?o } { ?s <u:p> ?o }")
    assert '"x"' in constants('SELECT * { ?s <u:p> ?o BIND("x" AS ?b) }')
    assert '"x"' in constants('SELECT * { ?s <u:p> ?o FILTER(REGEX(IF(?o = "x", ?s, ?o), "y")) }')
