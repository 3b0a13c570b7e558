"""The rows that the suites about remotes check, made by DuckDB from the rows that are new.

Each statement reads the relations that `weir.remotes.checks.rounds.tables_of` makes, `services`,
`dead_runs` and `contents`; `scope` is the name of the remote.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from weir.expectations.documents import DOCUMENTS_SUITE
from weir.expectations.freshness import FRESHNESS_SUITE
from weir.expectations.replicas import REPLICAS_SUITE, ROUNDS_SUITE
from weir.expectations.requests import REQUESTS_SUITE
from weir.expectations.suite import Suite
from weir.lake.delta.bindings import Bindings
from weir.remotes.freshness import RemoteState
from weir.remotes.questions import Row, content_of
from weir.text.durations import duration_seconds

_REQUESTS = r"""
WITH amounts AS (
    SELECT owner, evaluation, request_id FROM requests WHERE phase = 'reserved' AND host IS NULL
    GROUP BY ALL
), phases AS (
    SELECT owner, evaluation, request_id, any_value(run_id) AS run_id,
        count(*) FILTER (phase = 'reserved') + (CASE WHEN request_id LIKE '%-%' AND
            (owner, evaluation, split_part(request_id, '-', 1)) IN (FROM amounts)
            THEN 1 ELSE 0 END) AS reserved,
        count(*) FILTER (phase = 'settled') AS settled,
        max(host) AS host, max(url) AS url, max(address) AS address,
        max(started_at) FILTER (phase = 'settled' AND requests > 0) AS sent_at,
        coalesce(max(requests) FILTER (phase = 'settled'), max(requests)) AS requests,
        coalesce(max(keys) FILTER (phase = 'settled'), max(keys)) AS keys,
        coalesce(max(bytes) FILTER (phase = 'settled'), max(bytes)) AS bytes,
        coalesce(max(seconds) FILTER (phase = 'settled'), max(seconds)) AS seconds
    FROM requests GROUP BY owner, evaluation, request_id
), evaluations AS (
    SELECT remote, evaluation, max(round) AS round, max(run_id) AS run_id,
        max(requests_budget) AS requests_budget, max(keys_budget) AS keys_budget,
        max(bytes_budget) AS bytes_budget, max(seconds_budget) AS seconds_budget
    FROM freshness GROUP BY remote, evaluation
), waits AS (
    SELECT remote, evaluation, max(c.not_before) AS until, max(c.address) AS address
    FROM evaluations JOIN commits c USING (remote, round) GROUP BY remote, evaluation
)
SELECT p.owner AS scope, p.owner AS remote, strftime(p.evaluation, '%Y-%m-%dT%H:%M:%S.%fZ')
        AS evaluation, p.request_id, p.reserved, p.settled, p.host, p.url,
    CAST(sum(p.requests) OVER spent AS BIGINT) AS spent_requests,
    CAST(sum(p.keys) OVER spent AS BIGINT) AS spent_keys,
    CAST(sum(p.bytes) OVER spent AS BIGINT) AS spent_bytes,
    sum(p.seconds) OVER spent AS spent_seconds,
    coalesce(e.requests_budget, r.requests_budget) AS requests_budget,
    coalesce(e.keys_budget, r.keys_budget) AS keys_budget,
    coalesce(e.bytes_budget, r.bytes_budget) AS bytes_budget,
    coalesce(e.seconds_budget, r.seconds_budget) AS seconds_budget,
    epoch_us(p.sent_at) / 1e6 - epoch_us(lag(p.sent_at) OVER sent) / 1e6 AS gap, r.pause,
    CASE WHEN p.address <> w.address THEN NULL
        ELSE epoch_us(p.sent_at) / 1e6 - epoch_us(w.until) / 1e6 END AS waited,
    e.evaluation IS NOT NULL AS is_over,
    p.run_id IS DISTINCT FROM e.run_id OR p.run_id IN (SELECT run_id FROM dead_runs)
        AS is_abandoned,
    EXISTS (FROM declared d WHERE d.remote = p.owner AND d.host IS NOT DISTINCT FROM p.host
        AND d.url IS NOT DISTINCT FROM p.url) AS is_declared,
    p.evaluation > r.checked_evaluation AS is_new
