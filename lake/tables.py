"""Definitions of Weir's Delta tables, as values that need no Spark."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

ColumnType = Literal["STRING", "BIGINT", "INT", "DOUBLE", "BOOLEAN", "TIMESTAMP"]


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


_KEPT_HISTORY = (
    ("delta.enableChangeDataFeed", "true"),
    *feed_retention(FEED_LOG_DAYS, FEED_FILE_DAYS),
    ("delta.checkpointInterval", "50"),
)
# Every Delta reader can use a table without deletion vectors, column mapping and change feed.
_READABLE = (("delta.enableDeletionVectors", "false"), ("delta.checkpointInterval", "50"))
# Read as they are now.
_PLAIN = (*_READABLE, ("delta.deletedFileRetentionDuration", "interval 1 days"))
# The newest commit of ours says how far the table is complete, however old it is.
_MARKED = (*_READABLE, ("delta.enableExpiredLogCleanup", "false"))

LOG_COMMITS = 1_000
"""Commits that the log of a table keeps whose earlier versions nobody reads."""

_EPOCH = Column("epoch", "BIGINT", "transaction that asserted (+) or retracted (-) the row")
_SIGN = Column("weight", "INT", "+1 asserted, -1 retracted")
_SUBJECT = Column("subject", "STRING", "IRI or blank node, N-Triples form")
_PREDICATE = Column("predicate", "STRING", "IRI, N-Triples form")
_OBJECT = Column("object", "STRING", "RDF term, N-Triples form, in the one spelling of ingest")
_TERM = "RDF term, N-Triples form; null = unbound"
_RUN_ID = Column("run_id", "STRING", "run that wrote the row")

QUADS = Table(
    name="quads",
    comment="RDF dataset as a log: set semantics per quad at every epoch.",
    columns=(
        Column(
            "graph", "STRING", "name of the graph: IRI, blank node, or empty for the default graph"
        ),
        _SUBJECT,
        _PREDICATE,
        _OBJECT,
        _EPOCH,
        _SIGN,
    ),
    cluster_by=("predicate", "subject"),
    properties=_KEPT_HISTORY,
)

TRIPLES = Table(
    name="triples",
    comment="Union of all graphs as a log of a set; read by queries with default_graph: union.",
    columns=(_SUBJECT, _PREDICATE, _OBJECT, _EPOCH, _SIGN),
    cluster_by=("predicate", "subject"),
    properties=_KEPT_HISTORY,
)

TRANSACTIONS = Table(
    name="transactions",
    comment="One row per epoch; an epoch exists for every reader once it is named here.",
    columns=(
        Column("epoch", "BIGINT", "1, 2, 3, ... without gaps"),
        Column("source", "STRING", "name of the source in sources.yml"),
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
        _RUN_ID,
    ),
    properties=_MARKED,
)

GRAPHS = Table(
    name="graphs",
    comment="Which source owns which graph; a graph is written by one source only.",
    columns=(
        Column(
            "graph", "STRING", "name of the graph: IRI, blank node, or empty for the default graph"
        ),
        Column("source", "STRING", "name of the source in sources.yml"),
        _RUN_ID,
    ),
    properties=_PLAIN,
    log_commits=LOG_COMMITS,
)

REJECTED = Table(
    name="rejected",
    comment="Every input line that could not be used.",
    columns=(
        Column("source", "STRING", "name of the source in sources.yml"),
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
        _RUN_ID,
    ),
    properties=_PLAIN,
    log_commits=LOG_COMMITS,
)

SOURCE_FILES = Table(
    name="source_files",
    comment="The files that were read, as they were then, and as they were found changed later.",
    columns=(
        Column("source", "STRING", "name of the source in sources.yml"),
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
        _RUN_ID,
    ),
    properties=_PLAIN,
    log_commits=LOG_COMMITS,
)

STOPPED_SOURCES = Table(
    name="stopped_sources",
    comment="The sources that the newest ingest stopped or left waiting.",
    columns=(
        Column("source", "STRING", "name of the source in sources.yml"),
        Column("state", "STRING", "stopped, or waiting: a later run reads it"),
        Column("position", "STRING", "the change set at which it is, or null"),
        Column("reason", "STRING", "why, and what to do"),
        Column("excess", "STRING", "what is beyond its guards and can be accepted, or null"),
        Column("since", "TIMESTAMP", "when it was first found so"),
        _RUN_ID,
    ),
    properties=_PLAIN,
    log_commits=LOG_COMMITS,
)

RUNS = Table(
    name="runs",
    comment="The ledger: who ran when, and per query what was done and why.",
    columns=(
        _RUN_ID,
        Column("number", "BIGINT", "number of the run among the runs of its job, from 1"),
        Column(
            "job",
            "STRING",
            "ingest, maintain, validate, publish, compact, audit, freshness, or refresh:<remote>",
        ),
        Column(
            "query",
            "STRING",
            "query; * for all that stood at from_epoch and that the run has no other row about;"
            " of freshness: remote; null for a row about the run as a whole",
        ),
        Column(
            "mode",
            "STRING",
            "initial, incremental, full, edited, rebased, untouched, skipped, removed or dropped",
        ),
        Column("reason", "STRING", "why this mode, or the error"),
        Column("from_epoch", "BIGINT", "watermark before"),
        Column("to_epoch", "BIGINT", "watermark after"),
        Column("rows_in", "BIGINT", "changes read"),
        Column("rows_out", "BIGINT", "rows written"),
        Column("seconds", "DOUBLE", "how long it took"),
        Column("status", "STRING", "claimed, succeeded, failed or abandoned"),
        Column(
            "table_version", "BIGINT", "version of the output table that was committed, or null"
        ),
        Column("host", "STRING", "machine the run was started on"),
        Column("pid", "BIGINT", "process of the run"),
        Column("process", "STRING", "which of the processes with that number, or null"),
        Column("recorded_at", "TIMESTAMP", "when the row was written"),
        Column("code_version", "STRING", "version of Weir"),
        Column("checked_run", "STRING", "validate: the run of maintain whose rows were checked"),
        Column("commit_metadata", "STRING", "metadata of the commit table_version, as JSON"),
        Column(
            "failed_attempts",
            "STRING",
            "maintain: of a query that takes more than it may, the attempts, as JSON",
        ),
    ),
    properties=_PLAIN,
    log_commits=LOG_COMMITS,
)

LEDGER_SUMMARY = Table(
    name="ledger_summary",
    comment="The rows of `runs` that still matter, up to a version of it; it can be deleted.",
    columns=RUNS.columns,
    properties=(
        ("delta.enableDeletionVectors", "false"),
        ("delta.checkpointInterval", "10"),
        ("delta.logRetentionDuration", "interval 1 days"),
        ("delta.deletedFileRetentionDuration", "interval 1 days"),
    ),
    log_commits=LOG_COMMITS,
)

QUALITY = Table(
    name="quality",
    comment="Results of the data-quality checks, one row per expectation.",
    columns=(
        _RUN_ID,
        Column("table", "STRING", "table that was checked"),
        Column("query", "STRING", "query, or null"),
        Column("expectation", "STRING", "what must hold"),
        Column("success", "BOOLEAN", "whether it held"),
        Column("observed", "STRING", "what was seen, as JSON"),
        Column("unexpected_rows", "BIGINT", "rows that break it"),
        Column("from_epoch", "BIGINT", "first epoch of the rows checked, exclusive"),
        Column("to_epoch", "BIGINT", "last epoch of the rows checked, inclusive"),
        Column("recorded_at", "TIMESTAMP", "when the row was written"),
    ),
    properties=_PLAIN,
    log_commits=LOG_COMMITS,
)

STREAM_EPOCHS = Table(
    name="stream_epochs",
    comment="One row per epoch of a stream: how far the stream is complete, and what it brought.",
    columns=(
        Column("epoch", "BIGINT", "epoch, as in `transactions`"),
        Column("stream", "STRING", "name of the stream in sources.yml"),
        Column(
            "frontier",
            "BIGINT",
            "instant before which no event is expected any more; null before the first event",
        ),
        Column("rows", "BIGINT", "events of the epoch in `streams/<name>`"),
        Column("late", "BIGINT", "events of the epoch in `late`"),
        Column("early", "BIGINT", "those of them that are too far ahead of the time of ingest"),
        _RUN_ID,
    ),
    properties=_MARKED,
)

_EVENT = (
    Column("graph", "STRING", "name of the graph: IRI, blank node, or empty for the default graph"),
    _SUBJECT,
    _PREDICATE,
    _OBJECT,
    Column("instant", "BIGINT", "when it happened, in microseconds since 1970-01-01T00:00:00Z"),
    Column("line", "BIGINT", "its place in the order of its change set"),
    Column("epoch", "BIGINT", "epoch in which it arrived"),
)

LATE = Table(
    name="late",
    comment="Events that a stream did not take: too late, before its start, or too far ahead.",
    columns=(
        *_EVENT,
        Column("stream", "STRING", "name of the stream in sources.yml"),
        Column("frontier", "BIGINT", "frontier of the stream before the epoch, or null"),
        Column("reason", "STRING", "why"),
        _RUN_ID,
    ),
    properties=_MARKED,
)

REQUESTS = Table(
    name="requests",
    comment="Every request that may have been sent to a remote; budgets are counted here.",
    columns=(
        Column("request_id", "STRING", "id of the request; it has a row per phase"),
        Column("owner", "STRING", "name of the remote in remotes.yml"),
        Column("evaluation", "TIMESTAMP", "instant of the evaluation that pays for it"),
        Column(
            "phase",
            "STRING",
            "reserved: it may be sent from now on; settled: it has ended, or was not sent",
        ),
        Column(
            "requests",
            "BIGINT",
            "1, also if the project refused it; 0 if it was not tried, or the document was there",
        ),
        Column("keys", "BIGINT", "keys that it asks for"),
        Column("bytes", "BIGINT", "bytes on the wire: at most (reserved), as measured (settled)"),
        Column("seconds", "DOUBLE", "seconds: at most (reserved), as measured (settled)"),
        Column("host", "STRING", "host that is asked"),
        Column("method", "STRING", "GET or POST; settled only"),
        Column("url", "STRING", "where it is sent, without user, query and fragment"),
        Column("address", "STRING", "a hash of the whole URL and the name of the connection"),
        Column("peer", "STRING", "network address that it was sent to, or null"),
        Column("status", "BIGINT", "HTTP status, null if none came"),
        Column("outcome", "STRING", "answered, not_sent, or the kind of failure"),
        Column("reason", "STRING", "why it was not answered, in a sentence, or null"),
        Column("attempt", "BIGINT", "which try of its keys it is, from 1"),
        Column("not_before", "TIMESTAMP", "until when it asked to be left alone, or null"),
        Column("started_at", "TIMESTAMP", "when it was sent; of a reservation, when that was made"),
        _RUN_ID,
    ),
    properties=_PLAIN,
    log_commits=LOG_COMMITS,
)

SERVICES = Table(
    name="services",
    comment="What SERVICE blocks ask of remotes; equal blocks with one key are one pattern.",
    columns=(
        Column("pattern", "STRING", "id of the pattern"),
        Column("remote", "STRING", "name of the remote in remotes.yml"),
        Column("iri", "STRING", "IRI of the remote, N-Triples form"),
        Column("text", "STRING", "the block, with whole IRIs"),
        Column("variables", "STRING", "what its solutions may bind, as a JSON array"),
        Column("certain", "STRING", "those that every solution binds, as a JSON array"),
        Column("key", "STRING", "variables by whose values it is asked, as a JSON array"),
        Column("first_seen", "TIMESTAMP", "when it was first asked for"),
        _RUN_ID,
    ),
    properties=_PLAIN,
    log_commits=LOG_COMMITS,
)

FRESHNESS = Table(
    name="freshness",
    comment="How fresh replicas are: one row per remote, pattern and evaluation.",
    columns=(
        Column("remote", "STRING", "name of the remote in remotes.yml"),
        Column("pattern", "STRING", "id of the pattern, in `services`"),
        Column("evaluation", "TIMESTAMP", "instant of the evaluation"),
        Column("round", "BIGINT", "number of the round in `replicas/<remote>`"),
        Column("changed_keys", "BIGINT", "keys of all patterns that the round changes"),
        Column("candidates", "BIGINT", "keys that the answers depend on"),
        Column("never_asked", "BIGINT", "those of them that had no answer after the evaluation"),
        Column("elected", "BIGINT", "keys that were to be asked for"),
        Column("answered", "BIGINT", "elected keys that were answered: the next four"),
        Column("changed", "BIGINT", "answered keys with other mappings than before, some"),
        Column("unchanged", "BIGINT", "answered keys with the mappings that they had"),
        Column("gone", "BIGINT", "answered keys without mappings, which had some"),
        Column("suspect", "BIGINT", "answered keys that are not believed yet"),
        Column("failed", "BIGINT", "elected keys whose request failed"),
        Column("too_large", "BIGINT", "elected keys with more mappings than max_rows"),
        Column("not_asked", "BIGINT", "elected keys that no request was sent for"),
        Column(
            "failure",
            "STRING",
            "why the newest of `failed` was not answered, or nothing was asked for, or null",
        ),
        Column(
            "stale_before",
            "DOUBLE",
            "candidates that are expected to have changed since they were asked, before",
        ),
        Column("stale_after", "DOUBLE", "the same after the evaluation"),
        Column(
            "stale_sampled",
            "DOUBLE",
            "share of changed keys among those drawn at random (`explore`), or null",
        ),
        Column("oldest_seconds", "DOUBLE", "age of the oldest candidate after it, or null"),
        Column("median_seconds", "DOUBLE", "median of the ages, or null"),
        Column("p95_seconds", "DOUBLE", "95th percentile of the ages, or null"),
        Column("share_fresh", "DOUBLE", "share of candidates younger than warn_after, or null"),
        Column("warn_after", "DOUBLE", "as declared, in seconds, or null"),
        Column("error_after", "DOUBLE", "as declared, in seconds, or null"),
        Column("min_fresh", "DOUBLE", "as declared, or null"),
        Column("keys_budget", "BIGINT", "keys that an evaluation of the remote may ask for"),
        Column("keys_used", "BIGINT", "keys that it asked for, of all patterns"),
        Column("requests_budget", "BIGINT", "requests that it may send"),
        Column("requests_used", "BIGINT", "requests that it sent"),
        Column("bytes_budget", "BIGINT", "bytes that it may take"),
        Column("bytes_used", "BIGINT", "bytes that it took"),
        Column("seconds_budget", "DOUBLE", "seconds that its requests may take"),
        Column("seconds_used", "DOUBLE", "seconds that they took"),
        Column("policy", "STRING", "name of the policy"),
        Column("alpha", "DOUBLE", "weight of its ranking beside that of the filter, or null"),
        Column("not_before", "TIMESTAMP", "when the remote may be asked again, or null"),
        Column("not_before_reason", "STRING", "why not before that, or null"),
        Column("address", "STRING", "a hash of the URL and the connection by which it was asked"),
        Column("stop", "STRING", "why it ended: done, budget, not_before or refused"),
        Column("state", "STRING", "fresh, warn, error or backing_off"),
        Column("reason", "STRING", "why it is in this state, or null"),
        _RUN_ID,
    ),
    properties=_PLAIN,
    log_commits=LOG_COMMITS,
)

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
    REQUESTS,
    SERVICES,
    FRESHNESS,
)

RESERVED_NAMES = frozenset(table.name for table in SHARED_TABLES)
"""What no query may be named: views of SQL are named after tables and after queries."""


def stream(name: str) -> Table:
    """The table of the stream `name`: its events, in the order (instant, epoch, line)."""
    return Table(
        name=f"streams/{name}",
        comment=f"Events of {name}: quads, each with the instant at which it happened.",
        columns=(*_EVENT, Column("weight", "INT", "always +1")),
        cluster_by=("instant",),
        properties=_MARKED,
    )


_ROUND = (
    Column("round", "BIGINT", "number of the round, from 1; an evaluation is a round"),
    Column("evaluation", "TIMESTAMP", "instant of the evaluation"),
    Column("pattern", "STRING", "id of the pattern, in `services`"),
    Column("key", "STRING", "terms of the key's variables, one per line; empty without a key"),
    Column("part", "STRING", "key: what is known of a key; mapping: one of its mappings"),
    Column(
        "status",
        "STRING",
        "of a key: changed, unchanged, gone, failed, suspect, too_large or dropped; else null",
    ),
    Column("mapping", "STRING", "terms by variable, as a JSON object; null for a key"),
    Column("before", "BIGINT", "how often the key had the mapping before; null for a key"),
    Column("multiplicity", "BIGINT", "how often it has it since; null for a key"),
    Column("rows", "BIGINT", "mappings of the key after the round; null for a mapping"),
    Column("rows_round", "BIGINT", "newest round that has the mappings of the key, or null"),
    Column("first_round", "BIGINT", "round of the key's first answer, or null"),
    Column("content", "STRING", "SHA-256 of the mappings of the key; null before its first answer"),
    Column("failures", "BIGINT", "rounds in a row in which the key was not answered"),
    Column("answers", "BIGINT", "answers about the key after its first one"),
    Column("changes", "BIGINT", "those of them that were another answer"),
    Column("seconds", "DOUBLE", "sum of the times between its answers"),
    Column("sampled", "BOOLEAN", "whether the key was drawn at random (`explore`)"),
    Column("asked_at", "TIMESTAMP", "when the key was asked for in this round"),
    Column("answered_at", "TIMESTAMP", "when it was last answered, or null"),
    Column("previous_at", "TIMESTAMP", "when it was last answered before this round, or null"),
    Column("reason", "STRING", "why it was not answered or not believed, or null"),
    Column("request_id", "STRING", "request of the round, in `requests`"),
    _RUN_ID,
)


def replica(remote: str) -> Table:
    """The inbox of the remote `remote`: what it said of each key, a commit per round."""
    return Table(
        name=f"replicas/{remote}",
        comment=f"What {remote} said of each key; the newest round of a key is its replica.",
        columns=_ROUND,
        properties=_MARKED,
    )


def replica_summary(remote: str) -> Table:
    """What is known of each key of `remote` up to a round; it can be deleted."""
    return Table(
        name=f"replica_summaries/{remote}",
        comment=f"The newest rows of each key of `replicas/{remote}`, up to a version of it.",
        columns=_ROUND,
        properties=LEDGER_SUMMARY.properties,
        log_commits=LEDGER_SUMMARY.log_commits,
    )


def embeddings(query: str, width: int) -> Table:
    """The embedding table of `query`: a log of solution mappings per plan node.

    Args:
        query: name of the query.
        width: number of variables of the query; variable i is column `v<i>`, null = unbound.
    """
    return Table(
        name=f"embeddings/{query}",
        comment=f"Solution mappings of the stored plan nodes of {query}, as a log.",
        columns=(
            Column("node", "STRING", "plan node; `answer` is the answer"),
            *(Column(f"v{i}", "STRING", _TERM) for i in range(width)),
            _EPOCH,
            Column("weight", "BIGINT", "signed multiplicity"),
        ),
        properties=_MARKED,
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
        name=f"output_streams/{query}",
        comment=f"Elements of the stream out of {query}; weights summed up to an epoch are those"
        " that were emitted and not taken back.",
        columns=(
            *(Column(name, "STRING", _TERM) for name in variables),
            Column("instant", "BIGINT", "when it is emitted, microseconds since 1970-01-01T00Z"),
            _EPOCH,
            Column("weight", "BIGINT", "signed multiplicity: + emitted, - taken back"),
        ),
        cluster_by=("instant",),
        properties=_MARKED,
    )


def answers(query: str, variables: tuple[str, ...]) -> Table:
    """The published answers of `query`: a log with one column per projected variable."""
    return Table(
        name=f"answers/{query}",
        comment=f"Signed delta answers of {query}; weights summed up to an epoch are its answer.",
        columns=(
            _EPOCH,
            Column("weight", "BIGINT", "signed multiplicity: + appeared, - vanished"),
            *(Column(name, "STRING", _TERM) for name in variables),
            Column(
                "event_time",
                "TIMESTAMP",
                "when the change happened, as the source says; else when its file was written; else"
                " when it was ingested; null if the query was edited, or its answer rebuilt",
            ),
        ),
        properties=_MARKED,
    )


ANSWER_COLUMNS = ("epoch", "weight", "event_time")
"""Columns of an answer table that no variable may be named like."""

STREAM_ANSWER_COLUMNS = ("since", "until", "correction")
"""Columns besides that no variable of a query over streams may be named like: views have them."""
