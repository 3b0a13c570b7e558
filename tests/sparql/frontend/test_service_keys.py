"""By which variables the blocks of a query are asked, and which conditions reach them."""

from __future__ import annotations

import pytest

from weir.sparql.frontend.translate import translate

_BLOCK = "SERVICE <http://r/> { ?b <u:r> ?n }"


@pytest.mark.parametrize(
    ("pattern", "key"),
    [
        (f"?a <u:p> ?b {_BLOCK}", ("b",)),
        (f"?a <u:p> ?b OPTIONAL {{ {_BLOCK} }}", ("b",)),
        (f"?a <u:p> ?b FILTER NOT EXISTS {{ {_BLOCK} }}", ("b",)),
        (f"{{ ?a <u:p> ?b }} UNION {{ {_BLOCK} }}", ()),
        (f"?a <u:q> ?c OPTIONAL {{ ?a <u:p> ?b }} {_BLOCK}", ()),
        (f"?a <u:p> ?b {{ SELECT ?b ?n {{ {_BLOCK} }} }}", ("b",)),
        (f"?a <u:p> ?b {{ SELECT ?n {{ {_BLOCK} }} }}", ()),
        # Which two rows are left depends on all of them.
        (f"?a <u:p> ?b {{ SELECT ?b ?n {{ {_BLOCK} }} ORDER BY ?n ?b LIMIT 2 }}", ()),
    ],
)
def test_the_key_is_what_a_block_and_its_partner_bind(pattern: str, key: tuple[str, ...]) -> None:
    (asked,) = translate(f"SELECT * {{ {pattern} }}").asked
    assert asked.service.key == key
    assert (asked.keys is None) == (not key)


@pytest.mark.parametrize(
    ("pattern", "number"),
    [
        (f"?a <u:p> ?b {_BLOCK} FILTER(?n > 3)", 1),
        (f"?a <u:p> ?b {_BLOCK} OPTIONAL {{ ?a <u:q> ?c }} FILTER(?n > 3)", 1),
        # A solution without a match is there for any ?n.
        (f"?a <u:p> ?b OPTIONAL {{ {_BLOCK} }} FILTER(!BOUND(?n) || ?n > 3)", 0),
        (f"?a <u:p> ?b MINUS {{ {_BLOCK} }} FILTER(?n > 3)", 0),
    ],
)
def test_a_filter_bounds_a_block_if_no_answer_is_without_it(pattern: str, number: int) -> None:
    (asked,) = translate(f"SELECT * {{ {pattern} }}").asked
    assert len(asked.bounds) == number