FROM phases p JOIN remotes r ON p.owner = r.remote
    LEFT JOIN evaluations e ON p.owner = e.remote AND p.evaluation = e.evaluation
    ASOF LEFT JOIN waits w ON p.owner = w.remote AND p.evaluation > w.evaluation
WINDOW spent AS (PARTITION BY p.owner, p.evaluation),
    sent AS (PARTITION BY p.owner, p.host, p.sent_at IS NULL ORDER BY p.sent_at)
"""

_REPLICAS = """
WITH said AS (
    SELECT remote, round, pattern, key, count(*) AS times, max(status) AS status,
        max(evaluation) AS evaluation, max(rows) AS rows, max(rows_round) AS rows_round,
        max(content) AS content, max(answers) AS answers, max(changes) AS changes,
        max(request_id) AS request_id
    FROM replicas WHERE part = 'key' GROUP BY remote, round, pattern, key
), mappings AS (
    SELECT remote, round, pattern, key, CAST(sum(multiplicity) AS BIGINT) AS found_rows,
        min(least(multiplicity, "before")) AS least_number,
        count(*) - count(DISTINCT mapping) AS repeated,
        count(*) FILTER (multiplicity IS DISTINCT FROM "before") AS changed_mappings
    FROM replicas WHERE part = 'mapping' GROUP BY remote, round, pattern, key
), recorded AS (
    SELECT owner AS remote, evaluation, request_id, count(DISTINCT request_id) AS requests
    FROM requests GROUP BY owner, evaluation, request_id
), patterns AS (SELECT remote, pattern, count(*) AS patterns FROM services GROUP BY ALL)
SELECT k.remote AS scope, k.remote, k.round, k.pattern, k.key, status,
    coalesce(times, 0) AS times, rows, rows_round, content,
    coalesce(found_rows, 0) AS found_rows, found_content, coalesce(least_number, 0) AS least_number,
    coalesce(repeated, 0) AS repeated, coalesce(changed_mappings, 0) AS changed_mappings,
    answers, changes, coalesce(requests, 0) AS requests, coalesce(patterns, 0) AS patterns
FROM (SELECT * FROM said FULL JOIN mappings USING (remote, round, pattern, key)) k
    LEFT JOIN contents USING (remote, round, pattern, key)
    LEFT JOIN recorded USING (remote, evaluation, request_id)
    LEFT JOIN patterns USING (remote, pattern)
"""

_ROUNDS = """
WITH numbered AS (
    SELECT remote, round, count(*) AS commits, max(changed_round) AS changed_round,
        bool_and(is_last) AS is_last
    FROM commits GROUP BY remote, round
), ordered AS (
    SELECT * EXCLUDE (is_last), coalesce(lag(round) OVER before, 0) AS round_before,
        coalesce(lag(changed_round) OVER before, 0) AS changed_round_before
    FROM numbered WINDOW before AS (PARTITION BY remote ORDER BY round)
), times AS (
    SELECT remote, round, max(evaluation) AS evaluation FROM (
        SELECT remote, round, evaluation FROM freshness UNION ALL
        SELECT remote, round, evaluation FROM inbox) GROUP BY remote, round
), instants AS (
    -- A round that is not the last one of an evaluation is followed by another one of it.
    SELECT times.*, CASE WHEN coalesce(lag(is_last) OVER before, true)
        THEN lag(evaluation) OVER before END AS evaluation_before
    FROM times LEFT JOIN numbered USING (remote, round)
    WINDOW before AS (PARTITION BY remote ORDER BY round)
), changes AS (
    SELECT remote, round,
        count(*) FILTER (part = 'key' AND status IN ('changed', 'gone')) AS changed_keys,
        count(*) FILTER (part = 'mapping' AND multiplicity IS DISTINCT FROM "before")
            AS changed_mappings
    FROM inbox GROUP BY remote, round
), taken AS (SELECT remote, round, count(*) AS transactions FROM epochs GROUP BY remote, round)
SELECT remote AS scope, remote, round, round_before,
    strftime(evaluation, '%Y-%m-%dT%H:%M:%S.%fZ') AS evaluation,
    strftime(evaluation_before, '%Y-%m-%dT%H:%M:%S.%fZ') AS evaluation_before,
    coalesce(commits, 0) AS commits,
    changed_round, changed_round_before, coalesce(changed_keys, 0) AS changed_keys,
    coalesce(changed_mappings, 0) AS changed_mappings, coalesce(transactions, 0) AS transactions,
    r.ingested_before, r.ingested, round > r.checked_round AS is_new
