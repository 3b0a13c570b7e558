"""The expectations that a check may name, each with its arguments.

Names, arguments and meaning are those of Great Expectations; the last two, about what one epoch
changes, are Weir's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from duckdb import StatementType
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from weir.checks.values import Plain
from weir.text.near import meant

CURRENT, DELTA = "current", "delta"
_RELATIONS = {CURRENT: CURRENT, DELTA: DELTA, "batch": CURRENT}
"""What stands in braces in a query, and which relation it is; `batch` is Great Expectations'."""
_BRACES = re.compile(r"\{(\w*)\}")

KeyPath = tuple[str | int, ...]
"""Where an argument is, or an entry of one."""
Reads = Literal["rows", "answer", "delta"]


def _plain(value: object) -> object:
    if not isinstance(value, bool | int | float | Decimal | str | date):
        raise ValueError("write a number, a text, true, false, a date or a time")
    return value


def _regex(text: str) -> str:
    try:
        pc.match_substring_regex(pa.array([""]), text)
    except pa.ArrowInvalid as error:
        reason = str(error).partition(": ")[2] or str(error)
        raise ValueError(f"it is no regular expression of RE2: {reason}") from None
    return text


def _one_select(text: str) -> str:
    for name in _BRACES.findall(text):
        if name not in _RELATIONS:
            raise ValueError(f"{{{name}}} is unknown. {meant(name, _RELATIONS)}".strip())
    try:
        statements = duckdb.extract_statements(with_relations(text))
    except duckdb.ParserException as error:
        raise ValueError(f"it is no SQL of DuckDB: {str(error).splitlines()[0]}") from None
    if [statement.type for statement in statements] != [StatementType.SELECT]:
        raise ValueError("write one SELECT")
    return text


def with_relations(query: str) -> str:
    """A query with names of relations in place of `{current}` and `{delta}`."""
    return _BRACES.sub(lambda match: f'"{_RELATIONS[match[1]]}"', query)


PlainArgument = Annotated[Any, BeforeValidator(_plain)]
Mostly = Annotated[
    float, Field(ge=0, le=1, description="the share of the values that has to meet it")
]


class Arguments(BaseModel):
    """The arguments of an expectation.

    reads: `rows`: whether it holds for a row depends on this row alone; `answer`: on the whole
        answer; `delta`: on what changes.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @property
    def reads(self) -> Reads:
        """What decides it."""
        return "answer"

    @property
    def columns(self) -> Mapping[KeyPath, str]:
        """The columns of the answer that it names, by the path of the argument."""
        return self.columns_in(dict(self))

    @property
    def label(self) -> str:
        """What it is about, for a name."""
        return "_".join(self.columns.values())

    @classmethod
    def columns_in(cls, arguments: Mapping[str, Any]) -> Mapping[KeyPath, str]:
        """The columns of the answer that arguments name, though others of them may be wrong."""
        several = arguments.get("column_list")
        named: dict[KeyPath, Any] = {("column",): arguments.get("column")}
        if isinstance(several, list | tuple):
            named |= {("column_list", i): name for i, name in enumerate(several)}
        return {
            path: name
            for path, name in named.items()
            if isinstance(name, str) and path[0] in cls.model_fields
        }

    @property
    def compared(self) -> Mapping[KeyPath, Plain]:
        """The arguments that values of the column are compared with."""
        return {}


class OfColumn(Arguments):
    """Arguments of an expectation about the values of a column."""

    column: str
    mostly: Mostly = 1.0

    @property
    def reads(self) -> Reads:
        """A share of all values depends on the whole answer."""
        return "rows" if self.mostly == 1 else "answer"


class NotNull(OfColumn):
    """No value is missing."""


class Unique(OfColumn):
    """No value is there twice."""

    @property
    def reads(self) -> Reads:
        """Other rows may have the value."""
        return "answer"


class _Bounds(Arguments):
    min_value: PlainArgument = None
    max_value: PlainArgument = None
    strict_min: bool = False
    strict_max: bool = False

    @model_validator(mode="after")
    def _has_a_bound(self) -> Self:
        if self.min_value is None and self.max_value is None:
            raise ValueError("write min_value, max_value or both")
        return self


class Between(OfColumn, _Bounds):
    """Values are within bounds, which belong to it unless they are strict."""

    @property
    def compared(self) -> Mapping[KeyPath, Plain]:
        """The bounds."""
        bounds = {"min_value": self.min_value, "max_value": self.max_value}
        return {(name,): bound for name, bound in bounds.items() if bound is not None}


class InSet(OfColumn):
    """Values are among some."""

    value_set: tuple[PlainArgument, ...] = Field(min_length=1)

    @property
    def compared(self) -> Mapping[KeyPath, Plain]:
        """The values."""
        return {("value_set", i): value for i, value in enumerate(self.value_set)}


class MatchRegex(OfColumn):
    """A part of each value matches a regular expression (of RE2, which takes linear time)."""

    regex: Annotated[str, AfterValidator(_regex)]


class CompoundUnique(Arguments):
    """No combination of values is there twice."""

    column_list: tuple[str, ...] = Field(min_length=1)
    ignore_row_if: Literal["all_values_are_missing", "any_value_is_missing", "never"] = (
        "all_values_are_missing"
    )


class RowCount(_Bounds):
    """The number of rows is within bounds."""

    min_value: int | None = None
    max_value: int | None = None


class UnexpectedRows(Arguments):
    """A query gives no row."""

    unexpected_rows_query: Annotated[str, AfterValidator(_one_select)]

    @property
    def reads(self) -> Reads:
        """The relations in braces."""
        of = {_RELATIONS[name] for name in _BRACES.findall(self.unexpected_rows_query)}
        return "delta" if of == {DELTA} else "answer"


class OfDelta(Arguments):
    """Arguments of an expectation about the rows that one epoch changes.

    rows: at most so many. percent: of the rows before the epoch, if there are any.
    """

    rows: int | None = Field(None, ge=0)
    percent: float | None = Field(None, ge=0)

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        if self.rows is None and self.percent is None:
            raise ValueError("write rows, percent or both")
        return self

    @property
    def reads(self) -> Reads:
        """What changes."""
        return "delta"


class Appearing(OfDelta):
    """Few rows appear in one epoch."""


class Vanishing(OfDelta):
    """Few rows vanish in one epoch."""


EXPECTATIONS: Mapping[str, type[Arguments]] = {
    "expect_column_values_to_not_be_null": NotNull,
    "expect_column_values_to_be_unique": Unique,
    "expect_column_values_to_be_between": Between,
    "expect_column_values_to_be_in_set": InSet,
    "expect_column_values_to_match_regex": MatchRegex,
    "expect_compound_columns_to_be_unique": CompoundUnique,
    "expect_table_row_count_to_be_between": RowCount,
    "UnexpectedRowsExpectation": UnexpectedRows,
    "expect_few_rows_to_appear": Appearing,
    "expect_few_rows_to_vanish": Vanishing,
}
"""The arguments by the name of the expectation."""
