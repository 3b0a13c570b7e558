"""The page about freshness: one HTML file without scripts or external resources (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

from weir.pages.charts import (
    age_chart,
    ccdf_chart,
    heat_map,
    outcome_chart,
    staleness_chart,
)
from weir.pages.history import BOUNDS, RemoteHistory
from weir.remotes.freshness import RemoteState
from weir.remotes.states import STATES, State, age_text, limit_seconds

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 84rem; padding: 0 1rem; }
table { border-collapse: collapse; margin-bottom: 1.5rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem; white-space: nowrap; }
td { border-bottom: 1px solid #ddd; }
td.text { white-space: normal; overflow-wrap: anywhere; min-width: 8rem; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
div.charts { display: flex; flex-wrap: wrap; gap: 1rem; }
svg { max-width: 100%; height: auto; border: 1px solid #eee; }
.fresh, .unused { color: #17663a; } .warn, .never_evaluated, .backing_off { color: #8a5a00; }
.error { color: #a3132b; font-weight: 600; }
"""


def freshness_page(states: Sequence[tuple[RemoteState, RemoteHistory]], now: datetime) -> str:
    """The page, for some remotes at a time."""
    verdict = _verdict([state.state for state, _ in states])
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8>"
        f"<title>Freshness: {verdict}</title><style>{_STYLE}</style></head><body>"
        f"<h1>Freshness: {verdict}</h1><p>{now:%Y-%m-%d %H:%M:%S} UTC</p>"
        + "".join(_remote(state, history) for state, history in states)
        + "</body></html>\n"
    )


def _verdict(states: Sequence[State]) -> str:
    """How many remotes are in each state, the worst first: one that is not fresh is not hidden."""
    numbers = Counter(states)
    return ", ".join(
        f"{numbers[state]} {_words(state)}" for state in reversed(STATES) if numbers[state]
    )


def _words(state: State) -> str:
    return "in error" if state == "error" else state.replace("_", " ")


def _remote(state: RemoteState, history: RemoteHistory) -> str:
    remote, rows = state.remote, history.evaluations
    charts = ""
    if rows:
        charts = "".join(
            (
                age_chart(
                    rows, limit_seconds(remote.warn_after), limit_seconds(remote.error_after)
                ),
                ccdf_chart(history.quantiles),
                staleness_chart(rows),
                outcome_chart(rows),
                heat_map(history.times, BOUNDS, history.cells),
            )
        )
    return (
        f"<h2>{escape(remote.name)}: <span class={state.state}>{_words(state.state)}"
        f"</span></h2>{_facts(state)}{_patterns(state)}<div class=charts>{charts}</div>"
        f"{_stalest(history.stalest, {asked.pattern: asked.asked_by for asked in state.patterns})}"
    )


def _facts(state: RemoteState) -> str:
    remote = state.remote
    policy, alpha = state.last.get("policy") or "", state.last.get("alpha")
    facts = {
        "endpoint": remote.iri,
        "reason": state.reason,
        "policy": policy if alpha is None else f"{policy}, alpha {alpha:g}",
        "last evaluation": _time(state.evaluation),
        "ended because": state.last.get("stop") or "",
        "next allowed": _time(state.next_allowed),
        **_use(state),
        "warn after": remote.warn_after or "",
        "error after": remote.error_after or "",
        "least share of fresh keys": "" if remote.min_fresh is None else f"{remote.min_fresh:.0%}",
    }
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td class=text>{escape(value)}</td></tr>"
        for name, value in facts.items()
        if value
    )
    return f"<table>{rows}</table>"


def _use(state: RemoteState) -> dict[str, str]:
    if state.used is None or state.budget is None:
        return {}
    budget = state.budget
    return {
        f"{unit} used": f"{used:,.6g} of {budget[unit]:,.6g}" for unit, used in state.used.items()
    }


def _patterns(state: RemoteState) -> str:
    names = (
        *("queries", "ask for", "state", "candidates", "never asked", "oldest", "median", "p95"),
        *("fresh", "reason"),
    )
    rows = [
        (
            _Text(pattern.asked_by),
            _Text(pattern.text),
            _words(pattern.state),
            pattern.candidates,
            pattern.never_asked,
            _age(pattern.oldest),
            _age(pattern.median),
            _age(pattern.p95),
            "" if pattern.share_fresh is None else f"{pattern.share_fresh:.0%}",
            _Text(pattern.reason),
        )
        for pattern in state.patterns
    ]
    return _table(names, rows)


def _stalest(keys: Sequence[dict[str, Any]], asked_by: Mapping[str, str]) -> str:
    if not keys:
        return ""
    names = ("key", "queries", "age", "last answered", "last asked", "outcome", "reason")
    rows = [
        (
            _Text(row["key"]),
            _Text(asked_by[row["pattern"]]),
            _age(row["age"]) or "never answered",
            _time(row["answered_at"]),
            _time(row["asked_at"]),
            row["status"],
            _Text(row["reason"] or ""),
        )
        for row in keys
    ]
    return f"<h3>The stalest keys</h3>{_table(names, rows)}"


def _table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


class _Text(str):
    """Text of any length, which may be broken anywhere; other cells and headings are not broken."""


def _cell(value: Any) -> str:
    match value:
        case _Text():
            return f"<td class=text>{escape(value)}</td>"
        case int():
            return f"<td class=number>{value:,}</td>"
        case _:
            return f"<td>{escape(value or '')}</td>"


def _age(seconds: float | None) -> str:
    return "" if seconds is None else age_text(seconds)


def _time(time: datetime | None) -> str:
    return "" if time is None else f"{time:%Y-%m-%d %H:%M:%S}"
