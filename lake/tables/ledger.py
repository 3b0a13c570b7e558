"""The ledger: who ran when, what was done and why, and what was checked."""

from __future__ import annotations

from weir.lake.tables.layout import (
    LOG_COMMITS,
    PLAIN,
    RUN_ID,
    SUMMARY,
    Column,
    Table,
)

RUNS = Table(
    name="runs",
    comment="The ledger: who ran when, and per query what was done and why.",
    columns=(
        RUN_ID,
        Column("number", "BIGINT", "number of the run among those of its job"),
        Column(
            "job",
            "STRING",
            "ingest, maintain, validate, publish, notify, compact, audit, freshness, or"
            " refresh:<remote>; reading: what maintain read of the graph",
        ),
        Column(
            "query",
            "STRING",
            "query; * for all that stood at from_epoch and that the run has no other row about;"
            " of freshness: remote; of reading: which graphs;"
            " null for a row about the run as a whole",
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
        Column("rows_out", "BIGINT", "rows written; of reading: rows looked up"),
        Column("seconds", "DOUBLE", "how long it took; of a query: without reading the graph"),
        Column("status", "STRING", "claimed, succeeded, failed or abandoned"),
        Column(
            "table_version", "BIGINT", "version of the output table that was committed, or null"
        ),
        Column("host", "STRING", "machine of the run"),
        Column("pid", "BIGINT", "process of the run"),
        Column("process", "STRING", "which of the processes with that number, or null"),
        Column("recorded_at", "TIMESTAMP", "when the row was written"),
        Column("code_version", "STRING", "version of Weir"),
        Column("checked_run", "STRING", "validate: the run of maintain whose rows were checked"),
        Column("commit_metadata", "STRING", "metadata of the commit table_version, as JSON"),
        Column(
            "failed_attempts",
            "STRING",
            "maintain: attempts of a query that takes more than it may",
        ),
        Column(
            "passed_checks",
            "STRING",
            "validate: own checks that all rows passed",
        ),
        Column("checks", "STRING", "validate: limits, fingerprint of own checks"),
    ),
    properties=PLAIN,
    log_commits=LOG_COMMITS,
)

LEDGER_SUMMARY = Table(
    name="ledger_summary",
    comment="The rows of `runs` that still matter, up to a version of it; it can be deleted.",
    columns=RUNS.columns,
    properties=SUMMARY,
    log_commits=LOG_COMMITS,
)

NOTIFICATIONS = Table(
    name="notifications",
    comment="What channels were notified of, or not.",
    columns=(
        RUN_ID,
        Column("message", "STRING", "id of the message; empty if the channel was only begun"),
        Column("channel", "STRING", "name of the channel in weir.toml"),
        Column(
            "status",
            "STRING",
            "begun: the channel is notified of what follows; due: an answer of a message;"
            " delivered; failed",
        ),
        Column("query", "STRING", "begun, due: query"),
        Column("table_id", "STRING", "begun, due: id of its answer table"),
        Column(
            "from_version", "BIGINT", "due: last version that earlier messages are about; or -1"
        ),
        Column("to_version", "BIGINT", "begun, due: last version that is notified now"),
        Column("published_by", "STRING", "begun, due: run that committed that version"),
        Column("reason", "STRING", "failed: why"),
        Column("recorded_at", "TIMESTAMP", "when the row was written"),
    ),
    properties=PLAIN,
    log_commits=LOG_COMMITS,
)

QUALITY = Table(
    name="quality",
    comment="Results of the data-quality checks, one row per expectation.",
    columns=(
        RUN_ID,
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
    properties=PLAIN,
    log_commits=LOG_COMMITS,
)
