"""How fresh the replica of a remote is now, by its last evaluation and the time since (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from weir.remotes.declarations import Remote
from weir.remotes.kept import Kept
from weir.remotes.schedule import asked_next
from weir.remotes.states import (
    UNITS,
    PatternState,
    Row,
    State,
    pattern_state,
    severity,
)
from weir.remotes.waits import not_before_of
from weir.text.durations import age_text, duration_seconds


@dataclass(frozen=True, slots=True)
class RemoteState:
    """How fresh the replica of a remote is: as its worst pattern.

    Attributes:
        remote: as declared; or a traversal, whose patterns are hosts.
        state: the worst of its patterns.
        reason: why it is in this state, or empty.
        patterns: those of its last evaluation, else those that queries ask for.
        next_allowed: when it may be asked again; None before the first evaluation.
        last: a row of `freshness` of its last evaluation; empty before the first.
    """

    remote: Kept
    state: State
    reason: str = ""
    patterns: tuple[PatternState, ...] = ()
    next_allowed: datetime | None = None
    last: Row = field(default_factory=dict, hash=False)

    @property
    def evaluation(self) -> datetime | None:
        """The instant of the last evaluation; None before the first one."""
        return self.last.get("evaluation")

    @property
    def used(self) -> Mapping[str, float] | None:
        """What the last evaluation spent, by unit; None before the first one."""
        return {unit: self.last[f"{unit}_used"] for unit in UNITS} if self.last else None

    @property
    def budget(self) -> Mapping[str, float] | None:
        """What the last evaluation could spend, by unit; None before the first one."""
        return {unit: self.last[f"{unit}_budget"] for unit in UNITS} if self.last else None

    @property
    def candidates(self) -> int:
        """The number of keys that answers depend on, of all patterns."""
        return sum(pattern.candidates or 0 for pattern in self.patterns)

    @property
    def never_asked(self) -> int:
        """The number of keys that answers depend on and that have no answer yet."""
        return sum(pattern.never_asked or 0 for pattern in self.patterns)

    @property
    def is_late(self) -> bool:
        """Whether the remote is in error, or an answer is older than `warn_after` or missing that
        long.
        """
        limit = duration_seconds(self.remote.warn_after)
        ages = (self.largest("oldest"), self.largest("waiting"))
        return self.state == "error" or (
            limit is not None and any(age is not None and age > limit for age in ages)
        )

    @property
    def was_asked_in_vain(self) -> bool:
        """Whether the last evaluation got no answer for any of the keys that it elected."""
        answered = sum(pattern.answered for pattern in self.patterns)
        return not answered and any(pattern.missed.keys for pattern in self.patterns)

    @property
    def share_fresh(self) -> float | None:
        """Share of the candidates that were fresh at the last evaluation."""
        known = [
            (pattern.share_fresh, pattern.candidates or 0)
            for pattern in self.patterns
            if pattern.share_fresh is not None
        ]
        candidates = sum(number for _, number in known)
        return sum(share * number for share, number in known) / candidates if candidates else None

    def largest(self, measure: Literal["oldest", "median", "p95", "waiting"]) -> float | None:
        """The largest value of an age, in seconds, among the patterns."""
        ages = (getattr(pattern, measure) for pattern in self.patterns)
        return max((age for age in ages if age is not None), default=None)


def remote_state(
    remote: Remote,
    newest: Sequence[Row],
    services: Iterable[Row],
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
        return RemoteState(remote, "error", not_stored)
    own = {row["pattern"]: row for row in services if row["remote"] == remote.name}
    if newest:
        states = states_now(remote, newest, own, now)
    else:
        states = [_never_evaluated(remote, own[pattern], now) for pattern in sorted(own)]
    patterns = tuple(
        replace(
            state,
            queries=asking.get(state.pattern, ()),
            text=own.get(state.pattern, {}).get("text") or "",
        )
        for state in states
    )
    if not patterns:
        return RemoteState(remote, "unused", "no query asks for it")
    return state_of_patterns(remote, patterns, newest)


def state_of_patterns(
    remote: Kept, patterns: tuple[PatternState, ...], newest: Sequence[Row]
) -> RemoteState:
    """The state of a remote, which is that of the worst of its patterns; there is at least one."""
    worst = max(patterns, key=lambda pattern: severity(pattern.state, pattern.missed))
    allowed = asked_next(remote, newest[0]["evaluation"], newest) if newest else None
    last = newest[0] if newest else {}
    return RemoteState(remote, worst.state, worst.reason, patterns, allowed, last)


def states_now(
    remote: Kept, newest: Sequence[Row], services: Mapping[str, Row], now: datetime
) -> list[PatternState]:
    """The state of each pattern now, in the order of their ids.

    Args:
        remote: as declared.
        newest: the rows of `freshness` of its last evaluation.
        services: the rows of `services` by pattern.
        now: the time.
    """
    rows = sorted(newest, key=lambda row: str(row["pattern"]))
    return [_now(remote, row, services.get(row["pattern"]), now) for row in rows]


def _now(remote: Kept, row: Row, service: Row | None, now: datetime) -> PatternState:
    not_before, backing_off = not_before_of(remote, [row]), None
    if not_before is not None and not_before > now:
        backing_off = row["not_before_reason"] or "it must not be asked for now"
    return pattern_state(
        remote,
        row,
        # An earlier version of Weir did not say when it measured.
        since=_since(row.get("measured_at") or row["evaluation"], now),
        waiting=None if service is None else _since(service["first_seen"], now),
        backing_off=backing_off,
    )


def _never_evaluated(remote: Remote, service: Row, now: datetime) -> PatternState:
    error_after, waiting = duration_seconds(remote.error_after), _since(service["first_seen"], now)
    return PatternState(
        service["pattern"],
        "error" if error_after is not None and waiting > error_after else "never_evaluated",
        f"it was never evaluated since a query asks for it, {age_text(waiting)} ago",
        waiting=waiting,
    )


def _since(time: datetime, now: datetime) -> float:
    """Seconds since a time; 0 if a clock was set back."""
    return max((now - time).total_seconds(), 0.0)
