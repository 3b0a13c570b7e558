"""What a table is: its columns, its Delta properties, and whose it is if there is one for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Decimals:
    """The SQL type of decimal numbers with `scale` digits after the point."""

    scale: int

    def __str__(self) -> str:
        return f"DECIMAL(38,{self.scale})"


SimpleType = Literal["STRING", "BIGINT", "INT", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP"]
ColumnType = SimpleType | Decimals


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its SQL type and what it holds."""

    name: str
    type: ColumnType
    comment: str


@dataclass(frozen=True, slots=True)
class Table:
    """One Delta table: its folder below the lake, its columns and its Delta properties.

    log_commits: how many commits its log keeps at least; older ones are deleted as new ones arise.
        None if only the properties limit them.
    """

    name: str
    comment: str
    columns: tuple[Column, ...]
    cluster_by: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    log_commits: int | None = None

    def __post_init__(self) -> None:
        names = [column.name.lower() for column in self.columns]
        if len(names) != len(set(names)):
            raise ValueError(f"table {self.name}: two columns have the same name: {names}")

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)


@dataclass(frozen=True, slots=True)
class TableFamily:
    """Tables of one layout in one folder of the lake, each named after what it is of.

    folder: the name of the folder. one_per: what there is one table for each of.
    """

    folder: str
    one_per: Literal["query", "stream", "remote"]

    def name(self, owner: str) -> str:
        """The name of the table of a query, a stream or a remote."""
        return f"{self.folder}/{owner}"


def split_name(table: str) -> tuple[str, str]:
    """The folder of the family of a table and what it is of, which is empty for a shared table."""
    folder, _, owner = table.partition("/")
    return folder, owner


FEED_LOG_DAYS, FEED_FILE_DAYS = 60, 30
"""How long the logs keep their commits and their removed files, if the configuration does not say.

A change feed is readable while both are there; the log goes last.
"""


def feed_retention(log_days: int, file_days: int) -> tuple[tuple[str, str], ...]:
    """Delta properties that keep commits and removed files for some days."""
    return (
        ("delta.logRetentionDuration", f"interval {log_days} days"),
        ("delta.deletedFileRetentionDuration", f"interval {file_days} days"),
    )


KEPT_HISTORY = (
    ("delta.enableChangeDataFeed", "true"),
    *feed_retention(FEED_LOG_DAYS, FEED_FILE_DAYS),
    ("delta.checkpointInterval", "20"),
)
# Every Delta reader can use a table without deletion vectors, column mapping and change feed.
READABLE = (("delta.enableDeletionVectors", "false"), ("delta.checkpointInterval", "20"))
# Read as they are now.
PLAIN = (*READABLE, ("delta.deletedFileRetentionDuration", "interval 1 days"))
# The newest commit of ours says how far the table is complete, however old it is.
MARKED = (*READABLE, ("delta.enableExpiredLogCleanup", "false"))

# What can be computed again, and is read as it is now.
SUMMARY = (
    ("delta.enableDeletionVectors", "false"),
    ("delta.checkpointInterval", "10"),
    ("delta.logRetentionDuration", "interval 1 days"),
    ("delta.deletedFileRetentionDuration", "interval 1 days"),
)

LOG_COMMITS = 1_000
"""Commits that the log of a table keeps whose earlier versions nobody reads."""

EPOCH = Column("epoch", "BIGINT", "transaction that asserted (+) or retracted (-) the row")
SIGN = Column("weight", "INT", "+1 asserted, -1 retracted")
SUBJECT = Column("subject", "STRING", "IRI or blank node, N-Triples form")
PREDICATE = Column("predicate", "STRING", "IRI, N-Triples form")
OBJECT = Column("object", "STRING", "RDF term, N-Triples form, in the one spelling of ingest")
TERM = "RDF term, N-Triples form; null = unbound"
GRAPH = Column(
    "graph", "STRING", "name of the graph: IRI, blank node, or empty for the default graph"
)
SOURCE = Column("source", "STRING", "name of the source in sources.yml")
RUN_ID = Column("run_id", "STRING", "run that wrote the row")
