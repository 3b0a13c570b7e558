"""The graph: its log, its epochs, who owns which part, and what was read of the sources."""

from __future__ import annotations

from weir.lake.tables.layout import (
    EPOCH,
    GRAPH,
    KEPT_HISTORY,
    LOG_COMMITS,
    MARKED,
    OBJECT,
    PLAIN,
    PREDICATE,
    RUN_ID,
    SIGN,
    SOURCE,
    SUBJECT,
    Column,
    Table,
)

QUADS = Table(
    name="quads",
    comment="RDF dataset as a log: set semantics per quad at every epoch.",
    columns=(
        GRAPH,
        SUBJECT,
        PREDICATE,
        OBJECT,
        EPOCH,
        SIGN,
    ),
    cluster_by=("predicate", "subject"),
    properties=KEPT_HISTORY,
)

TRIPLES = Table(
    name="triples",
    comment="Union of all graphs as a log of a set; read by queries with default_graph: union.",
    columns=(SUBJECT, PREDICATE, OBJECT, EPOCH, SIGN),
    cluster_by=("predicate", "subject"),
    properties=KEPT_HISTORY,
)

TRANSACTIONS = Table(
    name="transactions",
    comment="One row per epoch; an epoch exists for every reader once it is named here.",
    columns=(
        Column("epoch", "BIGINT", "1, 2, 3, ... without gaps"),
        SOURCE,
        Column(
            "position",
            "STRING",
            "file, version or commit of the source that is this epoch; null if only time passed in"
            " a stream; or how a name of a source ends: `/dropped`, `/renamed from ...`",
        ),
        Column("change_id", "STRING", "id of the patch (`H id`) or of the foreign table, or null"),
        Column("event_time", "TIMESTAMP", "when the change happened, as the source says, or null"),
        Column("ingested_at", "TIMESTAMP", "when Weir ingested it"),
        Column("inserted", "BIGINT", "quads that appeared, net"),
        Column("deleted", "BIGINT", "quads that vanished, net"),
        Column("rejected", "BIGINT", "input lines that could not be used"),
        Column("quads_version", "BIGINT", "version of `quads` whose commit holds the epoch"),
        Column("triples_version", "BIGINT", "version of `triples` whose commit holds the epoch"),
        RUN_ID,
    ),
    properties=MARKED,
)

GRAPHS = Table(
    name="graphs",
    comment="Which source owns which graph; a graph is written by one source only.",
    columns=(
        GRAPH,
        SOURCE,
        RUN_ID,
    ),
    properties=PLAIN,
    log_commits=LOG_COMMITS,
)

REJECTED = Table(
    name="rejected",
    comment="Every input line that could not be used.",
    columns=(
        SOURCE,
        Column("position", "STRING", "file, version or commit of the source"),
        Column("file", "STRING", "file, where the position is a folder"),
        Column("line", "BIGINT", "line, from 1; 0 = the document as a whole"),
        Column("column", "BIGINT", "column, from 1; 0 = unknown"),
        Column("reason", "STRING", "why"),
        Column(
            "raw",
            "STRING",
            "the text, cut at `limits.raw_bytes`; base64 after `base64:` if it is no UTF-8, or"
            " begins so itself",
        ),
        RUN_ID,
    ),
    properties=PLAIN,
    log_commits=LOG_COMMITS,
)

SOURCE_FILES = Table(
    name="source_files",
    comment="The files that were read, as they were then, and as they were found changed later.",
    columns=(
        SOURCE,
        Column("position", "STRING", "the change set that it is of"),
        Column("file", "STRING", "path or URI, as `location` in sources.yml begins it"),
        Column("bytes", "BIGINT", "its size"),
        Column("modified", "TIMESTAMP", "when it was written, or null"),
        Column(
            "sha256",
            "STRING",
            "SHA-256 of its bytes; null in an object store, or if its batch had more than"
            " `limits.driver_parse_bytes`, or another size than before",
        ),
        Column("changed", "BOOLEAN", "whether the content is another one than was read"),
        RUN_ID,
    ),
    properties=PLAIN,
    log_commits=LOG_COMMITS,
)

STOPPED_SOURCES = Table(
    name="stopped_sources",
    comment="The sources that the newest ingest stopped or left waiting.",
    columns=(
        SOURCE,
        Column("state", "STRING", "stopped, or waiting: a later run reads it"),
        Column("position", "STRING", "the change set at which it is, or null"),
        Column("reason", "STRING", "why, and what to do"),
        Column("excess", "STRING", "what is beyond its guards and can be accepted, or null"),
        Column("since", "TIMESTAMP", "when it was first found so"),
        RUN_ID,
    ),
    properties=PLAIN,
    log_commits=LOG_COMMITS,
)
