"""How fresh the replica of a remote is now, by its last evaluation and the time since (pure).

Ages grow when no evaluation runs: an age now is that of the last evaluation and the time since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from weir.remotes.declarations import Remote
from weir.remotes.missed import NOTHING_MISSED, Missed
from weir.remotes.states import (
    Aged,
    State,
    age_text,
    assess,
    limit_seconds,
    severity,
)
from weir.remotes.waits import is_address_of
from weir.sparql.frontend.rspql.durations import parse_duration

UNITS: Final = ("keys", "requests", "bytes", "seconds")
"""What a budget is of."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PatternState:
    """How fresh the replica of a pattern is.

    Attributes:
        pattern: its id.
        state: of it.
        candidates: keys that answers depend on, at the last evaluation; None before the first.
        never_asked: those of them without an answer.
        oldest: age of the oldest candidate's answer now, in seconds; None if there is none.
        median: median of the ages, the same way.
        p95: 95th percentile of the ages, the same way.
        share_fresh: share of the candidates that were fresh at the last evaluation, or None.
        waiting: seconds since the pattern is known, if none of its keys was ever answered.
        reason: why it is in this state, or empty.
        answered: keys that the last evaluation got an answer for.
        missed: keys that it got none for.
        queries: the names of those that ask for it.
        text: what they ask.
    """

    pattern: str
    state: State
    candidates: int | None = None
    never_asked: int | None = None
    oldest: float | None = None
    median: float | None = None
    p95: float | None = None
    share_fresh: float | None = None
    waiting: float | None = None
    reason: str = ""
    answered: int = 0
    missed: Missed = NOTHING_MISSED
    queries: tuple[str, ...] = ()
    text: str = ""

    @property
    def asked_by(self) -> str:
        """The names of its queries, for people; the id of a pattern says nothing to them."""
        return ", ".join(self.queries) or "no query any more"


@dataclass(frozen=True, slots=True)
class RemoteState:
    """How fresh the replica of a remote is: as its worst pattern.

    Attributes:
        remote: as declared.
        state: the worst of its patterns.
        patterns: those of its last evaluation, else those that queries ask for.
        evaluation: instant of its last evaluation; None before the first.
        next_allowed: when it may be asked again; None before the first evaluation.
        used: what that spent, by unit.
        budget: what it could spend, by unit.
        policy: name of its policy.
        alpha: the weight that the policy used, or None.
        stop: why it ended, or None.
        reason: why it is in this state, or empty.
    """

    remote: Remote
    state: State
    patterns: tuple[PatternState, ...] = ()
    evaluation: datetime | None = None
    next_allowed: datetime | None = None
    used: Mapping[str, float] | None = None
    budget: Mapping[str, float] | None = None
    policy: str = ""
    alpha: float | None = None
    stop: str | None = None
    reason: str = ""

    @property
    def candidates(self) -> int:
        """Keys that answers depend on, of all patterns."""
        return sum(each.candidates or 0 for each in self.patterns)

    @property
    def never_asked(self) -> int:
        """Those of them without an answer."""
        return sum(each.never_asked or 0 for each in self.patterns)

    @property
    def is_late(self) -> bool:
        """Whether it is in error, or an answer is older than `warn_after`, or missing that long."""
        limit = limit_seconds(self.remote.warn_after)
        ages = (self.largest("oldest"), self.largest("waiting"))
        return self.state == "error" or (
            limit is not None and any(age is not None and age > limit for age in ages)
        )

    @property
    def was_asked_in_vain(self) -> bool:
        """Whether no key was answered of those that the last evaluation was to ask for."""
        answered = sum(each.answered for each in self.patterns)
        return not answered and any(each.missed.keys for each in self.patterns)

    @property
    def share_fresh(self) -> float | None:
        """Share of the candidates that were fresh at the last evaluation."""
        known = [each for each in self.patterns if each.share_fresh is not None]
        candidates = sum(each.candidates or 0 for each in known)
        if not candidates:
            return None
        return sum((each.share_fresh or 0) * (each.candidates or 0) for each in known) / candidates

    def largest(self, measure: Literal["oldest", "median", "p95", "waiting"]) -> float | None:
        """The largest value of an age, in seconds, among the patterns."""
        found = [getattr(each, measure) for each in self.patterns]
        return max((each for each in found if each is not None), default=None)


