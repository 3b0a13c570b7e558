"""Rows of answers as JSON of pages."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from weir.site.cells import Cell, cell_rows, column_heads, row_text

XSD = "http://www.w3.org/2001/XMLSchema#"


def cell(value: Any, term: str | None) -> Cell:
    table = pa.table({"x": [value], "x_term": pa.array([term], pa.string())})
    ((only,),) = cell_rows(table, ["x"])
    return only


@pytest.mark.parametrize(
    ("value", "term", "expected"),
    [
        (None, None, None),
        ("http://a/b", "<http://a/b>", ["http://a/b"]),
        ("Vase", '"Vase"@en', ["Vase", "en"]),
        ("Vase", '"Vase"@en--ltr', ["Vase", "en--ltr"]),
        ("a@b", '"a@b"', "a@b"),
        ('say "a"@en', '"say \\"a\\"@en"', 'say "a"@en'),
        ("b0", "_:b0", "b0"),
        (42, f'"42"^^<{XSD}integer>', 42),
        ("42", f'"42"^^<{XSD}integer>', 42),
        ("007", f'"007"^^<{XSD}integer>', "007"),
        ("1.5", f'"1.5"^^<{XSD}integer>', "1.5"),
        (2**53, f'"{2**53}"^^<{XSD}integer>', str(2**53)),
        ("9" * 30, f'"{"9" * 30}"^^<{XSD}integer>', "9" * 30),
        (Decimal("1200.50"), f'"1200.50"^^<{XSD}decimal>', "1200.50"),
        (Decimal("1E+3"), f'"1000"^^<{XSD}decimal>', "1000"),
        (True, f'"true"^^<{XSD}boolean>', True),
        (float("inf"), f'"INF"^^<{XSD}double>', "inf"),
        (0.5, f'"0.5"^^<{XSD}double>', 0.5),
    ],
)
def test_a_value_is_a_cell(value: Any, term: str | None, expected: Cell) -> None:
    assert cell(value, term) == expected
    assert type(cell(value, term)) is type(expected)


def test_a_row_without_columns_has_no_cells() -> None:
    assert [*cell_rows(pa.table({"weight": [1]}), [])] == [[]]


def test_a_variable_that_is_named_like_a_term_is_a_variable() -> None:
    table = pa.table({"x": ["a"], "x_term": ["b"], "x_term_term": ['"b"']})
    assert [*cell_rows(table, ["x", "x_term"])] == [["a", "b"]]


def test_a_column_is_numeric_if_all_its_values_are_numbers() -> None:
    rows: list[list[Cell]] = [[1, "1.50", "a", True, None], ["-2e3", 3, 4, False, None]]
    heads = column_heads("abcde", rows, {"b": "in euros"})
    assert [head["numeric"] for head in heads] == [True, True, False, False, False]
    assert heads[1]["comment"] == "in euros"


def test_a_row_in_one_line_has_short_names_and_no_unbound_values() -> None:
    row: list[Cell] = [["http://a/b"], ["Vase", "en"], None, 7]
    assert row_text(row, {"ex": "http://a/"}) == "ex:b · Vase · 7"
