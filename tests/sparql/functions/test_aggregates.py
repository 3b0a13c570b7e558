"""The set functions: laws, comparison with pyoxigraph, examples of the specification."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.rdf import terms
from weir.sparql.functions.aggregates import aggregate
from weir.sparql.functions.ordering import sort_key
from weir.sparql.functions.values import Number, parse

_X = "http://www.w3.org/2001/XMLSchema#"
_NAMES = ("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT")


def _literal(value: object, kind: str) -> str:
    return terms.literal(str(value), f"{_X}{kind}")


_integers = st.integers(-(10**6), 10**6).map(lambda i: _literal(i, "integer"))
_decimals = st.decimals(-1000, 1000, places=2, allow_nan=False).map(
    lambda d: _literal(f"{d:f}", "decimal")
)
# Sums of these are exact in any order, so that the oracle's order does not matter.
_doubles = st.integers(-64, 64).map(lambda i: _literal(i / 8, "double"))
_numbers = _integers | _decimals | _doubles
_strings = st.sampled_from(["a", "b", "", "é"]).map(terms.literal)
_others = st.sampled_from(["<u:a>", "_:b", '"x"@en', f'"zz"^^<{_X}integer>'])
_terms = _numbers | _strings | _others
_values = st.lists(st.tuples(st.none() | _terms, st.integers(0, 3)), max_size=6)


@pytest.mark.parametrize("name", _NAMES)
@given(values=_values, seed=st.randoms())
def test_the_order_of_the_values_does_not_matter(
    name: str,
    values: list[tuple[str | None, int]],
    seed: Random,
) -> None:
    shuffled = list(values)
    seed.shuffle(shuffled)
    assert aggregate(name, shuffled, ",") == aggregate(name, values, ",")


@pytest.mark.parametrize("name", _NAMES)
@given(values=_values)
def test_a_multiplicity_is_that_many_equal_values(
    name: str, values: list[tuple[str | None, int]]
) -> None:
    spread = [(term, 1) for term, count in values for _ in range(count)]
    assert aggregate(name, values) == aggregate(name, spread)


@pytest.mark.parametrize("name", ["COUNT", "SUM", "AVG", "GROUP_CONCAT"])
@given(values=st.lists(_numbers | _others, max_size=5) | st.lists(_strings, max_size=5))
def test_pyoxigraph_gives_the_same_value(name: str, values: list[str]) -> None:
    # VALUES has no blank nodes; pyoxigraph keeps a language that all texts have, and fails
    # agg-groupconcat-6 of the W3C.
    plain = (v for v in values if v[0] != "_" and not v.endswith("@en"))
    given_values = sorted(plain, key=lambda v: (sort_key(v), v))
    value = aggregate(name, list(Counter(given_values).items()))
    assert _comparable(value) == _comparable(_pyoxigraph(name, given_values))


@pytest.mark.parametrize("name", ["MIN", "MAX"])
@given(values=st.lists(_numbers, min_size=1, max_size=5) | st.lists(_strings, max_size=5))
def test_pyoxigraph_finds_the_same_extreme(name: str, values: list[str]) -> None:
    value, expected = aggregate(name, [(v, 1) for v in values]), _pyoxigraph(name, values)
    assert sort_key(value) == sort_key(expected)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COUNT", _literal(0, "integer")),
        ("SUM", _literal(0, "integer")),
        ("AVG", _literal(0, "integer")),
        ("GROUP_CONCAT", '""'),
        ("MIN", None),
        ("MAX", None),
        ("SAMPLE", None),
    ],
)
def test_an_aggregate_of_no_values_is_as_specified(name: str, value: str | None) -> None:
    assert aggregate(name, []) == value
    assert aggregate(name, [("<u:gone>", 0)]) == value


@pytest.mark.parametrize("name", ["SUM", "AVG", "MIN", "MAX", "GROUP_CONCAT"])
def test_an_error_among_the_values_is_an_error(name: str) -> None:
    assert aggregate(name, [('"a"', 1), (None, 1)]) is None


def test_count_and_sample_ignore_errors() -> None:
    assert aggregate("COUNT", [("<u:a>", 2), (None, 5)]) == _literal(2, "integer")
    assert aggregate("SAMPLE", [("<u:b>", 1), (None, 1), ("<u:a>", 1)]) == "<u:a>"


def test_among_equal_extremes_the_text_decides() -> None:
    one, other = _literal(1, "integer"), _literal("1.0", "decimal")
    assert aggregate("MIN", [(one, 1), (other, 1)]) == min(one, other)
    assert aggregate("MAX", [(one, 1), (other, 1)]) == max(one, other)


@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8))
def test_a_sum_of_doubles_is_the_nearest_to_the_exact_sum(values: list[float]) -> None:
    total = aggregate("SUM", [(_literal(repr(v), "double"), 1) for v in [*values, 0.0]])
    assert total is not None
    number = parse(total)
    assert isinstance(number, Number)
    try:
        assert number.value == float(sum(map(Fraction, values)))
    except OverflowError:
        assert number.value in (float("inf"), float("-inf"))


def test_infinities_of_both_signs_have_no_sum() -> None:
    infinite = [(_literal(text, "double"), 1) for text in ("INF", "-INF", "1")]
    assert aggregate("SUM", infinite) == _literal("NaN", "double")
    assert aggregate("SUM", infinite[:1]) == _literal("INF", "double")


def test_concatenated_texts_are_in_sparqls_order_and_without_language() -> None:
    values = [('"b"@en', 1), ('"c"', 1), ('"a"', 2)]
    assert aggregate("GROUP_CONCAT", values, "|") == '"a|a|c|b"'


def _pyoxigraph(name: str, values: list[str]) -> str | None:
    results = ox.Store().query(
        f"SELECT ({name}(?x) AS ?value) {{ VALUES ?x {{ {' '.join(values)} }} }}"
    )
    assert isinstance(results, ox.QuerySolutions)
    (solution,) = results
    return None if solution["value"] is None else str(solution["value"])


def _comparable(term: str | None) -> object:
    """Numbers by value: pyoxigraph has other canonical forms, and decimals of 18 digits."""
    value = None if term is None else parse(term)
    if not isinstance(value, Number):
        return term
    return value.type, round(float(value.value), 9)
