"""Columns of terms as columns with types."""

from __future__ import annotations

import pyarrow as pa
import pytest

from weir.rdf.terms import literal
from weir.sparql.functions.values import XSD
from weir.typed.column_type import pinned
from weir.typed.layout import Layout
from weir.typed.rows import decided_types, typed_state


def numbers(*lexical: str, datatype: str = "decimal") -> pa.Table:
    terms = [literal(text, datatype=f"{XSD}{datatype}") for text in lexical]
    return pa.table({"m": terms, "weight": [1] * len(terms)})


@pytest.mark.parametrize("first", [numbers("25.5"), numbers("25", datatype="integer")])
def test_a_quotient_of_more_digits_than_the_first_ones_fits(first: pa.Table) -> None:
    types = decided_types(first.select(["m"]), {}, {"m"})
    later = numbers("32.66666666666666666666666667")
    layout, rows = typed_state(Layout.of(types, is_set=True), later)
    assert rows["m"].to_pylist() == [32.666666666666664]
    (column,) = layout.columns
    assert column.term is not None
    assert rows[column.term].to_pylist() == later["m"].to_pylist()


def test_a_type_of_the_front_matter_comes_first() -> None:
    types = decided_types(numbers("25.5").select(["m"]), {"m": pinned("decimal(2)")}, {"m"})
    assert str(types["m"]) == "decimal(2)"


def test_texts_of_a_quotient_stay_texts() -> None:
    rows = pa.table({"m": [literal("none")]})
    assert str(decided_types(rows, {}, {"m"})["m"]) == "text"
