"""How fresh a replica is after an evaluation: the rows of `freshness`, by pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from weir.remotes.asking import Stop
from weir.remotes.budget import Amount
from weir.remotes.candidates import Proposed
from weir.remotes.declarations import Remote
from weir.remotes.key_rows import key_text
from weir.remotes.missed import Missed
from weir.remotes.policies.candidates import Candidate, Numbers
from weir.remotes.policies.change_rate import stale_expected
from weir.remotes.questions import Key
from weir.remotes.rounds import KeyRound, Status
from weir.remotes.states import Aged, assess, limit_seconds
from weir.remotes.waits import Wait, address_of

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
    common = {
        "remote": remote.name,
        "address": address_of(remote),
        "evaluation": evaluated.evaluation,
        "round": evaluated.round,
        "changed_keys": sum(each.before != each.rows for each in evaluated.key_rounds),
        "warn_after": limit_seconds(remote.warn_after),
        "error_after": limit_seconds(remote.error_after),
        "min_fresh": remote.min_fresh,
        **_budget(remote, evaluated.spent),
        "policy": remote.rule.name,
        "alpha": evaluated.alpha,
        "not_before": evaluated.wait and evaluated.wait.until,
        "not_before_reason": evaluated.wait and evaluated.wait.reason,
        "run_id": run_id,
    }
    return [common | _of_pattern(remote, evaluated, pattern) for pattern in evaluated.patterns]


def _of_pattern(remote: Remote, evaluated: Evaluated, pattern: str) -> dict[str, Any]:
    counts = {"stop": evaluated.stop, **_counts(evaluated, pattern)}
    found = counts | _ages(remote, evaluated, pattern)
    aged = Aged(
        found["candidates"],
        found["never_asked"],
        found["oldest_seconds"],
        found["share_fresh"],
        backing_off=None if evaluated.wait is None else evaluated.wait.reason,
        missed=Missed.of(found),
    )
    state, reason = assess(remote, aged)
    return found | {"state": state, "reason": reason or None}


def _budget(remote: Remote, spent: Amount) -> dict[str, Any]:
    budget = remote.budget
    return {
        "keys_budget": budget.keys,
        "keys_used": spent.keys,
        "requests_budget": budget.requests,
        "requests_used": spent.requests,
        "bytes_budget": budget.bytes,
        "bytes_used": spent.bytes,
        "seconds_budget": budget.seconds,
        "seconds_used": spent.seconds,
    }


def _counts(evaluated: Evaluated, pattern: str) -> dict[str, Any]:
    own = [each for each in evaluated.key_rounds if each.block.pattern == pattern]
    statuses = Counter(each.status for each in own)
    places = evaluated.proposed.places
    elected = sum(places[each.key][0] == pattern for each in evaluated.elected)
    drawn = [each for each in own if (pattern, each.key) in evaluated.sampled]
    drawn = [each for each in drawn if each.status in ANSWERED]
    changed = sum(each.before != each.rows for each in drawn)
    return {
        "pattern": pattern,
        "elected": elected,
        "answered": sum(statuses[each] for each in ANSWERED),
        "changed": statuses["changed"],
        "unchanged": statuses["unchanged"],
        "gone": statuses["gone"],
        "suspect": statuses["suspect"],
        "failed": statuses["failed"],
        "too_large": statuses["too_large"],
        "not_asked": elected - len(own),
        # A refusal is why keys were not asked for.
        "failure": (evaluated.refusal if elected > len(own) else "") or _failure(own),
        "stale_sampled": changed / len(drawn) if drawn else None,
    }


def _failure(key_rounds: Sequence[KeyRound]) -> str | None:
    """Why the newest of the keys failed that did."""
    failed = [each for each in key_rounds if each.status == "failed"]
    newest = max(failed, key=lambda each: each.answered_at, default=None)
    return None if newest is None else newest.reason


def _ages(remote: Remote, evaluated: Evaluated, pattern: str) -> dict[str, Any]:
    proposed, now = evaluated.proposed, evaluated.ended_at.timestamp()
    own = [each for each in proposed.candidates if proposed.places[each.key][0] == pattern]
    before = np.array([each.asked_at for each in own], dtype=np.float64)
    intervals = np.array([each.interval or np.inf for each in own], dtype=np.float64)
    renewed = {
        key_text(each.key): each.answered_at.timestamp()
        for each in evaluated.key_rounds
        if each.block.pattern == pattern and each.status in ("changed", "unchanged", "gone")
    }
    texts = [proposed.places[each.key][1] for each in own]
    after = np.array(
        [renewed.get(text, at) for text, at in zip(texts, before, strict=True)], dtype=np.float64
    )
    first = sum(text in renewed for text, at in zip(texts, before, strict=True) if np.isnan(at))
    # A clock that was set back gives no negative ages.
    ages = np.sort(np.maximum(now - after[~np.isnan(after)], 0.0))
    total = proposed.total.get(pattern, 0)
    never = proposed.never.get(pattern, 0) - first
    warn_after = limit_seconds(remote.warn_after)
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
        "median_seconds": _quantile(ages, 0.5),
        "p95_seconds": _quantile(ages, 0.95),
        "share_fresh": fresh,
    }


def _stale(now: float, asked_at: Numbers, intervals: Numbers) -> float:
    ages = np.where(np.isnan(asked_at), np.inf, np.maximum(now - asked_at, 0.0))
    return stale_expected(ages, intervals)


def _quantile(ages: Numbers, share: float) -> float | None:
    return float(np.quantile(ages, share)) if len(ages) else None