def remote_state(
    remote: Remote,
    newest: Sequence[Row],
    services: Sequence[Row],
    asking: Mapping[str, tuple[str, ...]],
    not_stored: str,
    now: datetime,
) -> RemoteState:
    """How fresh the replica of a remote is.

    Args:
        remote: as declared.
        newest: the rows of `freshness` of its last evaluation.
        services: the rows of `services`.
        asking: the names of the queries that ask for a pattern, by its id.
        not_stored: why its answers cannot be stored, empty if they can.
        now: the time.
    """
    if not_stored:
        return RemoteState(remote, "error", reason=not_stored)
    own = [row for row in services if row["remote"] == remote.name]
    first_seen = {row["pattern"]: row["first_seen"] for row in own}
    texts = {row["pattern"]: row["text"] for row in own}
    if newest:
        states = [
            _pattern_state(remote, row, first_seen.get(row["pattern"]), now)
            for row in sorted(newest, key=lambda each: str(each["pattern"]))
        ]
    else:
        states = [
            _never_evaluated(remote, pattern, _since(seen, now))
            for pattern, seen in sorted(first_seen.items())
        ]
    patterns = tuple(
        replace(each, queries=asking.get(each.pattern, ()), text=texts.get(each.pattern) or "")
        for each in states
    )
    if not patterns:
        return RemoteState(remote, "unused", reason="no query asks for it")
    worst = max(patterns, key=lambda each: severity(each.state, each.missed))
    if not newest:
        return RemoteState(remote, worst.state, patterns, reason=worst.reason)
    first = newest[0]
    return RemoteState(
        remote,
        worst.state,
        patterns,
        evaluation=first["evaluation"],
        next_allowed=_next_allowed(remote, newest),
        used={unit: first[f"{unit}_used"] for unit in UNITS},
        budget={unit: first[f"{unit}_budget"] for unit in UNITS},
        policy=first["policy"] or "",
        alpha=first["alpha"],
        stop=first["stop"],
        reason=worst.reason,
    )


def _never_evaluated(remote: Remote, pattern: str, waiting: float) -> PatternState:
    error_after = limit_seconds(remote.error_after)
    is_error = error_after is not None and waiting > error_after
    return PatternState(
        pattern,
        "error" if is_error else "never_evaluated",
        waiting=waiting,
        reason=f"it was never evaluated since a query asks for it, {age_text(waiting)} ago",
    )


def _pattern_state(
    remote: Remote, row: Row, first_seen: datetime | None, now: datetime
) -> PatternState:
    since = _since(row["evaluation"], now)
    oldest, median, p95 = (
        None if row[f"{name}_seconds"] is None else row[f"{name}_seconds"] + since
        for name in ("oldest", "median", "p95")
    )
    waiting = None
    if row["candidates"] and row["never_asked"] == row["candidates"] and first_seen is not None:
        waiting = _since(first_seen, now)
    not_before, missed = _not_before(remote, row), Missed.of(row)
    backing_off = None
    if not_before is not None and not_before > now:
        backing_off = row["not_before_reason"] or "it must not be asked for now"
    aged = Aged(
        row["candidates"],
        row["never_asked"],
        oldest,
        row["share_fresh"],
        waiting,
        backing_off,
        missed,
    )
    state, reason = assess(remote, aged)
    return PatternState(
        row["pattern"],
        state,
        row["candidates"],
        row["never_asked"],
        oldest=oldest,
        median=median,
        p95=p95,
        share_fresh=row["share_fresh"],
        waiting=waiting,
        reason=reason,
        answered=row["answered"],
        missed=missed,
    )


def _next_allowed(remote: Remote, newest: Sequence[Row]) -> datetime:
    """When the next evaluation begins, or the remote may be asked again, if that is later."""
    every = timedelta(microseconds=parse_duration(remote.every))
    times = [newest[0]["evaluation"] + every, *(_not_before(remote, row) for row in newest)]
    allowed: datetime = max(time for time in times if time is not None)
    return allowed


def _not_before(remote: Remote, row: Row) -> datetime | None:
    """Until when a remote must not be asked; of a URL that was edited since, nothing is known."""
    found: datetime | None = row["not_before"]
    return found if is_address_of(remote, row.get("address")) else None


def _since(time: datetime, now: datetime) -> float:
    """Seconds since a time; 0 if a clock was set back."""
    return max((now - time).total_seconds(), 0.0)
