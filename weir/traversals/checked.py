"""The rounds of a traversal as they are checked, beside those of remotes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from weir.lake.delta.commit import arrow_schema
from weir.lake.instants import time_at
from weir.lake.lake import Lake
from weir.lake.tables import replica
from weir.remotes.budget import Amount
from weir.remotes.checks.rounds import RoundsOf
from weir.text.durations import duration_seconds
from weir.traversals.declarations import Traversal
from weir.traversals.freshness import OTHER_HOSTS, STATUSES
from weir.traversals.frontier import hosts_of
from weir.traversals.inbox import document_inbox, pages_of
from weir.traversals.search import host_of

_INSTANTS = ("evaluation", "asked_at", "answered_at")
_SAME = ("round", "request_id", "reason", "run_id", *_INSTANTS)


def rounds_of(traversal: Traversal) -> RoundsOf:
    """Those of a traversal."""
    budget = traversal.budget
    return RoundsOf(
        traversal,
        document_inbox(traversal.name),
        duration_seconds(traversal.pause) or 0.0,
        Amount(budget.requests, budget.requests, budget.bytes, budget.seconds),
        _may_ask(traversal),
        key_rows,
    )


def _may_ask(traversal: Traversal) -> Callable[[str | None], bool]:
    # Of seeds that are the answer or the constants of queries the file does not say the hosts.
    of_queries = traversal.follow == "match" or traversal.seed_query is not None
    is_known = traversal.hosts is not None or not of_queries
    hosts = hosts_of(traversal.hosts if is_known else "any", traversal.own_seeds)
    return lambda host: host is None or hosts(f"//{host}/")


def key_rows(rows: pa.Table, freshness: pa.Table) -> pa.Table:
    """Rows of `documents/<name>` as an inbox of a remote has them: the key is the page.

    The pattern is its host, as the rows of `freshness` of its evaluation have it. A page by which
    quads appear or vanish has one mapping that it did not have before.
    """
    patterns = _patterns(freshness)
    made = []
    for row in rows.to_pylist():
        key = {
            "pattern": patterns.get((row["evaluation"], row["host"]), OTHER_HOSTS),
            "key": row["iri"],
            **{name: row[name] for name in _SAME},
        }
        made.append({**key, "part": "key", "status": STATUSES.get(row["outcome"])})
        if row["inserted"] or row["deleted"]:
            made.append({**key, "part": "mapping", "before": 0, "multiplicity": 1})
    return pa.Table.from_pylist(made, schema=arrow_schema(replica("")))


def document_keys(lake: Lake, traversal: str, freshness: pa.Table, now: datetime) -> pa.Table:
    """The documents of a traversal now, as rows of an inbox of a remote.

    A document counts as answered as long as it is known to be the same (`Known.age`).
    """
    patterns, seconds = _patterns(freshness), now.timestamp()
    newest = max((evaluation for evaluation, _ in patterns), default=None)
    made = [
        {
            "round": page.content_round,
            "pattern": patterns.get((newest, host_of(iri)), OTHER_HOSTS),
            "key": iri,
            "part": "key",
            "status": page.known.fault or "answered",
            "asked_at": time_at(round(page.known.asked_at * 1_000_000)),
            "answered_at": now - timedelta(seconds=page.known.age(seconds)),
            "reason": page.known.reason or None,
        }
        for iri, page in pages_of(lake, traversal).items()
        if page.member is not None
    ]
    return pa.Table.from_pylist(made, schema=arrow_schema(replica("")))


def _patterns(freshness: pa.Table) -> Mapping[tuple[Any, str], str]:
    """By evaluation and host, its pattern in `freshness`; of hosts that have a row of their own."""
    rows = freshness.select(["evaluation", "pattern"]).to_pylist()
    return {(row["evaluation"], row["pattern"]): row["pattern"] for row in rows}