FROM ordered FULL JOIN instants USING (remote, round) FULL JOIN changes USING (remote, round)
    FULL JOIN taken USING (remote, round) JOIN remotes r USING (remote)
WHERE round > r.checked_round OR round > r.ingested_before OR transactions > 0
"""

_FRESHNESS = """
WITH statuses AS (
    SELECT remote, evaluation, pattern,
        count(*) FILTER (status = 'changed') AS found_changed,
        count(*) FILTER (status = 'unchanged') AS found_unchanged,
        count(*) FILTER (status = 'gone') AS found_gone,
        count(*) FILTER (status = 'suspect') AS found_suspect,
        count(*) FILTER (status = 'failed') AS found_failed,
        count(*) FILTER (status = 'too_large') AS found_too_large
    FROM inbox WHERE part = 'key' GROUP BY remote, evaluation, pattern
), ends AS (
    SELECT owner, evaluation, arg_max(requests, phase) AS requests, arg_max(keys, phase) AS keys,
        arg_max(bytes, phase) AS bytes, arg_max(seconds, phase) AS seconds
    FROM requests GROUP BY owner, evaluation, request_id
), spent AS (
    SELECT owner AS remote, evaluation, CAST(sum(requests) AS BIGINT) AS found_requests_used,
        CAST(sum(keys) AS BIGINT) AS found_keys_used,
        CAST(sum(bytes) AS BIGINT) AS found_bytes_used, sum(seconds) AS found_seconds_used
    FROM ends GROUP BY owner, evaluation
)
SELECT f.remote AS scope, f.remote, f.pattern,
    strftime(f.evaluation, '%Y-%m-%dT%H:%M:%S.%fZ') AS evaluation,
    count(*) OVER (PARTITION BY f.remote, f.pattern, f.evaluation) AS copies,
    candidates, never_asked, elected, answered, not_asked, changed, unchanged, gone, suspect,
    failed, too_large, coalesce(found_changed, 0) AS found_changed,
    coalesce(found_unchanged, 0) AS found_unchanged, coalesce(found_gone, 0) AS found_gone,
    coalesce(found_suspect, 0) AS found_suspect, coalesce(found_failed, 0) AS found_failed,
    coalesce(found_too_large, 0) AS found_too_large, requests_used, keys_used, bytes_used,
    seconds_used, coalesce(found_requests_used, 0) AS found_requests_used,
    coalesce(found_keys_used, 0) AS found_keys_used,
    coalesce(found_bytes_used, 0) AS found_bytes_used,
    coalesce(found_seconds_used, 0) AS found_seconds_used,
    oldest_seconds, median_seconds, p95_seconds, share_fresh
FROM freshness f LEFT JOIN statuses USING (remote, evaluation, pattern)
    LEFT JOIN spent USING (remote, evaluation) JOIN remotes r ON f.remote = r.remote
