"""The tables of the lake, as values that need no Spark: layouts, and the only place of their names.

`layout` says what a table is; a module for each part of the lake defines its tables. A table that
the lake has once is a constant; where there is one for each query, stream or remote, there is its
family, which names them, and a function of the same name that defines one.
"""

from weir.lake.tables.graph import (
    GRAPHS,
    QUADS,
    REJECTED,
    SOURCE_FILES,
    STOPPED_SOURCES,
    TRANSACTIONS,
    TRIPLES,
)
from weir.lake.tables.layout import (
    FEED_FILE_DAYS,
    FEED_LOG_DAYS,
    LOG_COMMITS,
    Column,
    ColumnType,
    Decimals,
    SimpleType,
    Table,
    TableFamily,
    feed_retention,
    split_name,
)
from weir.lake.tables.ledger import (
    LEDGER_SUMMARY,
    NOTIFICATIONS,
    QUALITY,
    RUNS,
)
from weir.lake.tables.queries import (
    ANSWER_COLUMNS,
    ANSWERS,
    CURRENT,
    DERIVED,
    EMBEDDINGS,
    OUTPUT_STREAMS,
    STREAM_ANSWER_COLUMNS,
    answers,
    current,
    derived_graph,
    embeddings,
    output_stream,
    stream_embeddings,
)
from weir.lake.tables.remotes import (
    DOCUMENT_SUMMARIES,
    DOCUMENTS,
    FRESHNESS,
    REPLICA_SUMMARIES,
    REPLICAS,
    REQUESTS,
    SERVICES,
    document_summary,
    documents,
    replica,
    replica_summary,
)
from weir.lake.tables.streams import (
    LATE,
    STREAM_EPOCHS,
    STREAMS,
    stream,
)

__all__ = [
    "ANSWERS",
    "ANSWER_COLUMNS",
    "CURRENT",
    "DERIVED",
    "DOCUMENTS",
    "DOCUMENT_SUMMARIES",
    "EMBEDDINGS",
    "FAMILIES",
    "FEED_FILE_DAYS",
    "FEED_LOG_DAYS",
    "FRESHNESS",
    "GRAPHS",
    "LATE",
    "LEDGER_SUMMARY",
    "LOG_COMMITS",
    "NOTIFICATIONS",
    "OUTPUT_STREAMS",
    "QUADS",
    "QUALITY",
    "REJECTED",
    "REPLICAS",
    "REPLICA_SUMMARIES",
    "REQUESTS",
    "RESERVED_NAMES",
    "RUNS",
    "SERVICES",
    "SHARED_TABLES",
    "SOURCE_FILES",
    "STOPPED_SOURCES",
    "STREAMS",
    "STREAM_ANSWER_COLUMNS",
    "STREAM_EPOCHS",
    "TRANSACTIONS",
    "TRIPLES",
    "Column",
    "ColumnType",
    "Decimals",
    "SimpleType",
    "Table",
    "TableFamily",
    "answers",
    "current",
    "derived_graph",
    "document_summary",
    "documents",
    "embeddings",
    "feed_retention",
    "output_stream",
    "replica",
    "replica_summary",
    "split_name",
    "stream",
    "stream_embeddings",
]

SHARED_TABLES = (
    QUADS,
    TRIPLES,
    TRANSACTIONS,
    GRAPHS,
    REJECTED,
    SOURCE_FILES,
    STOPPED_SOURCES,
    STREAM_EPOCHS,
    LATE,
    RUNS,
    QUALITY,
    NOTIFICATIONS,
    REQUESTS,
    SERVICES,
    FRESHNESS,
)
"""The tables that the lake has once; reserved names, views and compaction follow from them."""

FAMILIES = (
    ANSWERS,
    CURRENT,
    EMBEDDINGS,
    OUTPUT_STREAMS,
    DERIVED,
    STREAMS,
    REPLICAS,
    REPLICA_SUMMARIES,
    DOCUMENTS,
    DOCUMENT_SUMMARIES,
)
"""The tables that there is one of for each query, stream or remote."""

RESERVED_NAMES = frozenset(table.name for table in SHARED_TABLES)
"""What no query may be named: views of SQL are named after tables and after queries."""
