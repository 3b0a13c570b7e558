"""Remotes: the requests to them, their answers, and how fresh those are."""

from __future__ import annotations

from weir.lake.tables.layout import (
    LOG_COMMITS,
    MARKED,
    PLAIN,
    RUN_ID,
    SUMMARY,
    Column,
    Table,
    TableFamily,
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
        RUN_ID,
    ),
    properties=PLAIN,
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
        RUN_ID,
    ),
    properties=PLAIN,
    log_commits=LOG_COMMITS,
)

FRESHNESS = Table(
    name="freshness",
    comment="How fresh replicas and documents are: one row per remote, pattern and evaluation.",
    columns=(
        Column("remote", "STRING", "name of the remote in remotes.yml, or of a traversal"),
        Column("pattern", "STRING", "id of the pattern, in `services`; of a traversal, the host"),
        Column("evaluation", "TIMESTAMP", "instant of the evaluation"),
        Column(
            "round", "BIGINT", "number of its round in `replicas/<remote>`, the last of several"
        ),
        Column("changed_keys", "BIGINT", "keys of all patterns that the round changes"),
        Column(
            "candidates", "BIGINT", "keys that the answers depend on; of a traversal, documents"
        ),
        Column("never_asked", "BIGINT", "those of them that had no answer after the evaluation"),
        Column("elected", "BIGINT", "keys that were to be asked for"),
        Column("answered", "BIGINT", "elected keys that were answered: the next four"),
        Column("changed", "BIGINT", "answered keys with other mappings than before, some"),
        Column("unchanged", "BIGINT", "answered keys with the mappings that they had"),
        Column("gone", "BIGINT", "answered keys without mappings, which had some"),
        Column("suspect", "BIGINT", "answered keys that are not believed yet"),
        Column("failed", "BIGINT", "elected keys whose request failed"),
        Column("too_large", "BIGINT", "elected keys with more mappings, or bytes, than may be"),
        Column("not_asked", "BIGINT", "elected keys that no request was sent for"),
        Column(
            "failure",
            "STRING",
            "why the newest of `failed` was not answered, or nothing was asked for, or null",
        ),
        Column("left_out", "BIGINT", "links of a traversal beyond its limits; null of a remote"),
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
        Column("measured_at", "TIMESTAMP", "when the ages below were measured: at its end"),
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
        RUN_ID,
    ),
    properties=PLAIN,
    log_commits=LOG_COMMITS,
)

REPLICAS = TableFamily("replicas", "remote")
"""The inbox of a remote."""
REPLICA_SUMMARIES = TableFamily("replica_summaries", "remote")
"""What is known of the keys of a remote."""

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
    RUN_ID,
)


def replica(remote: str) -> Table:
    """The inbox of the remote `remote`: what it said of each key, a commit per round."""
    return Table(
        name=REPLICAS.name(remote),
        comment=f"What {remote} said of each key; the newest round of a key is its replica.",
        columns=_ROUND,
        properties=MARKED,
    )


def replica_summary(remote: str) -> Table:
    """What is known of each key of `remote` up to a round; it can be deleted."""
    return Table(
        name=REPLICA_SUMMARIES.name(remote),
        comment=f"The newest rows of each key of `{REPLICAS.name(remote)}`, up to a version of it.",
        columns=_ROUND,
        properties=SUMMARY,
        log_commits=LOG_COMMITS,
    )


DOCUMENTS = TableFamily("documents", "remote")
"""The inbox of a traversal."""
DOCUMENT_SUMMARIES = TableFamily("document_summaries", "remote")
"""What is known of the pages of a traversal."""

