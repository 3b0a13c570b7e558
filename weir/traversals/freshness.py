"""How fresh the documents of a traversal are: a row of `freshness` for each host (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

import numpy as np

from weir.lake.instants import time_at
from weir.remotes.budget import Amount
from weir.remotes.freshness import RemoteState, state_of_patterns, states_now
from weir.remotes.measures import quantile
from weir.remotes.policies.change_rate import stale_expected
from weir.remotes.states import UNITS, Row, pattern_state
from weir.text.durations import duration_seconds
from weir.traversals.declarations import Traversal
from weir.traversals.hosts import Hosts, HostState
from weir.traversals.known import UNKNOWN, Known
from weir.traversals.search import host_of

MOST_HOSTS: Final = 50
OTHER_HOSTS: Final = "other hosts"
"""In place of a host: all but the `MOST_HOSTS` that have most documents, together."""

STATUSES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("new", "changed", "moved"), "changed"),
    **dict.fromkeys(("unchanged", "not_modified", "redirect", "described"), "unchanged"),
    **dict.fromkeys(("not_rdf", "robots"), "unchanged"),
    "gone": "gone",
    **dict.fromkeys(("missing", "suspect"), "suspect"),
    **dict.fromkeys(("failed", "broken", "refused"), "failed"),
    "too_large": "too_large",
}
"""What `freshness` counts an outcome of `documents/<name>` as."""
_ANSWERED: Final = ("changed", "unchanged", "gone", "suspect")
_ANSWERS: Final = ("not_rdf", "robots")
"""Faults that are an answer: there is no document, and that is known."""


@dataclass(frozen=True, slots=True)
class EndedEvaluation:
    """An evaluation that has ended.

    Attributes:
        round: the number of its last round.
        evaluation: its instant.
        ended_at: when it had ended, in seconds since 1970.
        known: what is known of each page.
        members: the documents of the dataset.
        wanted: the pages that a search comes to.
        outcomes: of each page that was asked for.
        hinted: pages that were not asked for since another document says that they are the same.
        left_out: by reason and host, links that were not followed.
        hosts: those that are left alone.
        spent: what its requests took.
        stop: why it ended.
    """

    round: int
    evaluation: datetime
    ended_at: float
    known: Mapping[str, Known]
    members: Collection[str]
    wanted: Collection[str]
    outcomes: Mapping[str, str]
    hinted: Collection[str]
    left_out: Mapping[tuple[str, str], int]
    hosts: Hosts
    spent: Amount
    stop: str


def freshness_rows(
    traversal: Traversal, ended: EndedEvaluation, run_id: str
) -> list[dict[str, Any]]:
    """The rows of an evaluation, one per host."""
    budget = traversal.budget
    most = Amount(budget.requests, budget.requests, budget.bytes, budget.seconds)
    statuses = {iri: STATUSES[outcome] for iri, outcome in ended.outcomes.items()}
    common = {
        "remote": traversal.name,
        "address": None,
        "evaluation": ended.evaluation,
        "round": ended.round,
        "measured_at": time_at(round(ended.ended_at * 1_000_000)),
        "changed_keys": sum(status in ("changed", "gone") for status in statuses.values()),
        "warn_after": duration_seconds(traversal.warn_after),
        "error_after": duration_seconds(traversal.error_after),
        "min_fresh": traversal.min_fresh,
        **{f"{unit}_budget": getattr(most, unit) for unit in UNITS},
        **{f"{unit}_used": getattr(ended.spent, unit) for unit in UNITS},
        "policy": traversal.rule.name,
        "alpha": None,
        "run_id": run_id,
        "stop": ended.stop,
    }
    rows = []
    for name, group in _groups(ended).items():
        wait = _wait(ended.hosts.states.get(name), ended.ended_at)
        measured = (
            common
            | {"pattern": name}
            | _counts(group, statuses, ended)
            | _ages(traversal, group, ended.ended_at)
            | wait
        )
        state = pattern_state(traversal, measured, backing_off=wait["not_before_reason"])
        rows.append(measured | {"state": state.state, "reason": state.reason or None})
    return rows


def traversal_state(
    traversal: Traversal, newest: Sequence[Row], readers: tuple[str, ...], now: datetime
) -> RemoteState:
    """How fresh the documents of a traversal are.

    Args:
        traversal: as declared.
        newest: the rows of `freshness` of its last evaluation.
        readers: the names of the queries that read it.
        now: the time.
    """
    if not newest:
        return RemoteState(traversal, "never_evaluated", "it was never evaluated")
    states = (
        replace(state, queries=readers, text=f"documents of {state.pattern}")
        for state in states_now(traversal, newest, {}, now)
    )
    return state_of_patterns(traversal, tuple(states), newest)


@dataclass(slots=True)
class _Group:
    """The pages of a host, or of several."""

    documents: list[Known] = field(default_factory=list)
    wanted: dict[str, Known] = field(default_factory=dict)
    asked: dict[str, Known] = field(default_factory=dict)
    left_out: int = 0


def _groups(ended: EndedEvaluation) -> dict[str, _Group]:
    """The pages by host; those with most documents first, and the others together."""
    numbers = Counter(map(host_of, ended.members))
    hosts = {*numbers, *map(host_of, ended.outcomes), *map(host_of, ended.wanted)}
    ranked = sorted(hosts, key=lambda host: (-numbers[host], host))
    names = {host: host for host in ranked[:MOST_HOSTS]}
    groups = {name: _Group() for name in (*names, *([OTHER_HOSTS] if ranked[MOST_HOSTS:] else ()))}

    def group_of(host: str) -> _Group | None:
        return groups.get(names.get(host, OTHER_HOSTS))

    for iri, pages in (
        *((iri, "documents") for iri in ended.members),
        *((iri, "wanted") for iri in ended.wanted),
        *((iri, "asked") for iri in ended.outcomes),
    ):
        group, known = group_of(host_of(iri)), ended.known.get(iri, UNKNOWN)
        assert group is not None, "all hosts are there"
        if pages == "documents":
            group.documents.append(known)
        else:
            getattr(group, pages)[iri] = known
    for (reason, host), number in ended.left_out.items():
        group = group_of(host)
        if reason != "host" and group is not None:
            group.left_out += number
    return groups


def _counts(group: _Group, statuses: Mapping[str, str], ended: EndedEvaluation) -> dict[str, Any]:
    numbers = Counter(statuses[iri] for iri in group.asked)
    failed = (known for iri, known in group.asked.items() if statuses[iri] == "failed")
    newest = max(failed, key=lambda known: known.asked_at, default=None)
    not_asked = sum(
        known.due_at <= ended.ended_at
        for iri, known in group.wanted.items()
        if iri not in group.asked and iri not in ended.hinted
    )
    return {
        "elected": len(group.asked) + not_asked,
        "answered": sum(numbers[status] for status in _ANSWERED),
        **{status: numbers[status] for status in (*_ANSWERED, "failed", "too_large")},
        "not_asked": not_asked,
        "failure": newest and newest.reason,
        "left_out": group.left_out,
        "stale_sampled": None,
    }


def _wait(host: HostState | None, now: float) -> dict[str, Any]:
    """Until when a host is left alone, and why."""
    if host is None or host.until <= now:
        return {"not_before": None, "not_before_reason": None}
    until = time_at(round(host.until * 1_000_000))
    why = f" ({host.reason})" if host.reason else ""
    reason = f"the host did not answer as it should{why}; left alone until {until:%d %b %H:%M} UTC"
    return {"not_before": until, "not_before_reason": reason}


def _ages(traversal: Traversal, group: _Group, now: float) -> dict[str, Any]:
    never = sum(
        not known.answered_at and known.fault not in _ANSWERS for known in group.wanted.values()
    )
    ages = np.array([known.age(now) for known in group.documents], dtype=np.float64)
    intervals = np.array([known.interval or np.inf for known in group.documents], dtype=np.float64)
    warn_after = duration_seconds(traversal.warn_after)
    total, fresh = len(ages) + never, None
    if warn_after is not None and total:
        fresh = int((ages <= warn_after).sum()) / total
    return {
        "candidates": total,
        "never_asked": never,
        "stale_before": None,
        "stale_after": stale_expected(ages, intervals),
        "oldest_seconds": float(ages.max()) if len(ages) else None,
        "median_seconds": quantile(ages, 0.5),
        "p95_seconds": quantile(ages, 0.95),
        "share_fresh": fresh,
    }
