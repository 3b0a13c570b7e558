"""Rows of terms as rows of a table with types: each distinct term is looked at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from weir.lake.delta.commit import arrow_type
from weir.typed.column_type import Cell, Misfit, TermType, cell, decide, pinned
from weir.typed.layout import Layout, stored_type


@dataclass(slots=True, eq=False)
class WrongType(Exception):  # noqa: N818  (named after what is wrong)
    """A value that does not fit the type of its column."""

    column: str
    term: str
    type: TermType
    reason: str

    def __str__(self) -> str:
        return f"?{self.column} is {self.type}, and {self.term} does not fit: {self.reason}"


def decided_types(
    rows: pa.Table, pins: Mapping[str, TermType], quotients: Collection[str] = ()
) -> dict[str, TermType]:
    """The types of the columns of an answer, from its terms.

    Args:
        rows: a column of terms per variable.
        pins: what the front matter says.
        quotients: columns that the query computes by AVG or division: their numbers are doubles, as
            a later one may have more digits than any decimal.

    Raises:
        WrongType: a term does not fit a type of the front matter.
    """
    types = {}
    for name in rows.column_names:
        terms = distinct(rows[name])
        pin = pins.get(name)
        try:
            types[name] = decide(terms, pin)
            if pin is None and name in quotients and types[name].is_exact_number:
                types[name] = decide(terms, pinned("double"))
        except Misfit:
            assert pin is not None, "only a type that is wanted is wrong"
            for term in terms:
                cell_of(name, pin, term)
            raise
    return types


def cell_of(name: str, type_: TermType, term: str) -> Cell:
    """The cell of a term in a column.

    Raises:
        WrongType: it does not fit the type.
    """
    try:
        return cell(type_, term)
    except Misfit as misfit:
        raise WrongType(name, term, type_, str(misfit)) from None


def distinct(column: Any) -> list[str]:
    """The terms of a column, each once."""
    return [str(term) for term in pc.unique(column.drop_null()).to_pylist()]


def typed_rows(
    layout: Layout, rows: pa.Table, arrow_types: Mapping[str, pa.DataType]
) -> tuple[Layout, pa.Table]:
    """The rows of a table, and its layout with the columns that they need.

    Args:
        layout: of the table.
        rows: a column of terms per variable, and `weight`.
        arrow_types: the Arrow type of each variable.

    Raises:
        WrongType: a term does not fit the type of its column.
    """
    values, languages, terms = dict[str, Any](), dict[str, Any](), dict[str, Any]()
    for column in layout.columns:
        cells = _cells(column.name, column.type, rows[column.name])
        values[column.name] = cells.values(arrow_types[column.name])
        languages[column.name], terms[column.name] = cells.languages(), cells.terms()
    layout = layout.with_columns(
        {name for name, column in languages.items() if column is not None},
        {name for name, column in terms.items() if column is not None},
    )
    arranged = {**values}
    if layout.count is not None:
        arranged[layout.count] = rows["weight"].cast(pa.int64())
    nothing = pa.nulls(rows.num_rows, pa.string())
    for column in layout.columns:
        for name, of in ((column.language, languages), (column.term, terms)):
            if name is not None:
                arranged[name] = nothing if of[column.name] is None else of[column.name]
    return layout, pa.table(arranged)


def typed_state(layout: Layout, rows: pa.Table) -> tuple[Layout, pa.Table]:
    """Rows with variables and `weight` as rows of a table, and the layout that they need.

    Raises:
        WrongType: a term does not fit the type of its column.
    """
    types = {name: arrow_type(stored_type(type_)) for name, type_ in layout.types.items()}
    return typed_rows(layout, rows, types)


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells of a column: those of distinct terms, and which of them each row has."""

    distinct: list[tuple[str, Cell]]
    indices: Any

    def values(self, type_: pa.DataType) -> Any:
        return self._taken([own.value for _, own in self.distinct], type_)

    def languages(self) -> Any:
        """None if there are none."""
        return self._texts([own.language for _, own in self.distinct])

    def terms(self) -> Any:
        """The terms that their values do not say; None if there are none."""
        return self._texts([None if own.is_exact else term for term, own in self.distinct])

    def _texts(self, texts: list[str | None]) -> Any:
        if all(text is None for text in texts):
            return None
        return self._taken(texts, pa.string())

    def _taken(self, values: list[Any], type_: pa.DataType) -> Any:
        return pa.array(values, type_).take(self.indices)


def _cells(name: str, type_: TermType, column: Any) -> _Cells:
    encoded: Any = column.combine_chunks().dictionary_encode()
    terms = encoded.dictionary.to_pylist()
    return _Cells([(term, cell_of(name, type_, term)) for term in terms], encoded.indices)
