"""Which terms conditions leave to a variable, and which changes a pattern then has."""

from __future__ import annotations

import pytest

from tests.support.notation import plan_of
from weir.plan.lookups import predicates, seeds


def _terms(condition: str) -> set[str] | None:
    """The ends of the terms that the object of a pattern is restricted to; None for any."""
    (seed,) = seeds(plan_of(f"SELECT * {{ ?s :p ?o FILTER({condition}) }}").components)
    if seed.side is None:
        return None
    assert seed.side == "object"
    return {term.rpartition("/")[2].rstrip(">") for term in seed.terms}


@pytest.mark.parametrize(
    ("condition", "terms"),
    [
        ("?o = :a", {"a"}),
        (":a = ?o", {"a"}),
        ("sameTerm(?o, :a)", {"a"}),
        ("sameTerm(?o, 1)", {"XMLSchema#integer"}),
        ("?o IN (:a, :b)", {"a", "b"}),
        ("?o = :a || ?o IN (:b, :c)", {"a", "b", "c"}),
        ("?o IN (:a, :b) && isIRI(?s)", {"a", "b"}),
        ("?o IN (:a, :b, :c) && (?o = :b || ?o = :c)", {"b", "c"}),
        ("(?o = :a && ?s = :b) || ?o = :c", {"a", "c"}),
        ("?o IN ('x', 'y'@en)", {'"x"', '"y"@en'}),
    ],
)
def test_a_condition_restricts_a_variable_to_constants(condition: str, terms: set[str]) -> None:
    assert _terms(condition) == terms


@pytest.mark.parametrize(
    "condition",
    [
        "?o != :a",
        "?o NOT IN (:a, :b)",
        "!(?o = :a)",
        # Another literal may be equal to these.
        "?o = 1",
        "?o IN (:a, true)",
        "?o = '2026-01-01T00:00:00Z'^^xsd:dateTime",
        # Other solutions satisfy the other part.
        "?o = :a || isLiteral(?o)",
        "?o = :a || ?s = :b",
        "?o IN (:a, ?s)",
        "STR(?o) = 'a'",
        "COALESCE(?o = :a, true)",
        "IF(?s = :a, ?o = :b, true)",
    ],
)
def test_another_condition_restricts_no_object(condition: str) -> None:
    assert _terms(condition) is None


def test_a_condition_with_very_many_terms_counts_as_none() -> None:
    assert _terms(f"?o IN ({', '.join(f':n{i}' for i in range(1_000))})") is not None
    assert _terms(f"?o IN ({', '.join(f':n{i}' for i in range(1_001))})") is None


def test_the_variable_with_the_fewest_terms_decides() -> None:
    plan = plan_of("SELECT * { ?s :p ?o FILTER(?s IN (:a, :b)) FILTER(?o = :c) }")
    assert [seed.side for seed in seeds(plan.components)] == ["object"]


def test_of_a_restricted_predicate_the_predicates_are_known() -> None:
    plan = plan_of("SELECT * { ?s ?p ?o FILTER(?p IN (:a, :b)) }")
    known = predicates(plan.components)
    assert known is not None
    assert len(known) == 2


def test_patterns_with_different_constants_in_their_filters_have_different_seeds() -> None:
    plan = plan_of(
        "SELECT * { { ?s a ?c FILTER(?c IN (:a, :b)) } UNION { ?s a ?d FILTER(?d = :d) } }"
    )
    assert [len(seed.terms) for seed in seeds(plan.components)] == [2, 1]


def test_a_filter_inside_exists_restricts_what_the_pattern_there_sees() -> None:
    plan = plan_of("SELECT * { ?s :p ?o FILTER NOT EXISTS { ?o a ?c FILTER(?c IN (:a, :b)) } }")
    assert [len(seed.terms) for seed in seeds(plan.components)] == [0, 2]
