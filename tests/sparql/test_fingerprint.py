"""The fingerprint changes with the answer, and with nothing that has no effect on it."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.sparql.fingerprint import fingerprint
from jobs.sparql.translate import translate

_TEXT = (
    "PREFIX e: <u:e#> SELECT ?s { ?s e:p _:x . _:x e:q [ e:r 1 ] FILTER(?s > 1) FILTER(?s < 9) }"
)


@pytest.mark.parametrize(
    "text",
    [
        _TEXT + " # comment",
        _TEXT.replace(" ", "\n  "),
        _TEXT.replace("e:", "other:"),
        _TEXT.replace("e:p", "<u:e#p>"),
        _TEXT.replace("_:x", "_:y"),
        _TEXT + " ORDER BY ?s",
        _TEXT.replace("SELECT", "SELECT REDUCED"),
        _TEXT.replace("?s", "$s"),
        "PREFIX e: <u:e#> SELECT ?s { _:b e:r 1 . _:a e:q _:b . ?s e:p _:a FILTER(?s < 9) "
        "FILTER(?s > 1) }",
    ],
)
def test_what_does_not_change_the_answer_does_not_change_the_fingerprint(text: str) -> None:
    assert fingerprint(translate(text)) == fingerprint(translate(_TEXT))


def test_queries_with_other_answers_have_other_fingerprints() -> None:
    texts = [
        _TEXT,
        _TEXT.replace("SELECT", "SELECT DISTINCT"),
        _TEXT.replace("SELECT ?s", "ASK"),
        _TEXT.replace("SELECT ?s", "SELECT ?s ?t"),
        _TEXT.replace("SELECT ?s", "CONSTRUCT { ?s e:p 1 }"),
        _TEXT.replace("SELECT ?s", "CONSTRUCT { ?s e:p [] }"),
        _TEXT.replace("SELECT ?s", "SELECT ?s FROM <u:g>"),
        _TEXT.replace("1 ]", "01 ]"),
        _TEXT.replace("e:q", "e:p"),
        _TEXT.replace("FILTER(?s < 9)", ""),
        _TEXT.replace("?s < 9", "?s <= 9"),
        _TEXT.replace("_:x e:q", "_:y e:q"),
        _TEXT.replace("_:x", "?x"),
    ]
    made = [fingerprint(translate(text)) for text in texts]
    made.append(fingerprint(translate(_TEXT, "default")))
    assert all(one != two for one, two in combinations(made, 2))


def test_from_makes_the_default_graph_of_the_front_matter_irrelevant() -> None:
    text = "ASK FROM <u:h> FROM <u:g> { ?s ?p ?o }"
    other = "ASK FROM <u:g> FROM <u:h> { ?s ?p ?o }"
    assert fingerprint(translate(text, "default")) == fingerprint(translate(other, "union"))


@settings(deadline=None)
@given(
    order=st.permutations(range(5)),
    labels=st.permutations(["a", "b", "c", "d"]),
)
def test_order_and_labels_of_connected_blank_nodes_do_not_matter(
    order: list[int], labels: list[str]
) -> None:
    one, two, three, four = (f"_:{label}" for label in labels)
    triples = [
        f"{one} <u:p> {two}",
        f"{two} <u:p> {three}",
        f"{three} <u:p> {four}",
        f"{four} <u:q> ?x",
        f"?x <u:p> {two}",
    ]
    text = f"ASK {{ {' . '.join(triples[i] for i in order)} }}"
    plain = "ASK { _:a <u:p> _:b . _:b <u:p> _:c . _:c <u:p> _:d . _:d <u:q> ?x . ?x <u:p> _:b }"
    assert fingerprint(translate(text)) == fingerprint(translate(plain))


def test_blank_nodes_in_another_shape_are_another_query() -> None:
    shapes = {
        fingerprint(translate(f"ASK {{ _:a <u:p> _:{x} . _:{y} <u:p> _:{z} }}"))
        for x, y, z in permutations(["b", "c", "d"])
    }
    assert len(shapes) == 1
    ring = "ASK { _:a <u:p> _:b . _:b <u:p> _:c . _:c <u:p> _:a }"
    chain = "ASK { _:a <u:p> _:b . _:b <u:p> _:c . _:c <u:p> _:d }"
    assert fingerprint(translate(ring)) != fingerprint(translate(chain))


_ALL = (
    "PREFIX e: <u:e#> SELECT DISTINCT ?s (SUM(?n) AS ?t) FROM e:g FROM NAMED e:h { "
    "{ ?s e:p/e:q _:x . _:x e:r [] } UNION { GRAPH ?g { ?s (e:p|^e:q)* ?o . ?s !(e:p|^e:q) ?o } } "
    "OPTIONAL { ?s e:n ?n FILTER(?n > 1) } MINUS { ?s e:q _:y } BIND(STR(?s) AS ?b) "
    "VALUES (?v ?w) { (1 UNDEF) (2 3) } FILTER NOT EXISTS { ?s e:p [ e:q _:z ] } FILTER(?b != 'x') "
    "{ SELECT ?s ?v { ?s e:p ?v } ORDER BY ?v LIMIT 3 } "
    "} GROUP BY ?s (LANG(?b) AS ?l) HAVING (COUNT(*) > 1) ORDER BY DESC(?t) OFFSET 1 "
    "VALUES ?s { e:a }"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("e:", "other:"),
        (" ", "\n"),
        ("_:x", "_:other"),
        ("_:y", "_:w"),
        ("(1 UNDEF) (2 3)", "(2 3) (1 UNDEF)"),
        ("SELECT ?s ?v {", "SELECT ?v ?s {"),
        ("!(e:p|^e:q)", "!(^e:q|e:p)"),
        ("?s e:p/e:q _:x . _:x e:r []", "_:x e:r [] . ?s e:p/e:q _:x"),
        ("FILTER(?b != 'x') ", ""),
    ],
)
def test_spelling_is_nothing_to_any_form(before: str, after: str) -> None:
    assert before in _ALL
    text = _ALL.replace(before, after)
    if not after:
        # A filter may stand anywhere in its group.
        text = text.replace("BIND(", f"{before}BIND(")
    assert fingerprint(translate(text)) == fingerprint(translate(_ALL))


def test_every_part_of_every_form_counts() -> None:
    changes = [
        ("DISTINCT ", ""),
        ("SUM(?n)", "SUM(DISTINCT ?n)"),
        ("SUM(?n)", "AVG(?n)"),
        ("FROM e:g", "FROM e:f"),
        ("FROM NAMED e:h", ""),
        ("e:p/e:q", "e:p/^e:q"),
        ("UNION", ""),
        ("GRAPH ?g", "GRAPH e:h"),
        (")* ?o", ")+ ?o"),
        ("(e:p|^e:q)*", "(e:p/^e:q)*"),
        ("!(e:p|^e:q)", "!(e:p|e:q)"),
        ("OPTIONAL", ""),
        ("?n > 1", "?n > 2"),
        ("MINUS", "OPTIONAL"),
        ("STR(?s)", "STR(?o)"),
        ("UNDEF", "4"),
        ("NOT EXISTS", "EXISTS"),
        ("[ e:q _:z ]", "[ e:q ?z ]"),
        ("LIMIT 3", "LIMIT 4"),
        ("ORDER BY ?v LIMIT", "ORDER BY DESC(?v) LIMIT"),
        ("LANG(?b)", "LANG(?v)"),
        ("COUNT(*)", "COUNT(?b)"),
        ("DESC(?t)", "ASC(?t)"),
        ("OFFSET 1", "OFFSET 2"),
        ("VALUES ?s", "VALUES ?x"),
    ]
    made = [fingerprint(translate(_ALL.replace(*change))) for change in changes]
    assert len({*made, fingerprint(translate(_ALL))}) == len(changes) + 1


def test_separators_tell_aggregates_apart() -> None:
    one, two = (
        fingerprint(translate(f"SELECT (GROUP_CONCAT(?o; SEPARATOR='{s}') AS ?x) {{ ?s ?p ?o }}"))
        for s in ",;"
    )
    assert one != two


def test_limits_of_an_order_that_is_not_projected_count() -> None:
    texts = [
        f"SELECT DISTINCT ?s {{ ?s ?p ?o }} ORDER BY {key} LIMIT {limit}"
        for key in ("?o", "DESC(?o)")
        for limit in (1, 2)
    ]
    assert len({fingerprint(translate(text)) for text in texts}) == 4