WHERE f.round > r.checked_round
"""

_DOCUMENTS = """
WITH recorded AS (
    SELECT owner AS remote, evaluation, request_id, count(DISTINCT request_id) AS requests
    FROM requests GROUP BY owner, evaluation, request_id
)
SELECT remote AS scope, remote, round, iri, outcome,
    count(*) OVER (PARTITION BY remote, round, iri) AS times, is_member, depth,
    coalesce(json_array_length(aliases), 0) AS number_of_aliases, links IS NOT NULL AS has_links,
    content_round, digest, sha256(content) AS found_digest, answers, changes,
    coalesce(requests, 0) AS requests, fault,
    inserted IS NOT NULL OR deleted IS NOT NULL AS has_difference
FROM documents LEFT JOIN recorded USING (remote, evaluation, request_id)
"""

FRAMES: Final[tuple[tuple[Suite, str], ...]] = (
    (REQUESTS_SUITE, _REQUESTS),
    (REPLICAS_SUITE, _REPLICAS),
    (DOCUMENTS_SUITE, _DOCUMENTS),
    (ROUNDS_SUITE, _ROUNDS),
    (FRESHNESS_SUITE, _FRESHNESS),
)
"""The suites over rounds, each with the statement of its rows."""

_CONTENTS: dict[str, pa.DataType] = {
    "remote": pa.string(),
    "round": pa.int64(),
    "pattern": pa.string(),
    "key": pa.string(),
    "found_content": pa.string(),
}


def frames(bindings: Bindings, tables: Mapping[str, pa.Table]) -> list[tuple[Suite, pa.Table]]:
    """The suites with the rows that they check; those without a row are left out.

    Args:
        bindings: of the connection that computes them.
        tables: `tables_of`, `services`, `dead_runs`.
    """
    relations = {**tables, "contents": _contents(tables["replicas"])}
    with bindings.scope():
        for name, rows in relations.items():
            bindings.rows(name, rows)
        made = [(suite, bindings.connection.sql(query).to_arrow_table()) for suite, query in FRAMES]
    return [(suite, rows) for suite, rows in made if rows.num_rows]


def _contents(replicas: pa.Table) -> pa.Table:
    """remote, round, pattern, key, found_content: of the keys whose mappings are in the round."""
    place = ("remote", "round", "pattern", "key")
    contents: dict[tuple[Any, ...], dict[Row, int]] = {}
    own = replicas.filter(pc.field("part") == "key").filter(
        pc.field("rows_round") == pc.field("round")
    )
    for row in own.select(place).to_pylist():
        contents[tuple(row.values())] = {}
    mappings = replicas.filter((pc.field("part") == "mapping") & (pc.field("multiplicity") > 0))
    for row in mappings.select([*place, "mapping", "multiplicity"]).to_pylist():
        of_key = contents.get(tuple(row[name] for name in place))
        if of_key is not None:
            mapping = tuple(sorted(json.loads(row["mapping"]).items()))
            of_key[mapping] = of_key.get(mapping, 0) + row["multiplicity"]
    rows = [
        dict(zip(place, of, strict=True)) | {"found_content": content_of(mappings)}
        for of, mappings in contents.items()
    ]
    return pa.Table.from_pylist(rows, schema=pa.schema(_CONTENTS))


_CURRENT: dict[str, pa.DataType] = {
    **dict.fromkeys(("scope", "remote", "pattern"), pa.string()),
    **dict.fromkeys(("oldest_seconds", "waiting_seconds", "error_after"), pa.float64()),
    **dict.fromkeys(("share_fresh", "min_fresh"), pa.float64()),
}


def current_frame(states: Sequence[RemoteState]) -> pa.Table:
    """The rows of the suite `current_freshness`: one per pattern of a remote."""
    rows = [
        {
            "scope": state.remote.name,
            "remote": state.remote.name,
            "pattern": pattern.pattern,
            "oldest_seconds": pattern.oldest,
            "waiting_seconds": pattern.waiting,
            "error_after": duration_seconds(state.remote.error_after),
            "share_fresh": pattern.share_fresh,
            "min_fresh": state.remote.min_fresh,
        }
        for state in states
        for pattern in state.patterns
    ]
    return pa.Table.from_pylist(rows, schema=pa.schema(_CURRENT))
