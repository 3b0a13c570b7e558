"""Rows of answers as the tables of pages have them: short JSON, from which cells are made."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final, TypeAlias

import pyarrow as pa

from weir.text.short_term import short_term

Cell: TypeAlias = str | int | float | bool | list[str] | None
"""A value; `[iri]`; `[text, language]`; None: not bound."""
_XSD: Final = "http://www.w3.org/2001/XMLSchema#"
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_CANONICAL: Final = re.compile(r"0|-?[1-9]\d*")
"""Integers that a number says whole: `007` is shown as it is."""
_EXACT: Final = 2**53
"""Integers from here on are not exact as numbers of JavaScript."""


def cell_rows(table: pa.Table, variables: Sequence[str]) -> Iterator[list[Cell]]:
    """The values of variables in each row, by columns of plain values and of exact terms."""
    columns = []
    for name in variables:
        values = table[name].to_pylist()
        term = f"{name}_term"
        has_terms = term in table.column_names and term not in variables
        terms = table[term].to_pylist() if has_terms else [None] * len(values)
        columns.append([_cell(*both) for both in zip(values, terms, strict=True)])
    rows: Iterator[tuple[Cell, ...]] = zip(*columns, strict=True)
    # Without columns, as of ASK, a row has nothing to show.
    yield from map(list, rows) if columns else ([] for _ in range(table.num_rows))


def column_heads(
    variables: Sequence[str], rows: Sequence[Sequence[Cell]], comments: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Name, comment, and whether all values are numbers, of each column."""
    heads = []
    for position, name in enumerate(variables):
        cells = [row[position] for row in rows if row[position] is not None]
        numeric = bool(cells) and all(_is_number(cell) for cell in cells)
        heads.append({"name": name, "comment": comments.get(name, ""), "numeric": numeric})
    return heads


def row_text(row: Sequence[Cell], prefixes: Mapping[str, str]) -> str:
    """A row in one line."""
    return " · ".join(cell_text(cell, prefixes) for cell in row if cell is not None)


def cell_text(cell: Cell, prefixes: Mapping[str, str]) -> str:
    """A cell as text; what is not bound is empty."""
    if cell is None:
        return ""
    if isinstance(cell, list):
        return short_term(f"<{cell[0]}>", prefixes) if len(cell) == 1 else cell[0]
    return str(cell)


def _cell(value: Any, term: str | None) -> Cell:
    if value is None:
        return None
    if term is not None and term.startswith("<"):
        return [term[1:-1]]
    if term is not None and term.startswith('"') and not term.endswith(('"', ">")):
        return [str(value), term.rpartition("@")[2]]
    match value:
        case bool():
            return value
        case int():
            return value if abs(value) < _EXACT else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case Decimal():
            return f"{value:f}"
        case datetime() | date() | time():
            return value.isoformat()
    text = str(value)
    datatype = (term or "").rpartition("^^<")[2][:-1]
    if datatype == f"{_XSD}integer" and len(text) < 16 and _CANONICAL.fullmatch(text):
        return int(text)
    return text


def _is_number(cell: Cell) -> bool:
    if isinstance(cell, bool) or cell is None or isinstance(cell, list):
        return False
    return isinstance(cell, int | float) or _NUMBER.fullmatch(cell) is not None
