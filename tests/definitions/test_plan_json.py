"""Plans as JSON: decoding restores an equal plan, and accepts nothing but plans."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.generators.small_queries import (
    ask_queries,
    construct_queries,
    select_queries,
)
from tests.support.w3c import read_cases
from weir.definitions.fingerprint import plan_fingerprint
from weir.definitions.plan_json import NotAPlan, decoded, encoded
from weir.plan.lower import lower
from weir.plan.plan import Plan
from weir.sparql.frontend.errors import QueryError
from weir.sparql.frontend.translate import translate

_TEXTS = (
    "SELECT ?x (COUNT(DISTINCT ?y) AS ?n) { ?x <u:p> ?y } GROUP BY ?x",
    "SELECT ?x { ?x <u:p>+ ?y OPTIONAL { ?x <u:q> ?z FILTER(?z > ?y) } } ORDER BY DESC(?y) LIMIT 3",
    "SELECT * FROM <u:g> { ?x <u:p> ?y MINUS { ?x <u:q> ?y } }",
    "SELECT * { GRAPH ?g { ?x <u:p> ?y } VALUES (?x ?z) { (<u:a> 1) (UNDEF 2) } }",
    "SELECT ?x { ?x <u:p> ?y BIND(STR(?y) AS ?z) FILTER NOT EXISTS { ?y <u:p> ?x } }",
    "SELECT ?x { { ?x <u:p> ?y } UNION { ?y <u:q> ?x } ?a <u:r> ?b }",
    "SELECT (EXISTS { ?x <u:q> ?y } AS ?e) { ?x <u:p> ?y }",
    'ASK { ?x <u:p> "a\\n\\u00e9\\"b"@en }',
    "CONSTRUCT { ?x <u:q> [ <u:r> ?y ] } { ?x <u:p> ?y }",
)


def _plan(text: str) -> Plan:
    return lower(translate(text))


def _check(plan: Plan) -> None:
    again = decoded(encoded(plan))
    assert again == plan
    assert plan_fingerprint(again) == plan_fingerprint(plan)
    assert list(again.ids.values()) == list(plan.ids.values())


@pytest.mark.parametrize("text", _TEXTS)
def test_decoding_restores_an_equal_plan(text: str) -> None:
    _check(_plan(text))


@given(text=st.one_of(select_queries(), ask_queries(), construct_queries()))
@settings(max_examples=60, deadline=None)
def test_decoding_restores_the_plan_of_a_random_query(text: str) -> None:
    _check(_plan(text))


def test_decoding_restores_the_plans_of_the_w3c_tests(shared: Path) -> None:
    plans = 0
    for case in read_cases(shared / "data" / "w3c" / "sparql11"):
        try:
            plan = _plan(case.text)
        except (QueryError, UnicodeDecodeError):
            continue
        _check(plan)
        plans += 1
    assert plans > 200


def test_decoding_restores_the_deepest_plan() -> None:
    nested = f"SELECT ?x {'{ SELECT ?x ' * 100} {{ ?x <u:p> ?y }} {'}' * 100}"
    _check(_plan(nested))
    _check(_plan(f"SELECT ?x {{ ?x <u:p> ?y FILTER({'(' * 100}?x = ?y{')' * 100}) }}"))


def test_a_node_that_is_read_twice_is_stored_once() -> None:
    parts = "".join(f"FILTER NOT EXISTS {{ ?x <u:p{i}> ?z{i} }} " for i in range(20))
    assert len(encoded(_plan(f"SELECT * {{ ?x <u:p> ?y {parts} }}"))) < 20_000


@pytest.mark.parametrize("text", _TEXTS)
def test_a_value_of_a_wrong_type_is_refused_in_any_position(text: str) -> None:
    whole = json.loads(encoded(_plan(text)))
    for path in _paths(whole):
        _refused(_with(whole, path, {}))
        _refused(_with(whole, path, 1.5))


@pytest.mark.parametrize("text", _TEXTS)
def test_an_unknown_class_or_a_wrong_number_of_fields_is_refused(text: str) -> None:
    whole = json.loads(encoded(_plan(text)))
    for path in _paths(whole):
        part = _at(whole, path)
        if isinstance(part, list) and part and isinstance(part[0], str) and part[0][:1].isupper():
            _refused(_with(whole, path, ["Path", *part[1:]]))
            _refused(_with(whole, path, [*part, None]))
            _refused(_with(whole, path, part[:-1]))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "{}",
        "[[],[],[],false,false]",
        '[[["Distinct",0]],[],[],false,false]',
        '[[["Distinct",true]],[],[],false,false]',
        '[[["Values",[],[[]]],["Distinct",-1]],[],[],false,false]',
        '[[["Values",["v0"],[["a"]]],["Ask","v0",0]],["x"],[["x","v0"]],true,false]',
        '[[["Scope",null,false]],[],[],false,false]',
        "[" * 100_000,
    ],
    ids=[
        "nothing",
        "cut",
        "object",
        "no-node",
        "itself",
        "not-a-number",
        "from-the-end",
        "wrong-child",
        "no-operator",
        "deep",
    ],
)
def test_json_that_encoding_never_writes_is_refused(text: str) -> None:
    with pytest.raises(NotAPlan):
        decoded(text)


_Place = tuple[int, ...]


def _paths(value: Any, path: _Place = ()) -> Iterator[_Place]:
    """Where the values inside are, by their positions."""
    for position, item in enumerate(value if isinstance(value, list) else ()):
        yield (*path, position)
        yield from _paths(item, (*path, position))


def _at(value: Any, path: _Place) -> Any:
    for position in path:
        value = value[position]
    return value


def _with(value: Any, path: _Place, item: object) -> Any:
    copy = deepcopy(value)
    _at(copy, path[:-1])[path[-1]] = item
    return copy


def _refused(value: Any) -> None:
    with pytest.raises(NotAPlan):
        decoded(json.dumps(value))
