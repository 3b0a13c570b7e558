"""The page about freshness: how old the answers of remotes and the documents of traversals are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from weir.compute.connection import connect
from weir.lake.delta.bindings import Bindings
from weir.lake.lake import Lake
from weir.pages.charts import (
    age_chart,
    ccdf_chart,
    heat_map,
    outcome_chart,
    staleness_chart,
)
from weir.refresh.history import BOUNDS, RemoteHistory, remote_history
from weir.remotes.freshness import RemoteState
from weir.remotes.states import STATES, State
from weir.settings import Settings
from weir.text.cells import cell_text
from weir.text.durations import age_text, duration_seconds


def remotes_page(
    settings: Settings, lake: Lake, states: Sequence[RemoteState], now: datetime
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the template of the page shows, and the charts of its data."""
    remotes, charts = [], dict[str, Any]()
    for position, state in enumerate(states):
        with connect(settings) as connection:
            history = remote_history(Bindings(connection), lake, state, now)
        own = {f"{position}-{at}": chart for at, chart in enumerate(_charts(state, history))}
        remotes.append({**_remote(state, history), "charts": [*own]})
        charts |= own
    return {"remotes": remotes, "verdict": _verdict([s.state for s in states])}, {"charts": charts}


def _verdict(states: Sequence[State]) -> str:
    """How many remotes are in each state, the worst first: one that is not fresh is not hidden."""
    numbers = Counter(states)
    return ", ".join(
        f"{numbers[state]} {_words(state)}" for state in reversed(STATES) if numbers[state]
    )


def _words(state: State) -> str:
    return "in error" if state == "error" else state.replace("_", " ")


def _remote(state: RemoteState, history: RemoteHistory) -> dict[str, Any]:
    """The values of a remote in the template."""
    asked_by = {pattern.pattern: pattern.asked_by for pattern in state.patterns}
    return {
        "name": state.remote.name,
        "unit": state.remote.words.unit,
        "state": state.state,
        "state_text": _words(state.state),
        "facts": _facts(state),
        "patterns": _patterns(state),
        "stalest": [_key(row, asked_by) for row in history.stalest],
    }


def _charts(state: RemoteState, history: RemoteHistory) -> list[dict[str, Any]]:
    remote, rows = state.remote, history.evaluations
    if not rows:
        return []
    limits = (duration_seconds(remote.warn_after), duration_seconds(remote.error_after))
    return [
        age_chart(rows, *limits),
        ccdf_chart(history.quantiles),
        staleness_chart(rows),
        outcome_chart(rows),
        heat_map(history.times, BOUNDS, history.cells),
    ]


def _facts(state: RemoteState) -> dict[str, str]:
    remote = state.remote
    policy, alpha = state.last.get("policy") or "", state.last.get("alpha")
    return {
        remote.words.place: remote.place,
        "reason": state.reason,
        "policy": policy if alpha is None else f"{policy}, alpha {alpha:g}",
        "last evaluation": cell_text(state.evaluation),
        "ended because": state.last.get("stop") or "",
        "next allowed": cell_text(state.next_allowed),
        **_use(state),
        "warn after": remote.warn_after or "",
        "error after": remote.error_after or "",
        "least share of fresh keys": "" if remote.min_fresh is None else f"{remote.min_fresh:.0%}",
    }


def _use(state: RemoteState) -> dict[str, str]:
    if state.used is None or state.budget is None:
        return {}
    budget = state.budget
    return {
        f"{unit} used": f"{used:,.6g} of {budget[unit]:,.6g}" for unit, used in state.used.items()
    }


def _patterns(state: RemoteState) -> list[dict[str, Any]]:
    return [
        {
            "queries": pattern.asked_by,
            "ask for": pattern.text,
            "state": _words(pattern.state),
            "candidates": pattern.candidates,
            "never asked": pattern.never_asked,
            "oldest": _age(pattern.oldest),
            "median": _age(pattern.median),
            "p95": _age(pattern.p95),
            "fresh": "" if pattern.share_fresh is None else f"{pattern.share_fresh:.0%}",
            "reason": pattern.reason,
        }
        for pattern in state.patterns
    ]


def _key(row: Mapping[str, Any], asked_by: Mapping[str, str]) -> dict[str, Any]:
    return {
        "key": row["key"],
        "queries": asked_by[row["pattern"]],
        "age": _age(row["age"]) or "never answered",
        "last answered": row["answered_at"],
        "last asked": row["asked_at"],
        "outcome": row["status"],
        "reason": row["reason"],
    }


def _age(seconds: float | None) -> str:
    return "" if seconds is None else age_text(seconds)
