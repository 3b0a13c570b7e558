"""What the page about freshness shows of a remote: a bounded part of its tables (DuckDB)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds

from weir.lake.delta.bindings import Bindings
from weir.lake.lake import Lake
from weir.lake.tables import DOCUMENTS, FRESHNESS, documents, replica
from weir.pages.charts import OUTCOMES
from weir.remotes.current import rows_of
from weir.remotes.freshness import RemoteState
from weir.remotes.kept import Kept
from weir.remotes.known_keys import NEWEST_KEYS, replica_rows
from weir.remotes.states import UNITS
from weir.text.durations import duration_seconds
from weir.traversals.checked import document_keys, key_rows
from weir.traversals.declarations import Traversal

EVALUATIONS: Final = 500
"""How many evaluations are shown, the newest ones."""
STALEST: Final = 50
"""How many keys are listed."""
QUANTILES: Final = 101
COLUMNS: Final = 60
"""Times of the heat map."""
BOUNDS: Final = (60.0, 300.0, 900.0, 3_600.0, 14_400.0, 86_400.0, 604_800.0)
"""Of its ranges of ages, in seconds."""

_EVALUATIONS = """
SELECT evaluation, max(oldest_seconds) AS oldest_seconds, max(p95_seconds) AS p95_seconds,
    max(median_seconds) AS median_seconds, {outcomes},
    greatest({used}) AS used_share,
    sum(stale_after) / nullif(sum(candidates), 0) AS expected_share,
    avg(stale_sampled) AS sampled_share
FROM freshness_rows GROUP BY evaluation ORDER BY evaluation
"""
# A key that is older than the oldest candidate is none any more.
_KEYS = f"""
SELECT pattern, key, status, answered_at, asked_at, reason,
    epoch_us($now::TIMESTAMPTZ) / 1e6 - epoch_us(answered_at) / 1e6 AS age
FROM ({NEWEST_KEYS.format(rows="inbox")}) JOIN oldest USING (pattern)
WHERE answered_at IS NULL
    OR epoch_us($now::TIMESTAMPTZ) / 1e6 - epoch_us(answered_at) / 1e6 <= oldest.age + $slack
"""
_STALEST = f"""
SELECT * FROM known_keys ORDER BY age DESC NULLS FIRST, pattern, key LIMIT {STALEST}
"""
# Of a time before the first answer within the rounds that are read, the age of a key is not known.
_HEAT = """
WITH answers AS (
    SELECT DISTINCT pattern, key, answered_at FROM (
        SELECT pattern, key, answered_at FROM recent WHERE part = 'key'
        UNION ALL SELECT pattern, key, answered_at FROM known_keys)
    WHERE answered_at IS NOT NULL
), spans AS (
    SELECT answered_at AS start,
        lead(answered_at) OVER (PARTITION BY pattern, key ORDER BY answered_at) AS stop
    FROM answers
), ages AS (
    SELECT place, epoch_us("at") / 1e6 - epoch_us(start) / 1e6 AS age
    FROM spans JOIN times ON "at" >= start AND (stop IS NULL OR "at" < stop)
)
SELECT place, CAST(len(list_filter($bounds::DOUBLE[], lambda bound: age >= bound)) AS INTEGER)
    AS bucket, count(*) AS keys
