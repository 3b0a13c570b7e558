"""The view `<query>_current` over the table `current/<query>`: values with their types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from sqlglot import exp

from weir.answers.logs import Rows, register_table
from weir.compute.sql import alias, bigint, column, number, rows_of, select
from weir.lake.delta.bindings import Bindings
from weir.lake.lake import Lake
from weir.lake.tables import CURRENT
from weir.progress.completion import Completion
from weir.text.cells import finite
from weir.typed.column_type import TermType, term
from weir.typed.layout import Layout, TypedColumn, stored_type
from weir.typed.rows import cell_of

_INSTANT_0 = datetime(1970, 1, 1, tzinfo=UTC)


def typed_answer(
    bindings: Bindings, lake: Lake, query: str, completion: Completion
) -> exp.Select | None:
    """The rows of the table: values, weight, languages, exact terms; None if it is not complete."""
    layout = current_layout(completion, query)
    if layout is None:
        return None
    relation = f"{query} table"
    if not register_table(bindings, lake, CURRENT.name(query), relation):
        return None
    count = number(1) if layout.count is None else column(layout.count)
    taken = {name.lower() for name in layout.variables}
    values: list[exp.Expr] = [column(name) for name in layout.variables]
    values.append(alias(bigint(count), "weight"))
    values += [column(c.language) for c in layout.columns if c.language is not None]
    for position, own in enumerate(layout.columns):
        if f"{own.name}_term".lower() not in taken:
            function = f"term_of_{query}_{position}"
            _create_function(bindings, function, own.type)
            values.append(alias(_exact_term(own, function), f"{own.name}_term"))
    return select(*values, from_=rows_of(relation))


def current_layout(completion: Completion, query: str) -> Layout | None:
    """The columns of the table; None if there is none, or it does not equal the answer."""
    return completion.layout(query) if completion.follows(query) else None


def with_types(layout: Layout, rows: Rows) -> Rows:
    """Rows of exact terms with the values that the table has of them, as JSON can have them."""
    names, terms = rows
    types = layout.types
    columns = [
        cells if name not in types else tuple(_values(name, types[name], cells))
        for name, cells in zip(names, zip(*terms, strict=True), strict=False)
    ]
    return names, [*zip(*columns, strict=True)]


def _values(name: str, type_: TermType, terms: Iterable[str | None]) -> Iterator[object]:
    for term_ in terms:
        yield None if term_ is None else finite(cell_of(name, type_, term_).value)


def _exact_term(own: TypedColumn, function: str) -> exp.Expr:
    value: exp.Expr = column(own.name)
    if own.type.name == "timestamp":
        value = exp.func("epoch_us", value)
    language = exp.null() if own.language is None else column(own.language)
    said = exp.func(function, value, exp.cast(language, "VARCHAR"))
    return said if own.term is None else exp.func("coalesce", column(own.term), said)


def _create_function(bindings: Bindings, name: str, type_: TermType) -> None:
    """Create the function that gives the term of an exact cell of a column."""
    sql = "BIGINT" if type_.name == "timestamp" else str(stored_type(type_))
    sql = "VARCHAR" if sql == "STRING" else sql
    bindings.connection.create_function(  # type: ignore[call-overload]
        name, _terms_of(type_), [sql, "VARCHAR"], "VARCHAR", type="arrow", null_handling="special"
    )


def _terms_of(type_: TermType) -> Callable[[Any, Any], Any]:
    def terms(values: Any, languages: Any) -> Any:
        cells = zip(values.to_pylist(), languages.to_pylist(), strict=True)
        return pa.array(_terms(type_, cells), pa.string())

    return terms


def _terms(type_: TermType, cells: Any) -> Iterator[str | None]:
    for value, language in cells:
        if value is None:
            yield None
        elif type_.name == "timestamp":
            yield term(type_, _INSTANT_0 + timedelta(microseconds=value))
        else:
            yield term(type_, value, language)