_PAGE = (
    Column("round", "BIGINT", "number of the round, from 1; an evaluation has one or more"),
    Column("ordinal", "BIGINT", "place in the round, in the order of retrieval, from 1"),
    Column("evaluation", "TIMESTAMP", "instant of the evaluation"),
    Column("iri", "STRING", "the page: an IRI without its fragment"),
    Column("host", "STRING", "host of the IRI"),
    Column("depth", "BIGINT", "links from a seed to it, the fewest; null if it is not reached"),
    Column("source", "STRING", "document whose link led to it first; empty for a seed, or null"),
    Column("is_member", "BOOLEAN", "whether it is a document of the dataset after the round"),
    Column("aliases", "STRING", "IRIs that lead to it, as a JSON array; null if no document"),
    Column("unreachable_since", "TIMESTAMP", "since when no link leads to it, or null"),
    Column(
        "outcome",
        "STRING",
        "new, changed, unchanged, not_modified, redirect, described (no RDF: its Link header names"
        " some), moved, gone; missing or suspect: gone, and not believed yet; a fault; or known: it"
        " was not asked for in this round",
    ),
    Column("target", "STRING", "IRI that it leads to in place of content, or null"),
    Column("by_header", "BOOLEAN", "whether a Link header names the target, and no redirect"),
    Column("status", "BIGINT", "HTTP status, null if none came"),
    Column("media_type", "STRING", "media type of the answer, or null"),
    Column("bytes", "BIGINT", "bytes on the wire, both directions; null if it was not asked for"),
    Column("etag", "STRING", "validator of the content, or null"),
    Column("last_modified", "STRING", "the other validator, or null"),
    Column("vary", "STRING", "request headers by which the answer varies, or null"),
    Column("cache_control", "STRING", "Cache-Control as sent, or null"),
    Column("expires_at", "TIMESTAMP", "until when the content may be used without asking, or null"),
    Column("is_heuristic", "BOOLEAN", "whether expires_at is a guess from the age of the content"),
    Column("accept", "STRING", "Accept header that the content is the answer to, or null"),
    Column("due_at", "TIMESTAMP", "from when it may be asked for again"),
    Column("first_at", "TIMESTAMP", "when it was first asked for"),
    Column("asked_at", "TIMESTAMP", "when it was last asked for"),
    Column("answered_at", "TIMESTAMP", "when an answer could last be used, or null"),
    Column("answers", "BIGINT", "answers that could be used"),
    Column("changes", "BIGINT", "those of them that brought other content"),
    Column("failures", "BIGINT", "answers in a row that could not be used"),
    Column("misses", "BIGINT", "answers 404 in a row"),
    Column("is_suspect", "BOOLEAN", "whether it was said to be gone, and is not believed yet"),
    Column("digest", "STRING", "SHA-256 of the triples, or null without content"),
    Column("links", "STRING", "what the content leads to, as a JSON array, or null"),
    Column("content_round", "BIGINT", "newest round that has its content, or null"),
    Column(
        "reason", "STRING", "why the last answer is not usable, or that it is restless, or null"
    ),
    Column(
        "fault",
        "STRING",
        "the first in a word: failed, refused, robots, too_large, not_rdf or broken; or null",
    ),
    Column("statements", "STRING", "what it states of others by `hints`, as a JSON array, or null"),
    Column("hint", "STRING", "what was stated of it when it was answered last, or null"),
)
_CONTENT = (
    Column("content", "STRING", "its triples as N-Triples; null if as before, or none"),
    Column("inserted", "STRING", "quads that appear by it, as N-Quads; null if none does"),
    Column("deleted", "STRING", "quads that vanish by it, as N-Quads; null if none does"),
    Column("request_id", "STRING", "request of the round, in `requests`, or null"),
    RUN_ID,
)


def documents(traversal: str) -> Table:
    """The inbox of the traversal `traversal`: what came of each page, a commit per round."""
    return Table(
        name=DOCUMENTS.name(traversal),
        comment=f"What came of each page of {traversal}; the newest row of a page is its state.",
        columns=(*_PAGE, *_CONTENT),
        properties=MARKED,
    )


def document_summary(traversal: str) -> Table:
    """What is known of each page of `traversal` up to a round; it can be deleted."""
    return Table(
        name=DOCUMENT_SUMMARIES.name(traversal),
        comment=f"The newest row of each page of `{DOCUMENTS.name(traversal)}`, up to a version.",
        columns=_PAGE,
        properties=SUMMARY,
        log_commits=LOG_COMMITS,
    )
