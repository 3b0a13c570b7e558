"""The freshness of remotes in the form of dbt's source freshness, with what else is known (pure).

https://docs.getdbt.com/reference/artifacts/sources-json
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from weir.remotes.freshness import RemoteState
from weir.remotes.kept import Kept
from weir.remotes.states import PatternState, State
from weir.text.durations import parse_duration

_STATUS: Final[Mapping[State, str]] = {
    "unused": "pass",
    "never_evaluated": "warn",
    "fresh": "pass",
    "warn": "warn",
    "backing_off": "warn",
    "error": "error",
}
_PERIODS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def source_freshness(state: RemoteState, now: datetime, seconds: float) -> dict[str, Any]:
    """A result as in dbt's `sources.json`: its fields, then ours.

    `max_loaded_at` is when the oldest candidate was answered: what is compared with the criteria.

    Args:
        state: of a remote.
        now: the time that it is about.
        seconds: how long it took to find.
    """
    remote, age = state.remote, state.largest("oldest")
    return {
        "unique_id": _unique_id(remote.inbox),
        "max_loaded_at": None if age is None else _text(now - timedelta(seconds=age)),
        "snapshotted_at": _text(now),
        "max_loaded_at_time_ago_in_s": age,
        "status": _STATUS[state.state],
        "criteria": {
            "warn_after": _criterion(remote.warn_after),
            "error_after": _criterion(remote.error_after),
            "filter": None,
        },
        "adapter_response": {},
        "timing": [],
        "thread_id": "MainThread",
        "execution_time": seconds,
        "remote": remote.name,
        "state": state.state,
        "reason": state.reason or None,
        "candidates": state.candidates,
        "never_asked": state.never_asked,
        "oldest_seconds": age,
        "median_seconds": state.largest("median"),
        "p95_seconds": state.largest("p95"),
        "share_fresh": state.share_fresh,
        "min_fresh": remote.min_fresh,
        "last_evaluation": _text(state.evaluation),
        "next_allowed": _text(state.next_allowed),
        "used": state.used,
        "budget": state.budget,
        "policy": state.last.get("policy") or None,
        "alpha": state.last.get("alpha"),
        "stop": state.last.get("stop"),
        "patterns": [pattern_fields(pattern) for pattern in state.patterns],
    }


def runtime_error(remote: Kept, message: str) -> dict[str, Any]:
    """The result of a remote whose tables cannot be read."""
    return {
        "unique_id": _unique_id(remote.inbox),
        "status": "runtime error",
        "error": message,
        "remote": remote.name,
    }


def _unique_id(inbox: str) -> str:
    return f"source.weir.{inbox.replace('/', '.')}"


def pattern_fields(pattern: PatternState) -> dict[str, Any]:
    """What is known of a pattern."""
    return {
        "pattern": pattern.pattern,
        "queries": [*pattern.queries],
        "text": pattern.text,
        "state": pattern.state,
        "reason": pattern.reason or None,
        "candidates": pattern.candidates,
        "never_asked": pattern.never_asked,
        "oldest_seconds": pattern.oldest,
        "median_seconds": pattern.median,
        "p95_seconds": pattern.p95,
        "share_fresh": pattern.share_fresh,
    }


def _criterion(duration: str | None) -> dict[str, Any] | None:
    """A duration as a count of the largest period that divides it; dbt has none below minutes."""
    if duration is None:
        return None
    seconds = parse_duration(duration) / 1_000_000
    for period, size in _PERIODS:
        if seconds % size == 0:
            return {"count": int(seconds // size), "period": period}
    return {"count": seconds, "period": "second"}


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat().replace("+00:00", "Z")
