"""The columns of a table `current/<name>`: decided once, kept in the metadata of its commits."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self, assert_never

from weir.lake.tables import Column, ColumnType, Decimals, Table, current
from weir.typed.column_type import TermType


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """A variable of an answer in the table.

    Attributes:
        name: of the variable, and of the column with its values.
        type: of the values.
        language: the name of the column with languages; None while no value has one.
        term: the name of the column with exact terms; None while all terms follow from the values.
    """

    name: str
    type: TermType
    language: str | None = None
    term: str | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a table.

    count: the name of the column with multiplicities; None if the answer is a set.
    """

    columns: tuple[TypedColumn, ...]
    count: str | None

    @classmethod
    def of(cls, types: Mapping[str, TermType], *, is_set: bool) -> Self:
        """The columns for the variables of an answer, in order."""
        columns = tuple(TypedColumn(name, type_) for name, type_ in types.items())
        return cls(columns, None if is_set else _free("count", [*types]))

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the answer, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def types(self) -> Mapping[str, TermType]:
        """The type of each variable."""
        return {column.name: column.type for column in self.columns}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns: variables, count, then languages and exact terms."""
        return tuple(self._names())

    def with_columns(self, languages: Collection[str], terms: Collection[str]) -> Self:
        """With the columns that languages and exact terms of some variables need."""
        columns, taken = list[TypedColumn](), [*self.names]
        for column in self.columns:
            language, term = column.language, column.term
            if language is None and column.name in languages:
                language = _free(f"{column.name}_lang", taken)
                taken.append(language)
            if term is None and column.name in terms:
                term = _free(f"{column.name}_term", taken)
                taken.append(term)
            columns.append(replace(column, language=language, term=term))
        return replace(self, columns=tuple(columns))

    def table(
        self, query: str, comment: str = "", comments: Mapping[str, str] | None = None
    ) -> Table:
        """The table of a query.

        Args:
            query: its name.
            comment: what the answer is.
            comments: what columns are, by variable.
        """
        said = comments or {}
        columns = [
            Column(column.name, stored_type(column.type), said.get(column.name, ""))
            for column in self.columns
        ]
        if self.count is not None:
            columns.append(Column(self.count, "BIGINT", "how often the answer has the row"))
        for column in self.columns:
            if column.language is not None:
                of = f"language of {column.name}"
                columns.append(Column(column.language, "STRING", of))
            if column.term is not None:
                of = f"RDF term of {column.name}, where its value does not say it"
                columns.append(Column(column.term, "STRING", of))
        return current(query, tuple(columns), comment)

    def to_json(self) -> dict[str, Any]:
        """The form in metadata."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The layout of metadata."""
        columns = (
            TypedColumn(**{**column, "type": TermType(**column["type"])})
            for column in value["columns"]
        )
        return cls(tuple(columns), value["count"])

    def _names(self) -> Iterator[str]:
        yield from self.variables
        if self.count is not None:
            yield self.count
        for column in self.columns:
            yield from (name for name in (column.language, column.term) if name is not None)


def stored_type(type_: TermType) -> ColumnType:
    """The SQL type of a column."""
    match type_.name:
        case "integer":
            return "BIGINT"
        case "decimal":
            return Decimals(type_.scale)
        case "double":
            return "DOUBLE"
        case "boolean":
            return "BOOLEAN"
        case "date":
            return "DATE"
        case "timestamp":
            return "TIMESTAMP"
        case "text":
            return "STRING"
        case _:
            assert_never(type_.name)


def _free(name: str, taken: Sequence[str]) -> str:
    """The name, or a longer one if a column has it; names differ in more than case."""
    lower = {other.lower() for other in taken}
    while name.lower() in lower:
        name += "_"
    return name
