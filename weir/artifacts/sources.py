"""`sources.json`: when something new of each source was last ingested, and whether it is too old.

Remotes and traversals have limits of age; other sources have none.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

from weir.artifacts.contents import Contents, SourceNode, time_text
from weir.text.durations import duration_seconds


def sources(contents: Contents) -> dict[str, Any]:
    """The document, by dbt's schema of version 3; without sources that have nothing yet."""
    results = (_result(source, contents.now) for source in contents.sources)
    return {
        "metadata": contents.head("sources/v3"),
        "results": [result for result in results if result is not None],
        "elapsed_time": 0.0,
    }


def _result(source: SourceNode, now: datetime) -> dict[str, Any] | None:
    fresh, failure, limits = source.freshness, source.stopped, dict[str, Any]()
    status, loaded = "pass", None if source.ingested is None else source.ingested.at
    if fresh is not None:
        loaded = fresh.evaluation
        status = fresh.state if fresh.state in ("warn", "error") else "pass"
        failure = failure or (fresh.reason if loaded is None and status == "error" else None)
        limits["warn_after"] = _age(fresh.remote.warn_after)
        limits["error_after"] = _age(fresh.remote.error_after)
    if failure is not None:
        return {"unique_id": source.id, "status": "runtime error", "error": failure}
    if loaded is None:
        return None
    return {
        "unique_id": source.id,
        "max_loaded_at": time_text(loaded),
        "snapshotted_at": time_text(now),
        "max_loaded_at_time_ago_in_s": max((now - loaded).total_seconds(), 0.0),
        "status": status,
        "criteria": limits,
        "adapter_response": {},
        "timing": [],
        "thread_id": "main",
        "execution_time": 0.0,
    }


def _age(limit: str | None) -> dict[str, Any] | None:
    seconds = duration_seconds(limit)
    return None if seconds is None else {"count": math.ceil(seconds / 60), "period": "minute"}
