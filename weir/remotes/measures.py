"""How fresh a replica is after an evaluation: the rows of `freshness`, by pattern."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

import numpy as np

from weir.remotes.asking import Stop
from weir.remotes.budget import Amount
from weir.remotes.candidates import Proposed
from weir.remotes.declarations import Remote
from weir.remotes.key_rows import key_text
from weir.remotes.policies.candidates import Candidate, Numbers
from weir.remotes.policies.change_rate import stale_expected
from weir.remotes.questions import Key
from weir.remotes.rounds import KeyRound, Status
from weir.remotes.states import UNITS, pattern_state
from weir.remotes.waits import Wait
from weir.text.durations import duration_seconds

ANSWERED: tuple[Status, ...] = ("changed", "unchanged", "gone", "suspect")
"""What a round says of a key that was answered."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An evaluation that has ended.

    Attributes:
        round: its number.
        evaluation: its instant.
        ended_at: when it had ended.
        patterns: what queries ask of the remote.
        proposed: its candidates, as they were before it.
        elected: those that were to be asked for.
        key_rounds: what it found.
        sampled: pattern and key of those that were drawn at random.
        spent: what its requests took.
        stop: why it ended.
        refusal: why the project allows no request to the remote, else empty.
        wait: until when the remote must not be asked, None if it may be.
        alpha: the weight that the policy used, None if it has none.
    """

    round: int
    evaluation: datetime
    ended_at: datetime
    patterns: tuple[str, ...]
    proposed: Proposed
    elected: tuple[Candidate, ...]
    key_rounds: tuple[KeyRound, ...]
    sampled: frozenset[tuple[str, Key]]
    spent: Amount
    stop: Stop
    refusal: str
    wait: Wait | None
    alpha: float | None


def freshness_rows(remote: Remote, evaluated: Evaluated, run_id: str) -> list[dict[str, Any]]:
    """The rows of an evaluation, one per pattern."""
    wait = evaluated.wait
    common = {
        "remote": remote.name,
        "address": remote.address,
        "evaluation": evaluated.evaluation,
        "round": evaluated.round,
        "measured_at": evaluated.ended_at,
        "changed_keys": sum(asked.before != asked.rows for asked in evaluated.key_rounds),
        "warn_after": duration_seconds(remote.warn_after),
        "error_after": duration_seconds(remote.error_after),
        "min_fresh": remote.min_fresh,
        **{f"{unit}_budget": getattr(remote.budget, unit) for unit in UNITS},
        **{f"{unit}_used": getattr(evaluated.spent, unit) for unit in UNITS},
        "policy": remote.rule.name,
        "left_out": None,
        "alpha": evaluated.alpha,
        "not_before": wait and wait.until,
        "not_before_reason": wait and wait.reason,
        "run_id": run_id,
        "stop": evaluated.stop,
    }
    rows = []
    for pattern in evaluated.patterns:
        measured = common | _counts(evaluated, pattern) | _ages(remote, evaluated, pattern)
        state = pattern_state(remote, measured, backing_off=None if wait is None else wait.reason)
        rows.append(measured | {"state": state.state, "reason": state.reason or None})
    return rows


def _counts(evaluated: Evaluated, pattern: str) -> dict[str, Any]:
    own = [asked for asked in evaluated.key_rounds if asked.block.pattern == pattern]
    statuses = Counter(asked.status for asked in own)
    places = evaluated.proposed.places
    elected = sum(places[candidate.key][0] == pattern for candidate in evaluated.elected)
    drawn = [
        asked.before != asked.rows
        for asked in own
        if (pattern, asked.key) in evaluated.sampled and asked.status in ANSWERED
    ]
    failed = [asked for asked in own if asked.status == "failed"]
    newest = max(failed, key=lambda asked: asked.answered_at, default=None)
    return {
        "pattern": pattern,
        "elected": elected,
        "answered": sum(statuses[status] for status in ANSWERED),
        **{status: statuses[status] for status in get_args(Status)},
        "not_asked": elected - len(own),
        # A refusal is why keys were not asked for.
        "failure": (evaluated.refusal if elected > len(own) else "") or (newest and newest.reason),
        "stale_sampled": sum(drawn) / len(drawn) if drawn else None,
    }


def _ages(remote: Remote, evaluated: Evaluated, pattern: str) -> dict[str, Any]:
    proposed, now = evaluated.proposed, evaluated.ended_at.timestamp()
    own = [known for known in proposed.candidates if proposed.places[known.key][0] == pattern]
    before = np.array([known.asked_at for known in own], dtype=np.float64)
    intervals = np.array([known.interval or np.inf for known in own], dtype=np.float64)
    renewed = {
        key_text(asked.key): asked.answered_at.timestamp()
        for asked in evaluated.key_rounds
        if asked.block.pattern == pattern and asked.is_taken
    }
    texts = [proposed.places[known.key][1] for known in own]
    after = np.array(
        [renewed.get(text, at) for text, at in zip(texts, before, strict=True)], dtype=np.float64
    )
    first = sum(text in renewed for text, at in zip(texts, before, strict=True) if np.isnan(at))
    # A clock that was set back gives no negative ages.
    ages = np.sort(np.maximum(now - after[~np.isnan(after)], 0.0))
    total = proposed.total.get(pattern, 0)
    never = proposed.never.get(pattern, 0) - first
    warn_after = duration_seconds(remote.warn_after)
    fresh = None
    if warn_after is not None and total:
        # Those that are not ranked were answered most recently.
        fresh = (total - never - int((ages > warn_after).sum())) / total
    return {
        "candidates": total,
        "never_asked": never,
        "stale_before": _stale(now, before, intervals),
        "stale_after": _stale(now, after, intervals),
        "oldest_seconds": float(ages[-1]) if len(ages) else None,
        "median_seconds": quantile(ages, 0.5),
        "p95_seconds": quantile(ages, 0.95),
        "share_fresh": fresh,
    }


def _stale(now: float, asked_at: Numbers, intervals: Numbers) -> float:
    ages = np.where(np.isnan(asked_at), np.inf, np.maximum(now - asked_at, 0.0))
    return stale_expected(ages, intervals)


def quantile(ages: Numbers, share: float) -> float | None:
    """A quantile of ages; None without one."""
    return float(np.quantile(ages, share)) if len(ages) else None