FROM ages GROUP BY ALL ORDER BY place, bucket
"""


@dataclass(frozen=True, slots=True)
class RemoteHistory:
    """What is shown of a remote.

    Attributes:
        evaluations: the newest `EVALUATIONS`, in order, as the charts take them.
        quantiles: `QUANTILES` ages of the keys now, in seconds, ascending; none without a key.
        times: of the columns of the heat map.
        cells: of the heat map.
        stalest: at most `STALEST` keys: pattern, key, status, answered_at, asked_at, reason, age;
            those without an answer first, then the oldest.
    """

    evaluations: Sequence[dict[str, Any]] = ()
    quantiles: Sequence[float] = ()
    times: Sequence[datetime] = ()
    cells: Sequence[dict[str, Any]] = ()
    stalest: Sequence[dict[str, Any]] = ()


def remote_history(
    bindings: Bindings, lake: Lake, state: RemoteState, now: datetime
) -> RemoteHistory:
    """What is shown of a remote; the names are bound for it alone."""
    name, newest = state.remote.name, _newest_round(lake, state.remote.name)
    if not newest:
        return RemoteHistory()
    first = max(newest - EVALUATIONS, 0)
    of_remote = [("remote", "=", name), ("round", ">", first)]
    evaluations = _evaluations(bindings, rows_of(lake, FRESHNESS, of_remote))
    keys = _key_rows(lake, state.remote, first, now)
    if keys is None:
        return RemoteHistory(evaluations)
    times = _times([row["evaluation"] for row in evaluations], now)
    for relation, rows in zip(("inbox", "recent"), keys, strict=True):
        bindings.rows(relation, rows)
    bindings.rows("oldest", _oldest(state))
    bindings.rows("times", _places(times))
    # An evaluation takes some of the time between two of them.
    slack = duration_seconds(state.remote.every)
    bindings.table("known_keys", _KEYS, {"now": now, "slack": slack})
    return RemoteHistory(
        evaluations,
        _quantiles(bindings.connection),
        times,
        _fetch(bindings.connection, _HEAT, {"bounds": [*BOUNDS]}),
        _fetch(bindings.connection, _STALEST),
    )


def _key_rows(
    lake: Lake, remote: Kept, first: int, now: datetime
) -> tuple[pa.Table | ds.Dataset, pa.Table] | None:
    """Of each key the newest row at least, and all rows after a round; None before any."""
    name, recent = remote.name, [("round", ">", first)]
    if isinstance(remote, Traversal):
        if not lake.exists(DOCUMENTS.name(name)):
            return None
        freshness = rows_of(lake, FRESHNESS, [("remote", "=", name), *recent])
        rows = key_rows(rows_of(lake, documents(name), recent), freshness)
        return document_keys(lake, name, freshness, now), rows
    inbox = replica_rows(lake, name)
    return None if inbox is None else (inbox, rows_of(lake, replica(name), recent))


def _newest_round(lake: Lake, remote: str) -> int:
    if not lake.exists(FRESHNESS.name):
        return 0
    rounds = lake.rows(FRESHNESS.name, ["round"], [("remote", "=", remote)])
    return max((row["round"] for row in rounds.to_pylist()), default=0)


def _evaluations(bindings: Bindings, rows: pa.Table) -> list[dict[str, Any]]:
    bindings.rows("freshness_rows", rows)
    outcomes = ", ".join(f"CAST(sum({name}) AS BIGINT) AS {name}" for name in OUTCOMES)
    used = ", ".join(f"max({unit}_used) / nullif(max({unit}_budget), 0)" for unit in UNITS)
    return _fetch(bindings.connection, _EVALUATIONS.format(outcomes=outcomes, used=used))


def _times(evaluations: Sequence[datetime], now: datetime) -> list[datetime]:
    """At most `COLUMNS` times, spread over the evaluations; the last one is now."""
    number = min(len(evaluations), COLUMNS - 1)
    return [*(evaluations[place * len(evaluations) // number] for place in range(number)), now]


def _places(times: Sequence[datetime]) -> pa.Table:
    """place, at."""
    at = pa.array(times, pa.timestamp("us", tz="UTC"))
    return pa.table({"place": pa.array(range(len(times)), pa.int64()), "at": at})


def _oldest(state: RemoteState) -> pa.Table:
    """pattern, age: of the oldest candidate of each pattern now."""
    ages = {pattern.pattern: pattern.oldest or 0.0 for pattern in state.patterns}
    rows = [{"pattern": pattern, "age": age} for pattern, age in ages.items()]
    columns: dict[str, pa.DataType] = {"pattern": pa.string(), "age": pa.float64()}
    return pa.Table.from_pylist(rows, schema=pa.schema(columns))


def _quantiles(connection: duckdb.DuckDBPyConnection) -> list[float]:
    shares = [place / (QUANTILES - 1) for place in range(QUANTILES)]
    (row,) = connection.execute(
        "SELECT quantile_cont(age, $shares::DOUBLE[]) FROM known_keys", {"shares": shares}
    ).fetchall()
    return row[0] or []


def _fetch(
    connection: duckdb.DuckDBPyConnection, query: str, values: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    rows: pa.Table = connection.sql(query, params=values or None).to_arrow_table()
    return rows.to_pylist()
