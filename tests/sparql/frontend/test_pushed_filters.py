"""Which FILTERs around a block of SERVICE its remote is given, and why not the others."""

from __future__ import annotations

import pytest

from weir.sparql.algebra.pushed_filters import Pushing
from weir.sparql.algebra.services import Asked
from weir.sparql.frontend.translate import translate

_INSIDE = "?b <u:r> ?n OPTIONAL { ?b <u:z> ?z }"
_BLOCK = f"SERVICE <http://r/> {{ {_INSIDE} }}"
_PROLOGUE = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "


def asked(pattern: str, *, push_filters: bool = True) -> Asked:
    """What the only block of a pattern asks for."""
    text = f"{_PROLOGUE} SELECT * {{ {pattern} }}"
    (only,) = translate(text, push_filters=push_filters).asked
    return only


def pushing(condition: str) -> Pushing:
    """What becomes of a FILTER in the group of a block whose key is ?b."""
    return asked(f"?a <u:p> ?b {_BLOCK} FILTER({condition})").pushing


@pytest.mark.parametrize(
    "condition",
    [
        "?n > 3",
        "3 < ?n",
        "?n <= -2.5e0",
        "?n = 1.0",
        "?n = <u:x>",
        "?n = 'text'",
        "?n = true",
        "?n IN (1, <u:x>, 'text')",
        "?n != <u:x>",
        "?n NOT IN (<u:x>, <u:y>)",
        '?n < "2026-01-01T00:00:00Z"^^xsd:dateTime',
    ],
)
def test_a_comparison_that_all_remotes_make_alike_is_given_to_the_remote(condition: str) -> None:
    made = pushing(condition)
    assert len(made.pushed) == 1
    assert not made.kept


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        # Of a string and a number SPARQL gives an error, and lets a remote say that they differ.
        ("?n != 3", "servers differ in how they compare 3 by !="),
        ("?n NOT IN (<u:x>, 3)", "servers differ"),
        ("?n > 'text'", "servers differ"),
        ("?n = 'text'@en", "servers differ"),
        ("?n > true", "servers differ"),
        ('?n = "2026-01-01"^^xsd:date', "servers differ"),
        ('?n = "1"^^xsd:float', "servers differ"),
        ('?n = "1"^^<u:own>', "servers differ"),
        ("?n < 1234567890123456789", "servers differ"),
        ("?n < 1e100", "servers differ"),
        ("?n > ?b", "it is no comparison of a variable with constants"),
        ("?n + 1 > 3", "it is no comparison of a variable with constants"),
        ("?n IN (1, ?b)", "it is no comparison of a variable with constants"),
        ("?n > 3 || ?n < 1", "it is no comparison of a variable with constants"),
        ("!(?n = 3)", "it is no comparison of a variable with constants"),
        ("EXISTS { ?n <u:q> ?c }", "it is no comparison of a variable with constants"),
        ("?z > 3", "not every solution of the block binds ?z"),
        ("?b != <u:x>", "the keys that are asked for meet it"),
    ],
)
def test_any_other_condition_is_not_and_why(condition: str, reason: str) -> None:
    made = pushing(condition)
    assert not made.pushed
    ((_, why),) = made.kept
    assert why.startswith(reason)


def test_a_condition_without_a_variable_of_the_block_is_not_mentioned() -> None:
    assert pushing("?a != <u:x>") == Pushing()


def test_a_conjunction_is_given_by_its_parts() -> None:
    made = asked(f"?a <u:p> ?b {_BLOCK} FILTER(?n > 3 && ?z = 1) FILTER(?n < 9)")
    assert made.pushing.pushed == ("?n < 9", "?n > 3")
    assert [text for text, _ in made.pushing.kept] == ["?z = 1"]
    assert made.service.block == f"{{ {_INSIDE} }} FILTER(?n < 9 && ?n > 3)"


@pytest.mark.parametrize(
    ("pattern", "pushed"),
    [
        (f"?a <u:p> ?b OPTIONAL {{ ?a <u:q> ?c }} {_BLOCK} FILTER(?n > 3)", True),
        (f"?a <u:p> ?b {_BLOCK} OPTIONAL {{ ?a <u:q> ?c }} FILTER(?n > 3)", True),
        (f"?a <u:p> ?b {_BLOCK} MINUS {{ ?a <u:q> ?c }} FILTER(?n > 3)", True),
        (f"?a <u:p> ?b {_BLOCK} BIND(?n * 2 AS ?m) FILTER(?n > 3)", True),
        (f"{{ ?a <u:p> ?b {_BLOCK} }} UNION {{ ?a <u:q> ?b }} FILTER(?n > 3)", True),
        (f"?a <u:p> ?b OPTIONAL {{ {_BLOCK} FILTER(?n > 3) }}", True),
        (f"?a <u:p> ?b MINUS {{ {_BLOCK} FILTER(?n > 3) }}", True),
        (f"?a <u:p> ?b FILTER NOT EXISTS {{ {_BLOCK} FILTER(?n > 3) }}", True),
        # A solution without a match is there, too.
        (f"?a <u:p> ?b OPTIONAL {{ {_BLOCK} }} FILTER(?n > 3)", False),
        (f"?a <u:p> ?b OPTIONAL {{ OPTIONAL {{ {_BLOCK} }} FILTER(?n > 3) }}", False),
        (f"?a <u:p> ?b MINUS {{ {_BLOCK} }} FILTER(?n > 3)", False),
        (f"?a <u:p> ?b FILTER NOT EXISTS {{ {_BLOCK} }} FILTER(?n > 3)", False),
        # What is counted, and which solutions are the first two, depends on all of them.
        (f"{{ SELECT ?b ?n {{ {_BLOCK} }} ORDER BY ?n LIMIT 2 }} FILTER(?n > 3)", False),
        (f"{{ SELECT ?n (COUNT(*) AS ?k) {{ {_BLOCK} }} GROUP BY ?n }} FILTER(?n > 3)", False),
        (f"?a <u:p> ?b {{ SELECT ?b ?n {{ {_BLOCK} }} }} FILTER(?n > 3)", False),
    ],
)
def test_a_filter_is_given_where_no_answer_has_a_solution_that_fails_it(
    pattern: str, pushed: bool
) -> None:
    assert bool(asked(pattern).pushing.pushed) == pushed


def test_without_the_wish_the_block_is_asked_as_it_is_written() -> None:
    made = asked(f"?a <u:p> ?b {_BLOCK} FILTER(?n > 3)", push_filters=False)
    assert made.service.block == _INSIDE
    assert made.pushing == Pushing()


def test_the_order_of_filters_makes_no_other_pattern() -> None:
    one = asked(f"?a <u:p> ?b {_BLOCK} FILTER(?n > 3 && ?n < 9)")
    other = asked(f"?a <u:p> ?b FILTER(?n < 9) {_BLOCK} FILTER(?n > 3)")
    assert one.service.block == other.service.block
