"""Which type a column has, and what a term is in it: the rules of docs/types.md."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.typed.column_type import (
    UNDECIDED,
    Cell,
    Misfit,
    TermType,
    cell,
    decide,
    pinned,
    term,
)
from weir.typed.layout import Layout
from weir.typed.rows import typed_rows

XSD = "http://www.w3.org/2001/XMLSchema#"
IRI, BLANK = "<http://a/b>", "_:b"


def typed(lexical: object, datatype: str) -> str:
    return f'"{lexical}"^^<{XSD}{datatype}>'


@pytest.mark.parametrize(
    ("terms", "type_", "datatype"),
    [
        ([typed(1, "integer")], "integer", "integer"),
        ([typed(1, "int"), typed(2, "int")], "integer", "int"),
        ([typed(1, "int"), typed(2, "integer"), typed(3, "integer")], "integer", "integer"),
        ([typed(-(2**63), "integer"), typed(2**63 - 1, "long")], "integer", "integer"),
        ([typed(2**63, "integer")], "decimal(0)", "integer"),
        ([typed("9" * 38, "integer")], "decimal(0)", "integer"),
        ([typed("9" * 39, "integer")], "text", "integer"),
        ([typed("1.5", "decimal")], "decimal(2)", "decimal"),
        ([typed("1.500", "decimal")], "decimal(2)", "decimal"),
        ([typed("0.001", "decimal")], "decimal(4)", "decimal"),
        ([typed("0.00001", "decimal"), typed(7, "integer")], "decimal(9)", "decimal"),
        ([typed("0." + "1" * 25, "decimal")], "decimal(25)", "decimal"),
        ([typed("0." + "1" * 39, "decimal")], "text", "decimal"),
        ([typed("9" * 37 + ".5", "decimal")], "decimal(1)", "decimal"),
        ([typed("1.5E0", "double"), typed("2", "integer")], "double", "double"),
        ([typed("1.5", "float")], "double", "float"),
        ([typed("true", "boolean"), typed("0", "boolean")], "boolean", "boolean"),
        ([typed("2026-01-31", "date")], "date", "date"),
        ([typed("10000-01-01", "date")], "text", "date"),
        ([typed("2026-01-31T00:00:00Z", "dateTime")], "timestamp", "dateTime"),
        ([typed("-0044-03-15T12:00:00Z", "dateTime")], "text", "dateTime"),
        ([typed("2026", "gYear")], "text", "gYear"),
        ([typed("P1D", "duration")], "text", "duration"),
        ([typed("x", "integer")], "text", "integer"),
        ([typed("x", "integer"), typed(1, "integer")], "integer", "integer"),
        ([typed(300, "byte"), typed(1, "byte")], "integer", "byte"),
    ],
)
def test_the_values_of_one_kind_decide_the_type(
    terms: list[str], type_: str, datatype: str
) -> None:
    decided = decide(terms)
    assert (str(decided), decided.datatype) == (type_, f"{XSD}{datatype}")


@pytest.mark.parametrize(
    ("terms", "datatype"),
    [
        ([IRI, BLANK], ""),
        (['"x"', '"x"@en'], f"{XSD}string"),
        ([IRI, '"x"'], f"{XSD}string"),
        ([typed(1, "integer"), '"x"', '"y"'], f"{XSD}string"),
        ([typed(1, "integer"), typed("2026-01-01", "date")], f"{XSD}date"),
        (['"x"^^<http://a/own>'], "http://a/own"),
    ],
)
def test_everything_else_is_text(terms: list[str], datatype: str) -> None:
    decided = decide(terms)
    assert (str(decided), decided.datatype) == ("text", datatype)


def test_a_column_without_values_is_undecided() -> None:
    assert decide([]) == UNDECIDED


def test_zeros_at_the_end_of_a_decimal_are_no_digits() -> None:
    one = typed("1." + "0" * 40, "decimal")
    rows = pa.table({"x": [one], "weight": [1]})
    layout = Layout.of({"x": decide([one])}, is_set=True)
    _, typed_ = typed_rows(layout, rows, {"x": pa.decimal128(38, 2)})
    assert typed_["x"].to_pylist() == [1]
    assert typed_["x_term"].to_pylist() == [one]


@pytest.mark.parametrize(
    ("type_", "term", "value", "is_exact"),
    [
        ("integer", typed("007", "integer"), 7, False),
        ("integer", typed(7, "int"), 7, False),
        ("integer", typed("x", "integer"), None, False),
        ("decimal(2)", typed("1.50", "decimal"), Decimal("1.5"), False),
        ("decimal(2)", typed("1.5", "decimal"), Decimal("1.5"), True),
        ("decimal(2)", typed("-0.0", "decimal"), Decimal(0), False),
        ("double", typed("1.5E0", "double"), 1.5, True),
        ("double", typed("1.5", "double"), 1.5, False),
        ("double", typed("INF", "double"), float("inf"), True),
        ("double", typed("-0.0E0", "double"), 0.0, False),
        ("double", typed("0.1", "decimal"), 0.1, False),
        ("boolean", typed("1", "boolean"), True, False),
        ("boolean", typed("false", "boolean"), False, True),
        ("date", typed("2026-01-31", "date"), date(2026, 1, 31), True),
        ("date", typed("2026-01-31Z", "date"), date(2026, 1, 31), False),
        ("date", typed("2026-02-31", "date"), None, False),
        (
            "timestamp",
            typed("2026-01-01T01:00:00+02:00", "dateTime"),
            datetime(2025, 12, 31, 23, tzinfo=UTC),
            False,
        ),
        (
            "timestamp",
            typed("2026-01-01T01:00:00.5Z", "dateTime"),
            datetime(2026, 1, 1, 1, 0, 0, 500_000, UTC),
            True,
        ),
        (
            "timestamp",
            typed("2026-01-01T01:00:00.1234567Z", "dateTime"),
            datetime(2026, 1, 1, 1, 0, 0, 123_456, UTC),
            False,
        ),
        (
            "timestamp",
            typed("2026-01-01T24:00:00Z", "dateTime"),
            datetime(2026, 1, 2, tzinfo=UTC),
            False,
        ),
        ("text", IRI, "http://a/b", False),
        ("text", '"x"', "x", True),
        ("text", typed("2026", "gYear"), "2026", False),
    ],
)
def test_a_term_is_a_value_and_exact_if_it_is_canonical(
    type_: str, term: str, value: object, is_exact: bool
) -> None:
    assert cell(pinned(type_), term) == Cell(value, None, is_exact)  # type: ignore[arg-type]


def test_a_text_has_its_language() -> None:
    assert cell(pinned("text"), '"x"@en-gb') == Cell("x", "en-gb", True)


def test_times_without_a_zone_are_exact_where_most_have_none() -> None:
    local, utc = typed("2026-01-01T00:00:00", "dateTime"), typed("2026-01-01T00:00:00Z", "dateTime")
    decided = decide([local])
    assert cell(decided, local) == Cell(datetime(2026, 1, 1, tzinfo=UTC), None, True)
    assert not cell(decided, utc).is_exact


@pytest.mark.parametrize(
    ("type_", "term", "reason"),
    [
        ("integer", '"x"', "it is a text"),
        ("integer", IRI, "it is an IRI"),
        ("integer", typed("1.5", "decimal"), "it is of the datatype xsd:decimal"),
        ("integer", typed(2**63, "integer"), "it has more than 64 bits"),
        ("decimal(2)", typed("0.123", "decimal"), "it has 3 digits after the point"),
        ("decimal(2)", typed("9" * 37, "integer"), "it has 37 digits before the point"),
        ("decimal(2)", typed("1E0", "double"), "it is of the datatype xsd:double"),
        ("double", typed("1" * 400, "integer"), "no double is so large"),
        ("date", typed("2026-01-01T00:00:00Z", "dateTime"), "it is of the datatype xsd:dateTime"),
        ("date", typed("-0044-03-15", "date"), "its year is not within 1 and 9999"),
        ("timestamp", typed("0001-01-01T00:00:00+14:00", "dateTime"), "its year is not within"),
        ("boolean", typed(1, "integer"), "it is of the datatype xsd:integer"),
    ],
)
def test_other_terms_do_not_fit(type_: str, term: str, reason: str) -> None:
    with pytest.raises(Misfit, match=reason):
        cell(pinned(type_), term)


def test_a_pin_keeps_its_type_and_takes_the_datatype_of_the_values() -> None:
    assert decide([typed(1, "int")], pin=pinned("integer")).datatype == f"{XSD}int"
    assert decide([typed(1, "integer")], pin=pinned("double")).name == "double"
    with pytest.raises(Misfit):
        decide(['"x"'], pin=pinned("date"))


@pytest.mark.parametrize("text", ["number", "decimal(39)", "integer(3)", "", "decimal()", "Date"])
def test_other_names_are_no_types(text: str) -> None:
    with pytest.raises(ValueError, match="is no type"):
        pinned(text)


_LEXICAL = st.sampled_from(
    ["0", "1", "-1", "007", "1.5", "1.50", "1.0E3", "-0.0E0", "INF", "NaN", "x", "2026-01-01"]
)
_DATATYPES = st.sampled_from(["integer", "int", "decimal", "double", "boolean", "date", "string"])
_TERMS = st.builds(typed, _LEXICAL, _DATATYPES.filter(lambda name: name != "string"))
_ANY = _TERMS | st.sampled_from([IRI, BLANK, '"x"', '"x"@en', '"\\n\\\\"'])


@given(st.sets(_ANY, min_size=1))
def test_terms_fit_the_type_that_they_decide(terms: set[str]) -> None:
    decided = decide(terms)
    assert decide(sorted(terms, reverse=True)) == decided
    for own in terms:
        cell(decided, own)


@given(st.sets(_ANY, min_size=1))
def test_the_term_of_an_exact_cell_follows_from_it(terms: set[str]) -> None:
    decided: TermType = decide(terms)
    cells = [(one, cell(decided, one)) for one in sorted(terms)]
    for one, own in cells:
        if own.is_exact:
            assert own.value is not None
            assert term(decided, own.value, own.language) == one
