"""Relations: how their rows are stored, and the queries that make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlglot import exp

from weir.compute.sql import any_of, column, columns, is_null, rows_of, select, semi_join, subquery

if TYPE_CHECKING:
    import pyarrow as pa

Keep = Literal["view", "cache", "small", "broadcast"]
"""How the rows of a relation are stored.

`view`: computed where it is read; `cache`: computed once; `small`: once and in one partition;
`broadcast`: like `small`, and sent to every reader.
"""


@dataclass(frozen=True, slots=True)
class Statement:
    """A relation.

    Attributes:
        name: of the relation.
        select: the query that makes it.
        keep: how its rows are stored.
        changes: relations without whose rows it has none itself; nothing is known if there are
            none.
    """

    name: str
    select: exp.Query
    keep: Keep = "view"
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A relation of rows of this process."""

    name: str
    rows: pa.Table


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table of the lake, or some of its rows, as a relation.

    Attributes:
        name: of the relation; unique among all queries that run at the same time.
        table: name of the table in the lake.
        version: of the table; None for the newest.
        where: condition of the rows; None for all rows.
    """

    name: str
    table: str
    version: int | None = None
    where: exp.Expr | None = None


@dataclass(frozen=True, slots=True)
class Lookup:
    """A relation of the rows of a stored log of terms that have some values.

    Attributes:
        name: of the relation.
        table: name of the log, in its newest version.
        key: the columns whose values are wanted.
        wanted: rows of their values.
        null_is_any: whether a null in the last column stands for any value.
        whole: the relation of all rows. If it is not the log as it is stored, as on an axis of
            instants, no index has its rows. None if the log itself is meant.
    """

    name: str
    table: str
    key: tuple[str, ...]
    wanted: exp.Query
    null_is_any: bool = False
    whole: str | None = None

    def scan(self, relation: str, names: Sequence[str] | None = None) -> exp.Select:
        """The rows of a relation that have wanted values, without an index.

        Args:
            relation: has the columns of the log.
            names: the columns that are read; None for all.
        """
        wanted = self.wanted.named_selects
        pairs = zip(self.key, wanted, strict=True)
        on: list[exp.Expr] = [column(own, "t").eq(column(name, "k")) for own, name in pairs]
        if self.null_is_any:
            on[-1] = any_of([is_null(column(wanted[-1], "k")), on[-1]])
        return select(
            *(["*"] if names is None else columns(names, "t")),
            from_=rows_of(relation, "t"),
            joins=[semi_join(subquery(self.wanted.copy(), "k"), *on)],
        )


@dataclass(frozen=True, slots=True)
class StoredTables:
    """Several tables of the lake as one relation.

    Attributes:
        name: of the relation.
        key: the column that says which table a row belongs to.
        tables: by the value of `key`; their `where` only decides which files are skipped.
        columns: the other columns; null where a table lacks one.
    """

    name: str
    key: str
    tables: Mapping[str, StoredTable]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LakeQuery:
    """A SELECT and the stored tables that it reads."""

    select: exp.Query
    tables: tuple[StoredTable, ...]
