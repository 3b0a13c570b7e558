"""SERVICE: the text that is sent, what its solutions bind, and the key that they are asked by."""

from __future__ import annotations

import pytest

from weir.sparql.algebra.patterns import Distinct, Project
from weir.sparql.algebra.services import Asked, pattern_id
from weir.sparql.frontend.translate import translate

_PREFIX = "PREFIX : <http://e.example/>\n"


def _asked(body: str) -> tuple[Asked, ...]:
    return translate(f"{_PREFIX}SELECT * {{ {body} }}").asked


def _key(body: str) -> tuple[str, ...]:
    (asked,) = _asked(body)
    return asked.service.key


def test_the_block_is_sent_as_it_is_written_with_whole_iris() -> None:
    (asked,) = _asked('SERVICE :r { ?s :p/:q* "a}"@en-GB ; a :C . # }\n FILTER(?s != -1) }')
    assert asked.service.remote == "<http://e.example/r>"
    assert asked.service.block == (
        '?s <http://e.example/p>/<http://e.example/q>* "a}"@en-GB ; a <http://e.example/C> .'
        " FILTER(?s != -1)"
    )


def test_comments_spaces_and_prefixes_make_no_other_pattern() -> None:
    (one,) = _asked("SERVICE :r { ?s  :p ?o }")
    (other,) = _asked("SERVICE SILENT <http://e.example/r> {?s <http://e.example/p> ?o # x\n }")
    assert pattern_id(one.service) == pattern_id(other.service)


@pytest.mark.parametrize(
    ("block", "variables", "certain"),
    [
        ("?s :p ?o OPTIONAL { ?s :q ?x }", ("s", "o", "x"), {"s", "o"}),
        ("{ ?s :p ?o } UNION { ?s :q ?x }", ("s", "o", "x"), {"s"}),
        ("GRAPH ?g { ?s :p [] }", ("g", "s"), {"g", "s"}),
        ("SELECT ?s (COUNT(*) AS ?n) { ?s :p ?o } GROUP BY ?s", ("s", "n"), {"s"}),
        ("?s :p ?o BIND(1/0 AS ?x)", ("s", "o", "x"), {"s", "o"}),
        ("VALUES (?s ?o) { (:a UNDEF) }", ("s", "o"), {"s"}),
        (":a :b :c", (), set()),
    ],
)
def test_a_block_knows_its_variables_and_which_of_them_are_always_bound(
    block: str, variables: tuple[str, ...], certain: set[str]
) -> None:
    (asked,) = _asked(f"SERVICE :r {{ {block} }}")
    assert asked.service.variables == variables
    assert asked.service.certain == certain


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ("?s :p ?o SERVICE :r { ?s :q ?x }", ("s",)),
        ("SERVICE :r { ?s :q ?x } ?s :p ?o", ("s",)),
        ("?s :p ?o OPTIONAL { SERVICE :r { ?o :q ?s } }", ("o", "s")),
        ("?s :p ?o MINUS { SERVICE :r { ?s :q ?x } }", ("s",)),
        ("?s :p ?o FILTER NOT EXISTS { SERVICE :r { ?s :q ?x } }", ("s",)),
        ("?s :p ?o BIND(EXISTS { SERVICE :r { ?s :q ?x } } AS ?e)", ("s",)),
        ("?s :p ?o { ?s :q ?y } UNION { SERVICE :r { ?s :q ?x } }", ("s",)),
        ("?s :p ?o { SELECT ?s { SERVICE :r { ?s :q ?o } } }", ("s",)),
        ("?s :p ?o { SELECT ?s (MAX(?o) AS ?m) { SERVICE :r { ?s :q ?o } } GROUP BY ?s }", ("s",)),
        ("GRAPH ?g { ?s :p ?o SERVICE :r { ?s :q ?x } }", ("s",)),
        # The nearest partner is the one inside.
        ("?s :p ?o OPTIONAL { ?o :q ?x SERVICE :r { ?x :q ?s } }", ("x",)),
        # Unbound in some solution of the partner, or in some of the block.
        ("?a :p ?b OPTIONAL { ?b :q ?x } SERVICE :r { ?x :q ?y }", ()),
        ("?s :p ?o SERVICE :r { OPTIONAL { ?s :q ?x } }", ()),
        # Which solution is first depends on all of them.
        ("?s :p ?o { SELECT ?s { SERVICE :r { ?s :q ?x } } ORDER BY ?x LIMIT 1 }", ()),
        # Another variable of the same name.
        ("?s :p ?o { SELECT ?x { SERVICE :r { ?s :q ?x } } }", ()),
        ("SERVICE :r { ?s :q ?x }", ()),
    ],
)
def test_the_key_is_what_the_block_and_its_partner_certainly_bind(
    body: str, key: tuple[str, ...]
) -> None:
    assert _key(body) == key


def test_a_block_is_a_partner_of_a_later_one_and_not_of_an_earlier_one() -> None:
    first, second = _asked("SERVICE :r { ?s :q ?x } SERVICE :t { ?x :q ?y }")
    assert first.service.key == ()
    assert second.service.key == ("x",)


def test_the_keys_are_those_of_the_partner_that_filters_keep_and_that_are_no_blank_nodes() -> None:
    (asked,) = _asked("?s :p ?o FILTER(?o > 3) FILTER(?x > 1) SERVICE :r { ?s :q ?x }")
    (expected,) = (
        translate(
            f"{_PREFIX}SELECT DISTINCT ?s {{ {{ ?s :p ?o FILTER(?o > 3) }} FILTER(!isBlank(?s)) }}"
        ),
    )
    assert asked.keys == expected.form.pattern
    assert isinstance(asked.keys, Distinct)
    assert isinstance(asked.keys.pattern, Project)
