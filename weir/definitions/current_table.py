"""What a definition says of its table `current/<name>`: types, comments, and if there is one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field

from weir.checks.declared import Check, Entry, Names, checks_of
from weir.definitions.front_matter import FrontMatter, Head
from weir.errors import ConfigurationError
from weir.lake.tables import CURRENT
from weir.text.near import meant
from weir.typed.column_type import TermType, pinned

CHANGE = "change"
"""The column of what happened to a row, in the view of the changes of an answer with a key."""


def _is_type(text: str) -> str:
    pinned(text)
    return text


class TableFrontMatter(FrontMatter):
    """The keys of a definition about its table; every kind has them."""

    materialize: Literal["current", "none"] = Field(
        "current",
        description="whether there is a table `current/<name>` with the answer as it is now",
    )
    types: dict[str, Annotated[str, AfterValidator(_is_type)]] = Field(
        {},
        description="types of columns of this table, such as `{age: integer, born: date}`; others"
        " are those of its first values",
    )
    columns: dict[str, str] = Field({}, description="what columns are, one sentence each")
    key: Names | tuple[()] = Field(
        (),
        description="columns that identify a row: no two rows have the same values there, and"
        " changes of one row are [updates](types.md#updates)",
    )
    checks: tuple[Entry, ...] = Field(
        (), description="[checks](checks.md) of the answer: `[{type: ..., kwargs: {...}}]`"
    )


AnyTable = TypeVar("AnyTable", bound=TableFrontMatter)
AnyFrontMatter = TypeVar("AnyFrontMatter", bound=FrontMatter)


@dataclass(frozen=True, slots=True)
class CurrentTable:
    """The table `current/<name>` of a definition.

    Attributes:
        is_wanted: whether there is one.
        pins: the types that the front matter names, by variable.
        comment: what the answer is, or empty.
        comments: what columns are, by variable.
        key: the columns that identify a row; none if they are not known.
    """

    is_wanted: bool = True
    pins: Mapping[str, TermType] = field(default_factory=dict)
    comment: str = ""
    comments: Mapping[str, str] = field(default_factory=dict)
    key: tuple[str, ...] = ()

    @classmethod
    def of(cls, said: TableFrontMatter) -> CurrentTable:
        """The table of a definition with a front matter."""
        pins = {name: pinned(text) for name, text in said.types.items()}
        wanted = said.materialize == "current"
        return cls(wanted, pins, said.description, said.columns, said.key)


def no_tables(name: str) -> tuple[str, str]:
    """That a definition has no table as the project has none, and what to do, for messages."""
    return (
        f"there is no table {CURRENT.name(name)}, as limits.current_rows is 0",
        "Set `current_rows` under [limits] in weir.toml: `current_rows = 100000`, for instance.",
    )


def check_columns(head: Head[AnyTable], columns: Collection[str]) -> None:
    """Check that the front matter names columns of the answer, and its checks expectations.

    Raises:
        ConfigurationError: the answer has no such column, or a check is wrong; with the line.
    """
    said = head.values
    for key, named in (("types", said.types), ("columns", said.columns), ("key", said.key)):
        for name in named:
            if name not in columns:
                line, _ = head.places.get((key, name), head.places[key,])
                hint = f"{meant(name, columns)}Its columns are {', '.join(columns)}."
                what = f"{key}: the answer has no column {name}"
                raise ConfigurationError(what, f"{head.file}:{line}", hint)
    if said.key and (rival := next((name for name in columns if name.lower() == CHANGE), None)):
        what = f"key: its column {rival} would be named like what happens to a row"
        raise ConfigurationError(what, head.place(("key",)), "Rename the column.")
    checks_of_head(head.values.checks, head, columns, CurrentTable.of(said).pins)


def checks_of_head(
    entries: Sequence[Entry],
    head: Head[AnyFrontMatter],
    columns: Collection[str],
    pins: Mapping[str, TermType],
) -> tuple[Check, ...]:
    """The checks that front matter declares.

    Raises:
        ConfigurationError: as of `checks_of`.
    """
    return checks_of(entries, lambda path: head.place(("checks", *map(str, path))), columns, pins)
