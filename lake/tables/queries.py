"""What is computed of a query: its solution mappings, its stream and its answers."""

from __future__ import annotations

from dataclasses import replace

from weir.lake.tables.layout import (
    EPOCH,
    KEPT_HISTORY,
    MARKED,
    OBJECT,
    PREDICATE,
    SUBJECT,
    TERM,
    Column,
    Table,
    TableFamily,
)

EMBEDDINGS = TableFamily("embeddings", "query")
"""The solution mappings of a query."""
OUTPUT_STREAMS = TableFamily("output_streams", "query")
"""The stream out of a query."""
DERIVED = TableFamily("derived", "query")
"""The graph that a query or program gives, which others read."""
ANSWERS = TableFamily("answers", "query")
"""The published answers of a query."""
CURRENT = TableFamily("current", "query")
"""The published answer of a query as it is now, with types."""

ANSWER_COLUMNS = ("epoch", "weight", "event_time")
"""Columns of an answer table that no variable may be named like."""

STREAM_ANSWER_COLUMNS = ("since", "until", "correction")
"""Columns besides that no variable of a query over streams may be named like: views have them."""


def embeddings(query: str, width: int) -> Table:
    """The embedding table of `query`: a log of solution mappings per plan node.

    Args:
        query: name of the query.
        width: number of variables of the query; variable i is column `v<i>`, null = unbound.
    """
    return Table(
        name=EMBEDDINGS.name(query),
        comment=f"Solution mappings of the stored plan nodes of {query}, as a log.",
        columns=(
            Column("node", "STRING", "plan node; `answer` is the answer"),
            *(Column(f"v{i}", "STRING", TERM) for i in range(width)),
            EPOCH,
            Column("weight", "BIGINT", "signed multiplicity"),
        ),
        properties=MARKED,
    )


def stream_embeddings(query: str, width: int) -> Table:
    """The embedding table of a query over streams: its log by instant and by epoch.

    Args:
        query: name of the query.
        width: number of variables of the query.
    """
    table = embeddings(query, width)
    *first, epoch, weight = table.columns
    instant = Column("instant", "BIGINT", "microseconds since 1970-01-01T00:00:00Z")
    return replace(table, columns=(*first, instant, epoch, weight))


def output_stream(query: str, variables: tuple[str, ...]) -> Table:
    """The stream out of `query`: a log of its elements with one column per projected variable."""
    return Table(
        name=OUTPUT_STREAMS.name(query),
        comment=f"Elements of the stream out of {query}; weights summed up to an epoch are those"
        " that were emitted and not taken back.",
        columns=(
            *(Column(name, "STRING", TERM) for name in variables),
            Column("instant", "BIGINT", "when it is emitted, microseconds since 1970-01-01T00Z"),
            EPOCH,
            Column("weight", "BIGINT", "signed multiplicity: + emitted, - taken back"),
        ),
        cluster_by=("instant",),
        properties=MARKED,
    )


def derived_graph(name: str) -> Table:
    """The graph that the query or program `name` gives: a log of its triples, a set."""
    return Table(
        name=DERIVED.name(name),
        comment=f"The graph that {name} gives, as a log.",
        columns=(
            SUBJECT,
            PREDICATE,
            OBJECT,
            EPOCH,
            Column("weight", "BIGINT", "+1 appeared, -1 vanished"),
        ),
        properties=MARKED,
    )


def answers(query: str, variables: tuple[str, ...]) -> Table:
    """The published answers of `query`: a log with one column per projected variable."""
    return Table(
        name=ANSWERS.name(query),
        comment=f"Signed delta answers of {query}; weights summed up to an epoch are its answer.",
        columns=(
            EPOCH,
            Column("weight", "BIGINT", "signed multiplicity: + appeared, - vanished"),
            *(Column(name, "STRING", TERM) for name in variables),
            Column(
                "event_time",
                "TIMESTAMP",
                "when the change happened, as the source says; else when its file was written; else"
                " when it was ingested; null if the query was edited, or its answer rebuilt",
            ),
        ),
        properties=MARKED,
    )


def current(query: str, columns: tuple[Column, ...], comment: str) -> Table:
    """The answer of `query` as it is now, for readers that know nothing of Weir.

    Args:
        query: its name.
        columns: decided when it is first published.
        comment: what the answer is.
    """
    return Table(
        name=CURRENT.name(query),
        comment=comment or f"The answer of {query} as it is now.",
        columns=columns,
        properties=(("delta.enableDeletionVectors", "false"), *KEPT_HISTORY),
    )
