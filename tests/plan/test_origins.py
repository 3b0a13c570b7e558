"""Where the terms of columns come from, operator by operator, and over random queries."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.support.generators.basic_cases import Quad
from tests.support.generators.grammar_cases import whole_case
from tests.support.laws import Seeds
from tests.support.notation import plan_of
from tests.support.oracles import reference
from tests.support.oracles.histories import states
from weir.plan.lower import lower
from weir.plan.origins import Origin, Origins, origins
from weir.plan.scope import Scope
from weir.sparql.frontend.translate import translate

_AGGREGATED = {"aggregated subject of p", "aggregated object of p"}


def _short(origin: Origin) -> str:
    """An origin in words; `?` is any predicate, and nothing is said of the unnamed graph."""
    how = {"identity": "", "transformation": "made of ", "aggregation": "aggregated "}[origin.how]
    if origin.scope is None:
        return f"{how}text"
    predicate = (origin.predicate or "?").rpartition("/")[2].rstrip(">")
    scope = origin.scope
    where = "" if scope == Scope(("",)) else f" in {scope.name.rpartition('/')[2].rstrip('>')}"
    return f"{how}{origin.position} of {predicate}{where}"


def _columns(text: str) -> dict[str, set[str]]:
    return {name: {*map(_short, own)} for name, own in origins(plan_of(text)).columns.items()}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT * { ?x :p ?y }", {"x": {"subject of p"}, "y": {"object of p"}}),
        (
            "SELECT * { ?x ?p ?y }",
            {"x": {"subject of ?"}, "p": {"predicate of ?"}, "y": {"object of ?"}},
        ),
        # A term that two patterns bind is of both, in one segment or in a join.
        ("SELECT ?x { ?x :p ?y ; :q ?z }", {"x": {"subject of p", "subject of q"}}),
        ("SELECT ?x { ?x :p ?y { ?z :q ?x } }", {"x": {"subject of p", "object of q"}}),
        ("SELECT ?x ?z { ?x :p 1 . ?z :q 1 }", {"x": {"subject of p"}, "z": {"subject of q"}}),
        (
            "SELECT ?x ?z { ?x :p ?y OPTIONAL { ?x :q ?z FILTER(?z > ?y) } }",
            {"x": {"subject of p", "subject of q"}, "z": {"object of q"}},
        ),
        (
            "SELECT * { { ?x :p 1 } UNION { ?x :q ?y } UNION { VALUES ?x { 1 } } }",
            {"x": {"subject of p", "subject of q", "text"}, "y": {"object of q"}},
        ),
        ("SELECT ?x { ?x :p ?y MINUS { ?x :q ?y } }", {"x": {"subject of p"}}),
        ("SELECT ?x { ?x :p ?y FILTER EXISTS { ?x :q ?y } }", {"x": {"subject of p"}}),
        ("SELECT ?x { ?x :p ?y FILTER NOT EXISTS { ?x :q ?y } }", {"x": {"subject of p"}}),
        (
            "SELECT * { GRAPH ?g { ?x :p ?y } }",
            {
                "g": {"graph of ? in each named graph"},
                "x": {"subject of p in each named graph"},
                "y": {"object of p in each named graph"},
            },
        ),
        ("SELECT ?x { GRAPH :g { ?x :p ?y } }", {"x": {"subject of p in g"}}),
        # Paths.
        ("SELECT * { ?x :p/:q ?y }", {"x": {"subject of p"}, "y": {"object of q"}}),
        ("SELECT * { ?x ^:p ?y }", {"x": {"object of p"}, "y": {"subject of p"}}),
        ("SELECT ?x { ?x :p|:q 1 }", {"x": {"subject of p", "subject of q"}}),
        ("SELECT * { ?x :p+ ?y }", {"x": {"subject of p"}, "y": {"object of p"}}),
        ("SELECT * { ?x !:p :a }", {"x": {"subject of ?"}}),
        (
            "SELECT ?y { ?x :p* ?y }",
            {"y": {"object of p", "subject of ?", "object of ?"}},
        ),
        ("SELECT ?y { :a :p? ?y }", {"y": {"object of p", "text"}}),
        # Expressions.
        ("SELECT ?z { ?x :p ?y BIND(?y AS ?z) }", {"z": {"object of p"}}),
        ("SELECT ?z { ?x :p ?y BIND(STR(?y) AS ?z) }", {"z": {"made of object of p"}}),
        ("SELECT ?z { ?x :p ?y BIND(COALESCE(?y, 1) AS ?z) }", {"z": {"object of p", "text"}}),
        ("SELECT ?z { ?x :p ?y BIND(1 AS ?z) }", {"z": {"text"}}),
        ("SELECT ?z { ?x :p ?y BIND(1 + 1 AS ?z) }", {"z": {"made of text"}}),
        (
            "SELECT (STR(EXISTS { ?x :p ?y }) AS ?z) { VALUES ?x { 1 } }",
            {"z": _AGGREGATED},
        ),
        # Groups, in subqueries or not.
        (
            "SELECT ?x (MAX(?y) AS ?z) { ?x :p ?y } GROUP BY ?x",
            {"x": {"subject of p"}, "z": {"aggregated object of p"}},
        ),
        ("SELECT (SUM(?y + 1) AS ?z) { ?x :p ?y }", {"z": {"aggregated object of p"}}),
        ("SELECT (COUNT(*) AS ?n) { ?x :p ?y }", {"n": _AGGREGATED}),
        (
            "SELECT ?z { { SELECT (MIN(?y) AS ?m) { ?x :p ?y } } BIND(?m + 1 AS ?z) }",
            {"z": {"aggregated object of p"}},
        ),
        ("SELECT ?x { { SELECT ?x { ?x :p ?y } ORDER BY ?y LIMIT 1 } }", {"x": {"subject of p"}}),
        ("SELECT DISTINCT ?x ?no { ?x :p ?y }", {"x": {"subject of p"}, "no": set()}),
        # Other forms.
        ("ASK { ?x :p ?y }", {"answer": _AGGREGATED}),
        ("ASK { :a :p :b }", {"answer": {*_AGGREGATED, "aggregated predicate of p"}}),
        (
            "CONSTRUCT { ?x :r ?y . _:b ?p :c } { ?x :p ?y . ?x ?p ?z }",
            {
                "subject": {"subject of p", "subject of ?", "made of text"},
                "predicate": {"text", "predicate of ?"},
                "object": {"object of p", "text"},
            },
        ),
    ],
)
def test_a_column_comes_from_the_positions_that_bind_it(
    query: str, expected: dict[str, set[str]]
) -> None:
    assert _columns(query) == expected


def test_a_pattern_in_a_window_is_of_the_window() -> None:
    clause = "FROM NAMED WINDOW <http://w/w> ON <http://w/s> [RANGE 1h]"
    text = f"SELECT ?y {clause} {{ WINDOW <http://w/w> {{ ?x <http://w/p> ?y }} }}"
    own = origins(lower(translate(text))).columns["y"]
    assert {*map(_short, own)} == {"object of p in w"}


def test_what_decides_on_rows_is_not_what_their_terms_are() -> None:
    own = origins(
        plan_of(
            "SELECT ?x (COUNT(*) AS ?n) { ?x :p ?y OPTIONAL { ?z :q ?x FILTER(?z > 1) } "
            "FILTER(?y > 1) FILTER NOT EXISTS { ?w :r ?x } } GROUP BY ?x ORDER BY ?x LIMIT 1"
        )
    )
    decisions = {(decision, _short(origin)) for decision, origin in own.decisions}
    of_x = {"subject of p", "object of q"}
    assert decisions == {
        *(("join", origin) for origin in of_x),
        *(("filter", origin) for origin in (*of_x, "object of r", "object of p", "subject of q")),
        *((by, origin) for by in ("group by", "sort") for origin in of_x),
    }


@pytest.mark.law("origins")
def test_terms_of_columns_are_where_their_origins_say(seeds: Seeds) -> None:
    """A column that has terms as they are, and none of the text: each is at one of the positions.

    A column without an origin has no term.
    """
    seeds.check(_misplaced)


def _misplaced(seed: int) -> list[str]:
    case = whole_case(seed)
    query = translate(case.query, case.default_graph)  # type: ignore[arg-type]
    plan = lower(query, allow_product=True)
    own, columns = origins(plan), [name for name, _ in plan.columns]
    wrong = []
    for quads in {*states(case.histories[0])}:
        for row in reference.rows(query, quads, columns):
            for name, term in zip(columns, row, strict=True):
                if term is not None and not _is_placed(term, own, name, quads):
                    wrong.append(f"?{name} is {term} in {case.query}")
    return wrong


def _is_placed(term: str, own: Origins, column: str, quads: Iterable[Quad]) -> bool:
    places = own.columns[column]
    if any(place.how != "identity" or place.scope is None for place in places):
        return True
    return any(_is_at(term, place, quads) for place in places)


def _is_at(term: str, place: Origin, quads: Iterable[Quad]) -> bool:
    scope = place.scope
    assert scope is not None
    at = ("graph", "subject", "predicate", "object").index(str(place.position))
    for quad in quads:
        is_read = quad[0] != "" if scope.each else scope.graphs is None or quad[0] in scope.graphs
        if is_read and quad[at] == term and place.predicate in (None, quad[2]):
            return True
    return False
